//! How much two configurations share of their error.

use serde::{Deserialize, Serialize};

use super::Point;

/// What two configurations have in common, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// An error that configurations share whole if they agree in `same`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    pub same: Vec<Label>,
    /// Of the logarithm of the factor.
    pub variance: f64,
}

/// An error that configurations which agree in `same` share the more, the nearer their sizes are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Smooth {
    pub same: Vec<Label>,
    pub variance: f64,
    /// Doublings of GPUs that share a layer, EP, requests under way, prompt and output tokens over which it changes.
    pub scales: [f64; 5],
}

/// The prior covariance of the logarithm of one factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Covariance {
    pub levels: Vec<Level>,
    pub smooth: Vec<Smooth>,
}

impl Covariance {
    /// Of two configurations.
    pub fn between(&self, one: &Point, other: &Point) -> f64 {
        let agree = |labels: &[Label]| labels.iter().all(|&label| one.agrees(other, label));
        let levels = self.levels.iter().filter(|level| agree(&level.same)).map(|level| level.variance);
        let smooth = self.smooth.iter().filter(|smooth| agree(&smooth.same));
        levels.sum::<f64>() + smooth.map(|smooth| smooth.between(one, other)).sum::<f64>()
    }

    /// Of a configuration with itself, wherever it stands.
    pub fn variance(&self) -> f64 {
        let levels: f64 = self.levels.iter().map(|level| level.variance).sum();
        levels + self.smooth.iter().map(|smooth| smooth.variance).sum::<f64>()
    }
}

impl Smooth {
    fn between(&self, one: &Point, other: &Point) -> f64 {
        let (one, other) = (one.doublings(), other.doublings());
        let apart: f64 = self
            .scales
            .iter()
            .zip(one.iter().zip(other))
            .map(|(scale, (one, other))| ((one - other) / scale).powi(2))
            .sum();
        self.variance * (-apart / 2.0).exp()
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
        let point = Point::default();
        assert!((covariance().between(&point, &point) - covariance().variance()).abs() < 1e-15);
    }

    #[test]
    fn what_has_nothing_in_common_shares_nothing() {
        let other = Point { engine: "another".into(), ..Point::default() };
        assert_eq!(covariance().between(&Point::default(), &other), 0.0);
    }

    #[test]
    fn a_doubling_at_a_scale_of_one_leaves_e_to_minus_a_half() {
        let other = Point { prompt: 2.0, shape: "another".into(), ..Point::default() };
        let shared = covariance().between(&Point::default(), &other);
        assert!((shared - 0.02 * (-0.5_f64).exp()).abs() < 1e-12, "{shared}");
    }
}
