//! What measured runs say of the factors of a configuration.

use nalgebra::{DMatrix, DVector};
use serde::Serialize;

use super::{Calibration, Covariance, FACTORS, Factors, Known, Label, Observation, Pair, PerFactor, Point};

/// Runs that are asked: those that share most with the configuration. All of them, thousands, take too long for a page.
const ASKED: usize = 80;

/// The logarithms of the factors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posterior {
    pub mean: PerFactor,
    pub covariance: [PerFactor; FACTORS],
    /// Shares of the prior variances that are left.
    pub left: PerFactor,
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
    /// Runs of the visitor's own, which are none of the others.
    pub own: u32,
}

impl Posterior {
    pub fn factors(&self) -> Factors {
        let [prefill, decode, wait] = self.mean.map(f64::exp);
        Factors { prefill, decode, wait }
    }

    /// Variance of the logarithm of what responds so to the factors.
    pub fn variance(&self, response: PerFactor) -> f64 {
        let of =
            |row: &PerFactor| row.iter().zip(response).map(|(covariance, by)| covariance * by).sum::<f64>();
        self.covariance.iter().zip(response).map(|(row, by)| by * of(row)).sum()
    }

    /// What the factors make of the logarithm of what responds so to them.
    pub fn expected(&self, response: PerFactor) -> f64 {
        self.mean.iter().zip(response).map(|(mean, by)| mean * by).sum()
    }
}

impl Calibration {
    /// What the runs for which `asked` holds say of a configuration, and with them all of the visitor's `own`.
    pub fn posterior(&self, at: &Point, own: &[Known], asked: impl Fn(&Known) -> bool) -> Posterior {
        let prior = self.prior.each_ref().map(Covariance::variance);
        let mut near: Vec<(f64, PerFactor, &Known)> = Vec::new();
        for known in self.known.iter().filter(|known| asked(known)).chain(own) {
            let pair = Pair::of(at, &known.point);
            let shared = self.prior.each_ref().map(|of| of.between(&pair));
            let share = shared.iter().zip(prior).map(|(shared, prior)| shared / prior).sum();
            if share > 0.0 {
                near.push((share, shared, known));
            }
        }
        near.sort_by(|one, other| other.0.total_cmp(&one.0));
        near.truncate(ASKED);
        self.conditioned(prior, &near)
    }

    fn conditioned(&self, prior: PerFactor, near: &[(f64, PerFactor, &Known)]) -> Posterior {
        let alone =
            |factor: usize| std::array::from_fn(|other| if other == factor { prior[factor] } else { 0.0 });
        let unmoved =
            Posterior { mean: [0.0; FACTORS], covariance: std::array::from_fn(alone), left: [1.0; FACTORS] };
        let rows: Vec<(usize, &Observation)> = near
            .iter()
            .enumerate()
            .flat_map(|(run, (_, _, known))| known.observed.iter().map(move |one| (run, one)))
            .collect();
        // Between runs, once for each pair.
        let count = near.len();
        let mut between = [(); FACTORS].map(|()| DMatrix::zeros(count, count));
        for one in 0..count {
            for other in 0..=one {
                let pair = Pair::of(&near[one].2.point, &near[other].2.point);
                for (matrix, of) in between.iter_mut().zip(&self.prior) {
                    matrix[(one, other)] = of.between(&pair);
                }
            }
        }
        let size = rows.len();
        let own = |row: usize| self.noise.of(rows[row].1.metric) / rows[row].1.weight;
        let gram = DMatrix::from_fn(size, size, |one, other| {
            let ((run, a), (beside, b)) = (rows[one], rows[other]);
            let at = (run.max(beside), run.min(beside));
            let shared: f64 = between
                .iter()
                .enumerate()
                .map(|(factor, of)| a.response[factor] * b.response[factor] * of[at])
                .sum();
            shared + if one == other { own(one) } else { 0.0 }
        });
        let Some(gram) = gram.cholesky() else { return unmoved };
        let ratios = DVector::from_iterator(size, rows.iter().map(|(_, one)| one.log_ratio));
        let cross = DMatrix::from_fn(size, FACTORS, |row, factor| {
            let (run, one) = rows[row];
            near[run].1[factor] * one.response[factor]
        });
        let explained = cross.transpose() * gram.solve(&cross);
        let mean = cross.transpose() * gram.solve(&ratios);
        let covariance: [PerFactor; FACTORS] = std::array::from_fn(|one| {
            std::array::from_fn(|other| {
                let own = if one == other { prior[one] } else { 0.0 };
                own - explained[(one, other)]
            })
        });
        Posterior {
            mean: std::array::from_fn(|factor| mean[factor]),
            covariance,
            left: std::array::from_fn(|factor| covariance[factor][factor] / prior[factor]),
        }
    }

    /// How many runs stand behind what is said of a configuration.
    pub fn support(&self, at: &Point, own: &[Known]) -> Support {
        let count = |labels: &[Label]| {
            let agrees = |known: &&Known| labels.iter().all(|&label| at.agrees(&known.point, label));
            self.known.iter().filter(agrees).count() as u32
        };
        Support {
            of_model_on_engine: count(&[Label::Shape, Label::Engine]),
            of_model: count(&[Label::Shape]),
            of_gpu_on_engine: count(&[Label::Gpu, Label::Engine]),
            own: own.len() as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Level, Noise, Observed};

    fn calibration(known: Vec<Known>) -> Calibration {
        let shared = |variance| Covariance {
            levels: vec![Level { same: vec![Label::Engine], variance }],
            smooth: Vec::new(),
        };
        let noise = Noise { ttft: 0.01, tpot: 0.01, throughput: 0.01 };
        Calibration { release: String::new(), prior: [0.04, 0.01, 0.02].map(shared), noise, known }
    }

    fn run(engine: &str, log_ratio: f64) -> Known {
        let observed =
            vec![Observation { metric: Observed::Tpot, log_ratio, response: [0.0, 1.0, 0.0], weight: 1.0 }];
        Known { point: Point { engine: engine.into(), ..Point::default() }, observed }
    }

    #[test]
    fn one_run_moves_its_like_by_the_share_that_is_not_noise() {
        let at = Point { engine: "vllm".into(), ..Point::default() };
        let found = calibration(vec![run("vllm", 0.1)]).posterior(&at, &[], |_| true);
        assert!((found.mean[1] - 0.05).abs() < 1e-12 && found.mean[0] == 0.0, "{found:?}");
        assert!((found.left[1] - 0.5).abs() < 1e-12 && found.left[0] == 1.0);
        assert!((found.variance([0.0, 1.0, 0.0]) - 0.005).abs() < 1e-12);
    }

    #[test]
    fn what_shares_nothing_or_is_not_asked_moves_nothing() {
        let at = Point { engine: "sglang".into(), ..Point::default() };
        let calibration = calibration(vec![run("vllm", 0.1)]);
        assert_eq!(calibration.posterior(&at, &[], |_| true).factors(), Factors::NONE);
        let at = Point { engine: "vllm".into(), ..Point::default() };
        assert_eq!(calibration.posterior(&at, &[], |_| false).left, [1.0; FACTORS]);
    }
}
