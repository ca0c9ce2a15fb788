//! The prompts of a step as equivalent uniform ones.

use super::{Extent, LENGTHS, SHORTEST, octaves};

/// Uniform prompts with the same tokens and nearly the same query-key pairs as those of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prompts {
    /// Number of prompts; fractional if they differ.
    pub count: f64,
    /// New tokens per prompt.
    pub new: f64,
    /// Cached tokens per prompt.
    pub past: f64,
}

impl Prompts {
    /// `None` if no prompt has new tokens. Means are weighted by new tokens, as in features.
    pub fn of(chunks: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let (mut tokens, mut squares, mut pasts) = (0.0, 0.0, 0.0);
        for (new, past) in chunks {
            tokens += new;
            squares += new * new;
            pasts += new * past;
        }
        (tokens > 0.0).then(|| {
            let new = squares / tokens;
            Self { count: tokens / new, new, past: pasts / tokens }
        })
    }
}

/// Offset of the axis of cached lengths, in tokens: shorter ones hardly matter compared with the new tokens.
pub(super) const PAST_OFFSET: f64 = 256.0;

/// Cached lengths on the grid: zero, and those of a chunked prompt.
pub(super) fn pasts(extent: &Extent) -> Vec<u64> {
    let mut pasts = vec![0];
    if extent.length > SHORTEST {
        pasts.extend(octaves(
            SHORTEST * SHORTEST,
            extent.length.max(SHORTEST * SHORTEST),
            (LENGTHS / 2).max(1),
        ));
    }
    pasts
}

/// The next length that is a point for any longest.
pub(super) fn rounded(length: u64) -> u64 {
    let octave = (length.max(SHORTEST) as f64 / SHORTEST as f64).log2();
    let all = octaves(SHORTEST, SHORTEST << octave.ceil().max(0.0) as u32, LENGTHS);
    all.into_iter().find(|&point| point >= length).unwrap_or(length)
}

/// Maximum prompts per step, if all are short.
pub(super) fn most_prompts(extent: &Extent) -> u64 {
    (extent.tokens / SHORTEST).clamp(1, extent.sequences.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_lengths_have_the_same_points() {
        let all = octaves(SHORTEST, 1 << 17, LENGTHS);
        for length in [0, 1, 16, 17, 100, 1024, 1025, 1536, 2019, 131_072] {
            let rounded = rounded(length);
            assert!(
                rounded >= length && octaves(SHORTEST, rounded, LENGTHS).iter().all(|at| all.contains(at)),
                "{length}"
            );
        }
    }

    #[test]
    fn equal_prompts_stay_equal() {
        let found = Prompts::of([(512.0, 100.0), (512.0, 100.0)]);
        assert_eq!(found, Some(Prompts { count: 2.0, new: 512.0, past: 100.0 }));
        assert_eq!(Prompts::of([]), None);
    }

    #[test]
    fn tokens_are_kept_whatever_the_lengths() {
        let found = Prompts::of([(100.0, 0.0), (900.0, 0.0)]).expect("tokens");
        assert!((found.count * found.new - 1000.0).abs() < 1e-9);
        assert!(found.new > 500.0 && found.count < 2.0);
    }
}
