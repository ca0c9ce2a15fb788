//! How much of their error two configurations share.

use serde::{Deserialize, Serialize};
use strum::{EnumCount, VariantArray};

/// A property in which two configurations agree or differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumCount, VariantArray)]
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

/// A set of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<Label>")]
pub struct Labels(u16);

/// What covariances depend on: a number for each label, equal for configurations that agree in it, and the sizes in
/// doublings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub labels: [u64; Label::COUNT],
    pub sizes: [f64; 5],
}

/// An error fully shared by configurations that agree in `same`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    pub same: Labels,
    /// Variance of the logarithm of the factor.
    pub variance: f64,
}

/// An error shared by configurations that agree in `same`, the more the closer their sizes are.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Smooth {
    pub same: Labels,
    pub variance: f64,
    /// Length scales in doublings: GPUs per layer, EP, requests in flight, prompt and output tokens.
    pub scales: [f64; 5],
}

/// The prior covariance of the logarithm of one factor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Covariance {
    pub levels: Vec<Level>,
    pub smooth: Vec<Smooth>,
}

/// Origin of an error: shared by all configurations with this in common, unknown if none of them was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum ErrorSource {
    /// The model on its engine, on any GPU and version.
    Model,
    /// The engine's version.
    Version,
    /// The model on this GPU in this format and version.
    Build,
    /// The number of GPUs, the load and the lengths.
    Load,
}

/// How many sources there are, in the order of [`ErrorSource`].
pub const SOURCES: usize = ErrorSource::ALL.len();

/// Two configurations, compared.
#[derive(Debug, Clone, Copy)]
pub struct PlacePair {
    /// The labels they agree in.
    agree: Labels,
    /// Squared distances between their sizes, in doublings.
    squared_distances: [f64; 5],
}

impl Labels {
    pub const ALL: Self = Self((1 << Label::COUNT) - 1);

    pub fn contains(self, label: Label) -> bool {
        self.0 & (1 << label as u16) != 0
    }

    /// Whether all of `others` are among these labels.
    pub fn contain(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// The labels in both.
    pub fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl From<Vec<Label>> for Labels {
    fn from(labels: Vec<Label>) -> Self {
        labels.into_iter().collect()
    }
}

impl FromIterator<Label> for Labels {
    fn from_iter<T: IntoIterator<Item = Label>>(labels: T) -> Self {
        Self(labels.into_iter().fold(0, |bits, label| bits | 1 << label as u16))
    }
}

impl Place {
    /// The labels in which two configurations agree.
    pub fn agree(&self, other: &Self) -> Labels {
        // Without a branch for each label: a prediction compares itself with every measured run.
        let each = self.labels.iter().zip(&other.labels).enumerate();
        Labels(each.fold(0, |bits, (label, (one, other))| bits | u16::from(one == other) << label))
    }
}

impl ErrorSource {
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The source of an error shared by configurations that agree in `same`.
    fn of(same: Labels) -> Self {
        if same.contains(Label::Layout) {
            Self::Load
        } else if same.contains(Label::Gpu) {
            Self::Build
        } else if same.contains(Label::Version) {
            Self::Version
        } else {
            Self::Model
        }
    }
}

impl PlacePair {
    pub fn of(one: &Place, other: &Place) -> Self {
        let squared_distances = std::array::from_fn(|size| (one.sizes[size] - other.sizes[size]).powi(2));
        Self { agree: one.agree(other), squared_distances }
    }
}

impl Covariance {
    /// Covariance of two configurations.
    pub fn between(&self, pair: &PlacePair) -> f64 {
        let levels =
            self.levels.iter().filter(|level| pair.agree.contain(level.same)).map(|level| level.variance);
        let smooth = self.smooth.iter().filter(|smooth| pair.agree.contain(smooth.same));
        // Errors with the same scales decay alike, so the last nearness is reused.
        let mut last = (&[0.0; 5], 0.0);
        let smooth = smooth.map(|smooth| {
            if last.0 != &smooth.scales {
                last = (&smooth.scales, smooth.nearness(pair));
            }
            smooth.variance * last.1
        });
        levels.sum::<f64>() + smooth.sum::<f64>()
    }

    /// For each error, the labels in which configurations must agree to share it.
    pub fn errors(&self) -> impl Iterator<Item = Labels> {
        self.levels.iter().map(|level| level.same).chain(self.smooth.iter().map(|smooth| smooth.same))
    }

    /// Split by source.
    pub fn by_source(&self, pair: &PlacePair) -> [f64; SOURCES] {
        let mut shared = [0.0; SOURCES];
        for level in self.levels.iter().filter(|level| pair.agree.contain(level.same)) {
            shared[ErrorSource::of(level.same) as usize] += level.variance;
        }
        for smooth in self.smooth.iter().filter(|smooth| pair.agree.contain(smooth.same)) {
            shared[ErrorSource::Load as usize] += smooth.variance * smooth.nearness(pair);
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
    /// 1 if their sizes are the same, falling towards 0 the further apart they are.
    fn nearness(&self, pair: &PlacePair) -> f64 {
        let squared_distances: f64 = self
            .scales
            .iter()
            .zip(pair.squared_distances)
            .map(|(scale, squared)| squared / (scale * scale))
            .sum();
        (-squared_distances / 2.0).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::ConfigPoint;

    fn covariance() -> Covariance {
        Covariance {
            levels: vec![Level { same: Labels::from_iter([Label::Engine, Label::Shape]), variance: 0.01 }],
            smooth: vec![Smooth {
                same: Labels::from_iter([Label::Engine]),
                variance: 0.02,
                scales: [1.0; 5],
            }],
        }
    }

    #[test]
    fn a_point_shares_all_of_its_error_with_itself() {
        let place = ConfigPoint::default().place();
        assert!(
            (covariance().between(&PlacePair::of(&place, &place)) - covariance().variance()).abs() < 1e-15
        );
    }

    #[test]
    fn unrelated_points_have_no_covariance() {
        let other = ConfigPoint { engine: "another".into(), ..ConfigPoint::default() };
        assert_eq!(
            covariance().between(&PlacePair::of(&ConfigPoint::default().place(), &other.place())),
            0.0
        );
    }

    #[test]
    fn a_doubling_at_a_scale_of_one_leaves_e_to_minus_a_half() {
        let other = ConfigPoint { prompt: 2.0, shape: "another".into(), ..ConfigPoint::default() };
        let shared = covariance().between(&PlacePair::of(&ConfigPoint::default().place(), &other.place()));
        assert!((shared - 0.02 * (-0.5_f64).exp()).abs() < 1e-12, "{shared}");
    }
}
