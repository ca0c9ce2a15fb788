//! How much of their error two configurations share.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::ConfigPoint;

/// A property in which two configurations agree or differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    Engine,
    Version,
    Kind,
    Shape,
    Arch,
    Gpu,
    Format,
    /// Whether tokens are drafted.
    Drafts,
    /// TP, EP, PP and attention data parallelism.
    Layout,
}

/// An error fully shared by configurations that agree in `same`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    pub same: Vec<Label>,
    /// Of the logarithm of the factor.
    pub variance: f64,
}

/// An error shared by configurations that agree in `same`, the more the closer their sizes are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Smooth {
    pub same: Vec<Label>,
    pub variance: f64,
    /// Length scales in doublings: GPUs per layer, EP, requests in flight, prompt and output tokens.
    pub scales: [f64; 5],
}

/// The prior covariance of the logarithm of one factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Covariance {
    pub levels: Vec<Level>,
    pub smooth: Vec<Smooth>,
}

/// Origin of an error: shared by all configurations with this in common, unknown if none of them was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum Source {
    /// The model on its engine, on any GPU and version.
    Model,
    /// The engine's version.
    Version,
    /// The model on this GPU in this format and version.
    Build,
    /// The number of GPUs, the load and the lengths.
    Load,
}

/// How many sources there are, in the order of [`Source`].
pub const SOURCES: usize = Source::ALL.len();

/// Two configurations, compared.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// The labels they agree in, one bit each.
    agree: u16,
    /// Squared distances between their sizes, in doublings.
    apart: [f64; 5],
}

impl Label {
    fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl Source {
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// For an error shared by configurations that agree in these.
    fn of(same: &[Label]) -> Self {
        if same.contains(&Label::Layout) {
            Self::Load
        } else if same.contains(&Label::Gpu) {
            Self::Build
        } else if same.contains(&Label::Version) {
            Self::Version
        } else {
            Self::Model
        }
    }
}

impl Pair {
    #[cfg(test)]
    pub fn of(one: &ConfigPoint, other: &ConfigPoint) -> Self {
        Self::sized((one, one.doublings()), (other, other.doublings()))
    }

    /// For two configurations with precomputed sizes in doublings, since many pairs need them.
    pub fn sized((one, from): (&ConfigPoint, [f64; 5]), (other, to): (&ConfigPoint, [f64; 5])) -> Self {
        let agree = Label::VARIANTS.iter().filter(|&&label| one.agrees(other, label));
        Self {
            agree: agree.map(|label| label.bit()).sum(),
            apart: std::array::from_fn(|size| (from[size] - to[size]).powi(2)),
        }
    }

    fn agrees(&self, labels: &[Label]) -> bool {
        labels.iter().all(|label| self.agree & label.bit() != 0)
    }
}

impl Covariance {
    /// Of two configurations.
    pub fn between(&self, pair: &Pair) -> f64 {
        let levels = self.levels.iter().filter(|level| pair.agrees(&level.same)).map(|level| level.variance);
        let smooth = self.smooth.iter().filter(|smooth| pair.agrees(&smooth.same));
        // Those over the same scales fall alike.
        let mut last = (&[0.0; 5], 0.0);
        let smooth = smooth.map(|smooth| {
            if last.0 != &smooth.scales {
                last = (&smooth.scales, smooth.nearness(pair));
            }
            smooth.variance * last.1
        });
        levels.sum::<f64>() + smooth.sum::<f64>()
    }

    /// What configurations agree in that share an error, for each.
    pub fn errors(&self) -> impl Iterator<Item = &Vec<Label>> + Clone {
        self.levels.iter().map(|level| &level.same).chain(self.smooth.iter().map(|smooth| &smooth.same))
    }

    /// Split by source.
    pub fn by_source(&self, pair: &Pair) -> [f64; SOURCES] {
        let mut shared = [0.0; SOURCES];
        for level in self.levels.iter().filter(|level| pair.agrees(&level.same)) {
            shared[Source::of(&level.same) as usize] += level.variance;
        }
        for smooth in self.smooth.iter().filter(|smooth| pair.agrees(&smooth.same)) {
            shared[Source::Load as usize] += smooth.variance * smooth.nearness(pair);
        }
        shared
    }

    /// Prior variance of a single configuration.
    pub fn variance(&self) -> f64 {
        let levels: f64 = self.levels.iter().map(|level| level.variance).sum();
        levels + self.smooth.iter().map(|smooth| smooth.variance).sum::<f64>()
    }
}

impl Smooth {
    /// 1 where their sizes are the same, towards 0 the further they are apart.
    fn nearness(&self, pair: &Pair) -> f64 {
        let apart: f64 =
            self.scales.iter().zip(pair.apart).map(|(scale, apart)| apart / (scale * scale)).sum();
        (-apart / 2.0).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covariance() -> Covariance {
        Covariance {
            levels: vec![Level { same: vec![Label::Engine, Label::Shape], variance: 0.01 }],
            smooth: vec![Smooth { same: vec![Label::Engine], variance: 0.02, scales: [1.0; 5] }],
        }
    }

    #[test]
    fn a_point_shares_all_of_its_error_with_itself() {
        let point = ConfigPoint::default();
        assert!((covariance().between(&Pair::of(&point, &point)) - covariance().variance()).abs() < 1e-15);
    }

    #[test]
    fn unrelated_points_have_no_covariance() {
        let other = ConfigPoint { engine: "another".into(), ..ConfigPoint::default() };
        assert_eq!(covariance().between(&Pair::of(&ConfigPoint::default(), &other)), 0.0);
    }

    #[test]
    fn a_doubling_at_a_scale_of_one_leaves_e_to_minus_a_half() {
        let other = ConfigPoint { prompt: 2.0, shape: "another".into(), ..ConfigPoint::default() };
        let shared = covariance().between(&Pair::of(&ConfigPoint::default(), &other));
        assert!((shared - 0.02 * (-0.5_f64).exp()).abs() < 1e-12, "{shared}");
    }
}
