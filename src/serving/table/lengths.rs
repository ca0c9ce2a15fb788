//! Prompts of a step as the uniform ones that ask for the same.

use super::{Extent, LENGTHS, SHORTEST, octaves};

/// The uniform prompts with the same tokens, and nearly the same query-key pairs, as those of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prompts {
    /// Prompts taken together; a broken number where they are unlike.
    pub count: f64,
    /// New tokens of each.
    pub new: f64,
    /// Tokens of each that are cached already.
    pub past: f64,
}

impl Prompts {
    /// None if no prompt has a new token. Means are over new tokens, as features take them.
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

/// Added to cached lengths on their axis, in tokens: shorter ones hardly matter beside the new tokens.
pub(super) const PAST_OFFSET: f64 = 256.0;

/// Cached lengths of the grid: none, and those that a chunked prompt can have.
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

/// Prompts that one step takes at most, if all are short.
pub(super) fn most_prompts(extent: &Extent) -> u64 {
    (extent.tokens / SHORTEST).clamp(1, extent.sequences.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_prompts_stay_what_they_are() {
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
