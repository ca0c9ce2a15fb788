//! Which of two configurations measures lower, and how sure that is. Shared errors cancel.

use super::band::probability;
use super::{Calibration, ConfigPoint, Joint, KnownRun, PerFactor, UncertainFigure};

/// What comparing a calibrated prediction needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankInput {
    pub point: ConfigPoint,
    /// Log factors that the figures were computed at.
    pub at: PerFactor,
    pub ttft: Option<UncertainFigure>,
    /// `None` with one output token.
    pub tpot: Option<UncertainFigure>,
    pub e2e: Option<UncertainFigure>,
    /// Output tokens per second.
    pub output: Option<UncertainFigure>,
}

/// Two configurations, compared.
#[derive(Debug)]
pub struct Versus<'a> {
    joint: Joint,
    of: [&'a RankInput; 2],
}

impl Calibration {
    /// Compares two configurations using the runs accepted by `may_inform` and all of the visitor's `own`.
    pub fn versus<'a>(
        &self,
        of: [&'a RankInput; 2],
        own: &[KnownRun],
        may_inform: impl Fn(&ConfigPoint) -> bool,
    ) -> Versus<'a> {
        Versus { joint: self.joint(&of.map(|one| &one.point), own, may_inform), of }
    }
}

impl Versus<'_> {
    /// The probability that a measurement of this figure is lower for the first configuration.
    pub fn lower(&self, figures: [UncertainFigure; 2]) -> f64 {
        let [first, second] = [0, 1].map(|one| self.expected(one, &figures[one]));
        probability(second - first, self.variance(&figures))
    }

    /// The share (0..1) of the ratio's standard deviation removed by measuring the first configuration, and the
    /// second.
    pub fn narrowed(&self, figures: [UncertainFigure; 2]) -> [f64; 2] {
        let before = self.variance(&figures);
        [0, 1].map(|measured| {
            let other = 1 - measured;
            let known = self.own(measured, &figures[measured]);
            let shared = self.shared(&figures).powi(2) / known;
            1.0 - ((self.own(other, &figures[other]) - shared) / before).sqrt()
        })
    }

    /// Expected logarithm given the runs used.
    fn expected(&self, one: usize, figure: &UncertainFigure) -> f64 {
        let posterior = self.joint.of(one);
        let at = self.of[one].at;
        let moved = figure.response.iter().zip(posterior.mean.iter().zip(at));
        figure.value.ln() + moved.map(|(by, (mean, at))| by * (mean - at)).sum::<f64>()
    }

    fn own(&self, one: usize, figure: &UncertainFigure) -> f64 {
        figure.corrected(self.joint.of(one).variance(figure.response))
    }

    fn shared(&self, [first, second]: &[UncertainFigure; 2]) -> f64 {
        let shared = self.joint.shared((0, first.response), (1, second.response));
        let scale = |one: usize, figure: &UncertainFigure| figure.scale(&self.joint.of(one));
        (scale(0, first) * scale(1, second)).sqrt() * shared
    }

    /// Variance of the log ratio.
    fn variance(&self, figures: &[UncertainFigure; 2]) -> f64 {
        let own: f64 = [0, 1].iter().map(|&one| self.own(one, &figures[one])).sum();
        // Rounding must not make it negative.
        (own - 2.0 * self.shared(figures)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Factors, Width};

    /// Decode steps on the same engine share all of their error.
    fn calibration() -> Calibration {
        Calibration::of_engines([0.04; 3], Vec::new())
    }

    fn rank_input(engine: &str) -> RankInput {
        RankInput {
            point: ConfigPoint { engine: engine.into(), ..ConfigPoint::default() },
            ..RankInput::default()
        }
    }

    fn figure(value: f64) -> UncertainFigure {
        UncertainFigure { value, response: [0.0, 1.0, 0.0], noise: 0.0001, width: Width::AS_FITTED }
    }

    #[test]
    fn errors_that_are_shared_do_not_count() {
        assert_eq!(calibration().posterior(&ConfigPoint::default(), &[], |_| true).factors(), Factors::NONE);
        let sure = |other: &str| {
            let of = [&rank_input("vllm"), &rank_input(other)];
            calibration().versus(of, &[], |_| true).lower([figure(1.0), figure(1.1)])
        };
        assert!(sure("vllm") > 0.99 && sure("sglang") < 0.7, "{} {}", sure("vllm"), sure("sglang"));
    }

    #[test]
    fn either_is_lower() {
        let of = [&rank_input("vllm"), &rank_input("sglang")];
        let versus = calibration().versus(of, &[], |_| true);
        let (one, other) = (figure(1.0), figure(1.3));
        let turned = calibration().versus([of[1], of[0]], &[], |_| true);
        assert!((versus.lower([one, other]) + turned.lower([other, one]) - 1.0).abs() < 1e-12);
        assert!((versus.lower([one, one]) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn measuring_one_of_two_that_share_nothing_leaves_the_other() {
        let of = [&rank_input("vllm"), &rank_input("sglang")];
        let narrowed = calibration().versus(of, &[], |_| true).narrowed([figure(1.0), figure(1.0)]);
        assert!(narrowed.iter().all(|by| (by - (1.0 - 0.5_f64.sqrt())).abs() < 1e-9), "{narrowed:?}");
    }
}
