//! What measured runs say of the factors of a configuration.

use nalgebra::{DMatrix, DVector};
use serde::Serialize;

use super::{Calibration, Factors, Known, Label, Observation, Point};

/// Runs that are asked: those that share most with the configuration. All of them, thousands, take too long for a page.
const ASKED: usize = 80;

/// The logarithms of both factors, prefill first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posterior {
    pub mean: [f64; 2],
    pub covariance: [[f64; 2]; 2],
    /// Shares of the prior variances that are left.
    pub left: [f64; 2],
}

/// The measured runs behind a posterior.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Support {
    /// Runs of the same model, on this engine and any.
    pub of_model_on_engine: u32,
    pub of_model: u32,
    /// Runs on the same GPU type with this engine.
    pub of_gpu_on_engine: u32,
}

impl Posterior {
    pub fn factors(&self) -> Factors {
        let [prefill, decode] = self.mean.map(f64::exp);
        Factors { prefill, decode }
    }

    /// Variance of the logarithm of what responds so to the factors.
    pub fn variance(&self, response: [f64; 2]) -> f64 {
        let [[prefill, both], [_, decode]] = self.covariance;
        let [to_prefill, to_decode] = response;
        to_prefill * to_prefill * prefill
            + 2.0 * to_prefill * to_decode * both
            + to_decode * to_decode * decode
    }
}

impl Calibration {
    /// What the runs for which `asked` holds say of a configuration.
    pub fn posterior(&self, at: &Point, asked: impl Fn(&Known) -> bool) -> Posterior {
        let prior = [self.prefill.variance(), self.decode.variance()];
        let mut near: Vec<(f64, [f64; 2], &Known)> = Vec::new();
        for known in self.known.iter().filter(|known| asked(known)) {
            let shared = [self.prefill.between(at, &known.point), self.decode.between(at, &known.point)];
            let share = shared[0] / prior[0] + shared[1] / prior[1];
            if share > 0.0 {
                near.push((share, shared, known));
            }
        }
        near.sort_by(|one, other| other.0.total_cmp(&one.0));
        near.truncate(ASKED);
        self.conditioned(prior, &near)
    }

    fn conditioned(&self, prior: [f64; 2], near: &[(f64, [f64; 2], &Known)]) -> Posterior {
        let unmoved =
            Posterior { mean: [0.0; 2], covariance: [[prior[0], 0.0], [0.0, prior[1]]], left: [1.0; 2] };
        let rows: Vec<(usize, &Observation)> = near
            .iter()
            .enumerate()
            .flat_map(|(run, (_, _, known))| known.observed.iter().map(move |one| (run, one)))
            .collect();
        // Between runs, once for each pair.
        let count = near.len();
        let between = |of: &super::Covariance| {
            DMatrix::from_fn(count, count, |one, other| {
                if one < other { 0.0 } else { of.between(&near[one].2.point, &near[other].2.point) }
            })
        };
        let (prefill, decode) = (between(&self.prefill), between(&self.decode));
        let size = rows.len();
        let own = |row: usize| self.noise.of(rows[row].1.metric) / rows[row].1.weight;
        let gram = DMatrix::from_fn(size, size, |one, other| {
            let ((run, a), (beside, b)) = (rows[one], rows[other]);
            let at = (run.max(beside), run.min(beside));
            let shared =
                a.response[0] * b.response[0] * prefill[at] + a.response[1] * b.response[1] * decode[at];
            shared + if one == other { own(one) } else { 0.0 }
        });
        let Some(gram) = gram.cholesky() else { return unmoved };
        let ratios = DVector::from_iterator(size, rows.iter().map(|(_, one)| one.log_ratio));
        let cross = DMatrix::from_fn(size, 2, |row, factor| {
            let (run, one) = rows[row];
            near[run].1[factor] * one.response[factor]
        });
        let explained = cross.transpose() * gram.solve(&cross);
        let mean = cross.transpose() * gram.solve(&ratios);
        let covariance = [
            [prior[0] - explained[(0, 0)], -explained[(0, 1)]],
            [-explained[(1, 0)], prior[1] - explained[(1, 1)]],
        ];
        Posterior {
            mean: [mean[0], mean[1]],
            covariance,
            left: [covariance[0][0] / prior[0], covariance[1][1] / prior[1]],
        }
    }

    /// How many runs stand behind what is said of a configuration.
    pub fn support(&self, at: &Point) -> Support {
        let count = |labels: &[Label]| {
            let agrees = |known: &&Known| labels.iter().all(|&label| at.agrees(&known.point, label));
            self.known.iter().filter(agrees).count() as u32
        };
        Support {
            of_model_on_engine: count(&[Label::Shape, Label::Engine]),
            of_model: count(&[Label::Shape]),
            of_gpu_on_engine: count(&[Label::Gpu, Label::Engine]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Covariance, Level, Noise, Observed};

    fn calibration(known: Vec<Known>) -> Calibration {
        let shared = |variance| Covariance {
            levels: vec![Level { same: vec![Label::Engine], variance }],
            smooth: Vec::new(),
        };
        let noise = Noise { ttft: 0.01, tpot: 0.01, throughput: 0.01 };
        Calibration { release: String::new(), prefill: shared(0.04), decode: shared(0.01), noise, known }
    }

    fn run(engine: &str, log_ratio: f64) -> Known {
        let observed =
            vec![Observation { metric: Observed::Tpot, log_ratio, response: [0.0, 1.0], weight: 1.0 }];
        Known { point: Point { engine: engine.into(), ..Point::default() }, observed }
    }

    #[test]
    fn one_run_moves_its_like_by_the_share_that_is_not_noise() {
        let at = Point { engine: "vllm".into(), ..Point::default() };
        let found = calibration(vec![run("vllm", 0.1)]).posterior(&at, |_| true);
        assert!((found.mean[1] - 0.05).abs() < 1e-12 && found.mean[0] == 0.0, "{found:?}");
        assert!((found.left[1] - 0.5).abs() < 1e-12 && found.left[0] == 1.0);
        assert!((found.variance([0.0, 1.0]) - 0.005).abs() < 1e-12);
    }

    #[test]
    fn what_shares_nothing_or_is_not_asked_moves_nothing() {
        let at = Point { engine: "sglang".into(), ..Point::default() };
        let calibration = calibration(vec![run("vllm", 0.1)]);
        assert_eq!(calibration.posterior(&at, |_| true).factors(), Factors::NONE);
        let at = Point { engine: "vllm".into(), ..Point::default() };
        assert_eq!(calibration.posterior(&at, |_| false).left, [1.0; 2]);
    }
}
