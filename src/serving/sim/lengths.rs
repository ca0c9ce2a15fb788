//! Prompt and output lengths of the requests.

use super::SimError;
use super::random::SplitMix64;

/// Lengths of one request, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    pub prompt: u32,
    pub output: u32,
}

/// A distribution of lengths, in tokens.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    Fixed(u32),
    /// Uniform over `low ..= high`.
    Uniform {
        low: u32,
        high: u32,
    },
    /// Log-normal with this mean and coefficient of variation of the lengths themselves, cut to 1 ..= `most`.
    LogNormal {
        mean: f64,
        variation: f64,
        most: u32,
    },
    /// Lengths with their weights, which need not add up to one.
    Histogram(Vec<(u32, f64)>),
    /// In order, from the beginning again when used up.
    List(Vec<u32>),
}

impl Distribution {
    /// `count` lengths; the same for the same seed.
    ///
    /// # Errors
    /// Where the distribution has no length to give, or one of no tokens.
    pub fn draw(&self, count: usize, seed: u64) -> Result<Vec<u32>, SimError> {
        self.check()?;
        let mut random = SplitMix64::new(seed);
        Ok(match self {
            Self::Fixed(length) => vec![*length; count],
            Self::Uniform { low, high } => (0..count).map(|_| random.between(*low, *high)).collect(),
            Self::LogNormal { mean, variation, most } => {
                let variance = (1.0 + variation * variation).ln();
                let middle = mean.ln() - variance / 2.0;
                let length = |_| {
                    let length = (middle + variance.sqrt() * random.normal()).exp().round();
                    (length.max(1.0) as u32).min(*most)
                };
                (0..count).map(length).collect()
            }
            Self::Histogram(bins) => {
                let total: f64 = bins.iter().map(|bin| bin.1).sum();
                (0..count).map(|_| pick(bins, random.unit() * total)).collect()
            }
            Self::List(lengths) => lengths.iter().copied().cycle().take(count).collect(),
        })
    }

    fn check(&self) -> Result<(), SimError> {
        let sound = match self {
            Self::Fixed(length) => *length > 0,
            Self::Uniform { low, high } => *low > 0 && low <= high,
            Self::LogNormal { mean, variation, most } => {
                mean.is_finite() && *mean > 0.0 && variation.is_finite() && *variation >= 0.0 && *most > 0
            }
            Self::Histogram(bins) => {
                let weights = bins.iter().map(|bin| bin.1);
                let total: f64 = weights.clone().sum();
                let sound = weights.clone().all(|weight| weight >= 0.0);
                sound && total > 0.0 && total.is_finite() && bins.iter().all(|bin| bin.0 > 0)
            }
            Self::List(lengths) => !lengths.is_empty() && lengths.iter().all(|&length| length > 0),
        };
        if sound {
            return Ok(());
        }
        Err(SimError::Lengths(
            "lengths must be at least one token, ranges must rise, weights must be positive",
        ))
    }
}

fn pick(bins: &[(u32, f64)], mut at: f64) -> u32 {
    let mut last = 1;
    for &(length, weight) in bins.iter().filter(|bin| bin.1 > 0.0) {
        last = length;
        if at < weight {
            break;
        }
        at -= weight;
    }
    last
}

/// `count` requests, prompts and outputs drawn independently.
///
/// # Errors
/// As [`Distribution::draw`].
pub fn draw(
    prompt: &Distribution,
    output: &Distribution,
    count: usize,
    seed: u64,
) -> Result<Vec<Lengths>, SimError> {
    let mut seeds = SplitMix64::new(seed);
    let prompts = prompt.draw(count, seeds.next_u64())?;
    let outputs = output.draw(count, seeds.next_u64())?;
    Ok(prompts.into_iter().zip(outputs).map(|(prompt, output)| Lengths { prompt, output }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(distribution: &Distribution) -> f64 {
        let lengths = distribution.draw(20_000, 3).expect("sound");
        lengths.iter().map(|&length| f64::from(length)).sum::<f64>() / lengths.len() as f64
    }

    #[test]
    fn means_are_as_asked() {
        assert!((mean(&Distribution::Fixed(7)) - 7.0).abs() < 1e-12);
        assert!((mean(&Distribution::Uniform { low: 819, high: 1024 }) / 921.5 - 1.0).abs() < 0.01);
        let skewed = Distribution::LogNormal { mean: 500.0, variation: 1.0, most: 1 << 20 };
        assert!((mean(&skewed) / 500.0 - 1.0).abs() < 0.03);
        let bins = Distribution::Histogram(vec![(10, 3.0), (50, 1.0), (90, 0.0)]);
        assert!((mean(&bins) / 20.0 - 1.0).abs() < 0.02);
        assert_eq!(Distribution::List(vec![1, 2, 3]).draw(5, 0), Ok(vec![1, 2, 3, 1, 2]));
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let range = Distribution::Uniform { low: 1, high: 1000 };
        assert_eq!(draw(&range, &range, 50, 1), draw(&range, &range, 50, 1));
        assert_ne!(draw(&range, &range, 50, 1), draw(&range, &range, 50, 2));
        let drawn = draw(&range, &range, 50, 1).expect("sound");
        assert!(drawn.iter().any(|lengths| lengths.prompt != lengths.output), "they are independent");
    }

    #[test]
    fn what_gives_no_length_is_an_error() {
        for bad in [
            Distribution::Fixed(0),
            Distribution::Uniform { low: 5, high: 4 },
            Distribution::LogNormal { mean: f64::NAN, variation: 1.0, most: 9 },
            Distribution::Histogram(vec![(5, 0.0)]),
            Distribution::Histogram(vec![(5, f64::NAN)]),
            Distribution::List(Vec::new()),
        ] {
            assert!(bad.draw(1, 0).is_err(), "{bad:?}");
        }
    }
}
