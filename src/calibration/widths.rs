//! How wide bands are: the fitted variances, corrected by what configurations showed when they were left out.

use super::record::LeftOut;
use super::{Calibration, ConfigPoint, Label, Labels, Observed};

/// A correction of a metric's variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Width {
    /// How many times as large the squared errors of the same model's configurations on the engine were.
    pub times: f64,
    /// The variance of a typical configuration that was left out. A larger one is not widened in proportion: how far
    /// off similar configurations were says little about a prediction that has no similar run.
    pub typical: f64,
}

/// Corrections per metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Widths([Width; Observed::ALL.len()]);

impl Width {
    /// The variances as they were fitted.
    pub const AS_FITTED: Self = Self { times: 1.0, typical: f64::INFINITY };

    /// The corrected variance of a figure that grows this many times as fast as step times. Near saturation figures
    /// grow faster, so a typical variance is larger there.
    pub(super) fn corrected(self, fitted: f64, growth: f64) -> f64 {
        let typical = self.typical * growth.max(1.0).powi(2);
        let widened = if self.times > 1.0 { fitted.min(typical) } else { fitted };
        fitted + (self.times - 1.0) * widened
    }
}

impl Widths {
    /// The width for a figure composed of the metrics in these shares.
    pub fn of(self, shares: &[(Observed, f64)]) -> Width {
        let all: f64 = shares.iter().map(|(_, share)| share.abs()).sum();
        // A certain figure has nothing to correct.
        if all == 0.0 {
            return Width::AS_FITTED;
        }
        let sum = |of: fn(Width) -> f64| {
            shares.iter().map(|(metric, share)| share.abs() * of(self.0[*metric as usize])).sum::<f64>()
        };
        // Errors of one run mostly have one sign: deviations add up, not variances.
        Width { times: sum(|width| width.times) / all, typical: sum(|width| width.typical.sqrt()).powi(2) }
    }
}

impl Calibration {
    /// The correction at a point: the mean error of its model's configurations on its engine and architecture that
    /// `may_inform` accepts, shrunk towards the mean over all architectures, as if that had been seen
    /// [`Self::plain_counts`] times. That mean is in turn shrunk towards 1, the fitted covariance, by as much.
    pub fn widths(&self, at: &ConfigPoint, may_inform: impl Fn(&ConfigPoint) -> bool) -> Widths {
        let at = at.place();
        let model = Labels::from_iter([Label::Engine, Label::Shape]);
        let on_arch = Labels::from_iter([Label::Engine, Label::Shape, Label::Arch]);
        let like: Vec<(Labels, &LeftOut)> = self
            .configurations
            .iter()
            .map(|of| (at.agree(&of.place), of))
            .filter(|(agree, of)| agree.contain(model) && may_inform(&of.point))
            .collect();
        let width = |metric: Observed| {
            let among = |labels: Labels, times: f64| {
                let known = like.iter().filter(|(agree, _)| agree.contain(labels));
                let known = known.filter_map(|(_, of)| of.by[metric as usize]);
                let (sum, count) = known.fold((0.0, 0.0), |(sum, count), one| (sum + one, count + 1.0));
                (sum + self.plain_counts * times) / (count + self.plain_counts)
            };
            let times = among(on_arch, among(model, 1.0));
            Width { times, typical: self.typical.of(metric) }
        };
        Widths(Observed::ALL.map(width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_neighbours_miss_widens_a_distant_prediction_by_no_more_than_theirs() {
        let width = Width { times: 5.0, typical: 0.01 };
        assert!(
            (width.corrected(0.005, 1.0) - 0.025).abs() < 1e-12,
            "in proportion up to the typical variance"
        );
        assert!((width.corrected(0.5, 1.0) - 0.54).abs() < 1e-12, "no further beyond it");
        assert!(
            (width.corrected(0.5, 3.0) - 0.86).abs() < 1e-12,
            "which grows with what a figure responds to"
        );
        let narrow = Width { times: 0.5, ..width };
        assert!((narrow.corrected(0.5, 1.0) - 0.25).abs() < 1e-12, "what neighbours tell better narrows all");
        assert_eq!(Width::AS_FITTED.corrected(0.5, 8.0), 0.5);
    }

    #[test]
    fn a_composed_figure_lies_between_its_metrics() {
        let of = |times: f64, deviation: f64| Width { times, typical: deviation.powi(2) };
        let widths = Widths([of(3.0, 0.3), of(1.0, 0.1), of(1.0, 0.1)]);
        let composed = widths.of(&[(Observed::Ttft, -0.5), (Observed::Tpot, -0.5)]);
        assert!(
            (composed.times - 2.0).abs() < 1e-12 && (composed.typical - 0.04).abs() < 1e-12,
            "{composed:?}"
        );
        assert_eq!(widths.of(&[]), Width::AS_FITTED);
    }
}
