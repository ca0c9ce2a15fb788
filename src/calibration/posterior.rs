//! The posterior of a configuration's factors given the measured runs.

use std::collections::BTreeSet;

use nalgebra::{DMatrix, DVector};

use super::gram::GramRow;
use super::{
    Calibration, ConfigPoint, Covariance, FACTORS, Factors, KnownRun, Labels, OF_80_PERCENT, Observation,
    PerFactor, Place, PlacePair, SOURCES,
};
use crate::units::Order;

/// Runs used: all of them, thousands, would take too long in a page.
const POSTERIOR_RUNS: usize = 80;
/// How many of the runs used are those that share most with the configuration. The others are the nearest run of each
/// further configuration: an error that all models on an engine share is learned from many configurations, not from
/// many runs of one.
const NEAREST: usize = 24;
/// Runs used where an approximation is enough.
const ROUGH_RUNS: usize = 24;

/// The logarithms of the factors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posterior {
    pub mean: PerFactor,
    pub covariance: [PerFactor; FACTORS],
    /// Remaining fractions of the prior variances.
    pub left: PerFactor,
}

impl Posterior {
    pub fn factors(&self) -> Factors {
        let [prefill, decode, wait] = self.mean.map(f64::exp);
        Factors { prefill, decode, wait }
    }

    /// Variance of the logarithm of a figure with this response.
    pub fn variance(&self, response: PerFactor) -> f64 {
        let of =
            |row: &PerFactor| row.iter().zip(response).map(|(covariance, by)| covariance * by).sum::<f64>();
        self.covariance.iter().zip(response).map(|(row, by)| by * of(row)).sum()
    }

    /// The most likely step-time factors at the lower and the upper edge of the 80 % band of a figure with this
    /// response, whose variance is `scale` times what the factors give. Waiting keeps its mean.
    pub fn edges(&self, response: PerFactor, scale: f64) -> [Factors; 2] {
        let response = [response[0], response[1], 0.0];
        let deviation = self.variance(response).sqrt();
        let towards =
            |row: &PerFactor| row.iter().zip(response).map(|(by, of)| by * of).sum::<f64>() / deviation;
        let [prefill, decode, _] =
            self.covariance.each_ref().map(|row| OF_80_PERCENT * scale.sqrt() * towards(row));
        let away = |sign: f64| self.factors().longer((sign * prefill).exp(), (sign * decode).exp());
        [away(-1.0), away(1.0)]
    }

    /// Expected logarithm of a figure with this response.
    pub fn expected(&self, response: PerFactor) -> f64 {
        self.mean.iter().zip(response).map(|(mean, by)| mean * by).sum()
    }
}

/// The joint posterior of several configurations, with their shared errors.
#[derive(Debug, Clone)]
pub struct Joint {
    prior: PerFactor,
    /// Log factors, one configuration after another.
    mean: Vec<f64>,
    covariance: DMatrix<f64>,
}

impl Joint {
    /// The posterior of one configuration.
    pub fn of(&self, configuration: usize) -> Posterior {
        let first = configuration * FACTORS;
        let covariance: [PerFactor; FACTORS] = std::array::from_fn(|one| {
            std::array::from_fn(|other| self.covariance[(first + one, first + other)])
        });
        Posterior {
            mean: std::array::from_fn(|factor| self.mean[first + factor]),
            covariance,
            left: std::array::from_fn(|factor| covariance[factor][factor] / self.prior[factor]),
        }
    }

    /// Covariance between the log figures of two configurations.
    pub fn shared(&self, (at, response): (usize, PerFactor), (other, by): (usize, PerFactor)) -> f64 {
        let block = self.covariance.view((at * FACTORS, other * FACTORS), (FACTORS, FACTORS));
        let pairs = response
            .iter()
            .enumerate()
            .flat_map(|(row, a)| by.iter().enumerate().map(move |(column, b)| (row, column, a * b)));
        pairs.map(|(row, column, of)| of * block[(row, column)]).sum()
    }
}

/// A run used for inference, and its covariance with each configuration.
struct Near<'a> {
    known: &'a KnownRun,
    shared: Vec<PerFactor>,
}

impl Calibration {
    /// Posterior of a configuration given the runs accepted by `may_inform` and all of the visitor's `own`.
    pub fn posterior<'a>(
        &'a self,
        at: &ConfigPoint,
        own: impl IntoIterator<Item = &'a KnownRun>,
        may_inform: impl Fn(&ConfigPoint) -> bool,
    ) -> Posterior {
        self.joint(&[at], own, may_inform).of(0)
    }

    /// Joint posterior of several configurations, given the runs accepted by `may_inform` and all of the visitor's
    /// `own`.
    pub fn joint<'a>(
        &'a self,
        at: &[&ConfigPoint],
        own: impl IntoIterator<Item = &'a KnownRun>,
        may_inform: impl Fn(&ConfigPoint) -> bool,
    ) -> Joint {
        let prior = self.variances();
        let at: Vec<Place> = at.iter().map(|point| point.place()).collect();
        self.conditioned(&at, prior, &self.nearest(&at, prior, own, POSTERIOR_RUNS, may_inform))
    }

    /// Prior variances of the factors.
    fn variances(&self) -> PerFactor {
        self.prior.each_ref().map(Covariance::variance)
    }

    /// Approximates [`Self::posterior`] without the visitor's own runs, in a fraction of its time, for results that are not
    /// shown.
    pub fn roughly(&self, at: &ConfigPoint) -> Factors {
        let prior = self.variances();
        let at = [at.place()];
        self.conditioned(&at, prior, &self.nearest(&at, prior, [], ROUGH_RUNS, |_| true)).of(0).factors()
    }

    /// What runs must have in common to share anything.
    pub(super) fn required(&self) -> Labels {
        self.prior.iter().flat_map(Covariance::errors).fold(Labels::ALL, Labels::common)
    }

    /// The runs that share most with any of the configurations, and the nearest of each further configuration.
    fn nearest<'a>(
        &'a self,
        at: &[Place],
        prior: PerFactor,
        own: impl IntoIterator<Item = &'a KnownRun>,
        most: usize,
        may_inform: impl Fn(&ConfigPoint) -> bool,
    ) -> Vec<Near<'a>> {
        let share =
            |shared: &PerFactor| shared.iter().zip(prior).map(|(shared, prior)| shared / prior).sum::<f64>();
        let required = self.required();
        let may_share = |known: &&KnownRun| at.iter().any(|at| at.agree(&known.place).contain(required));
        let shipped = self.known.iter().filter(|known| may_inform(&known.point)).filter(may_share);
        let mut all: Vec<&KnownRun> = shipped.collect();
        // The runs chosen for any of the configurations: all of the visitor's.
        let mut chosen = vec![false; all.len()];
        all.extend(own.into_iter().filter(may_share));
        chosen.resize(all.len(), true);
        for at in at {
            let shares = all.iter().map(|known| share(&self.shared(at, &known.place)));
            let mut order: Vec<(f64, &KnownRun, usize)> = shares
                .zip(&all)
                .enumerate()
                .filter(|(_, (share, _))| *share > 0.0)
                .map(|(index, (share, known))| (share, *known, index))
                .collect();
            order.order_by(|one, other| other.0.total_cmp(&one.0));
            let (closest, others) = order.split_at(order.len().min(NEAREST));
            let mut seen = BTreeSet::new();
            seen.extend(closest.iter().map(|(_, known, _)| known.place.labels));
            let others = others.iter().filter(|(_, known, _)| seen.insert(known.place.labels));
            let others = others.take(most - closest.len());
            closest.iter().chain(others).for_each(|(_, _, index)| chosen[*index] = true);
        }
        let chosen = all.into_iter().zip(chosen).filter(|(_, is_chosen)| *is_chosen);
        let near = |(known, _): (&'a KnownRun, bool)| Near {
            known,
            shared: at.iter().map(|at| self.shared(at, &known.place)).collect(),
        };
        chosen.map(near).collect()
    }

    /// The variance of [`Posterior::variance`] split by source, for each of `responses`.
    pub fn variance_by_source(
        &self,
        at: &ConfigPoint,
        own: &[KnownRun],
        responses: &[PerFactor],
    ) -> Vec<[f64; SOURCES]> {
        let prior = self.variances();
        let at = at.place();
        let near = self.nearest(&[at], prior, own.iter(), POSTERIOR_RUNS, |_| true);
        let of_pair = |pair: &PlacePair, by: PerFactor| {
            let mut all = [0.0; SOURCES];
            for (of, by) in self.prior.iter().zip(by) {
                all.iter_mut().zip(of.by_source(pair)).for_each(|(sum, one)| *sum += by * one);
            }
            all
        };
        let rows = observations(&near);
        let decomposed = self.decomposed(with_places(&near, &rows));
        let of_response = |response: &PerFactor| {
            let before = of_pair(&PlacePair::of(&at, &at), response.map(|by| by * by));
            let Some(gram) = &decomposed.solver else { return before };
            let shared: Vec<[f64; SOURCES]> = rows
                .iter()
                .map(|(run, one)| {
                    let by = std::array::from_fn(|factor| response[factor] * one.response[factor]);
                    of_pair(&PlacePair::of(&at, &near[*run].known.place), by)
                })
                .collect();
            let whole = DVector::from_iterator(rows.len(), shared.iter().map(|of| of.iter().sum()));
            let weights = gram.solve(&whole);
            std::array::from_fn(|source| {
                let known: f64 =
                    shared.iter().zip(weights.iter()).map(|(of, weight)| of[source] * weight).sum();
                before[source] - known
            })
        };
        responses.iter().map(of_response).collect()
    }

    fn conditioned(&self, at: &[Place], prior: PerFactor, near: &[Near<'_>]) -> Joint {
        let size = at.len() * FACTORS;
        let mut covariance = DMatrix::zeros(size, size);
        for (one, from) in at.iter().enumerate() {
            for (other, to) in at.iter().enumerate() {
                let pair = PlacePair::of(from, to);
                for (factor, of) in self.prior.iter().enumerate() {
                    covariance[(one * FACTORS + factor, other * FACTORS + factor)] = of.between(&pair);
                }
            }
        }
        let unmoved = Joint { prior, mean: vec![0.0; size], covariance };
        let rows = observations(near);
        let decomposed = self.decomposed(with_places(near, &rows));
        let Some(gram) = &decomposed.solver else { return unmoved };
        let ratios = DVector::from_iterator(rows.len(), rows.iter().map(|(_, one)| one.log_ratio));
        let cross = DMatrix::from_fn(rows.len(), size, |row, column| {
            let ((run, one), factor) = (rows[row], column % FACTORS);
            near[run].shared[column / FACTORS][factor] * one.response[factor]
        });
        let explained = cross.transpose() * gram.solve(&cross);
        let mean = cross.transpose() * gram.solve(&ratios);
        let covariance = unmoved.covariance - explained;
        Joint { prior, mean: mean.iter().copied().collect(), covariance }
    }
}

/// All observations, each with the index of its run.
fn observations<'a>(near: &[Near<'a>]) -> Vec<(usize, &'a Observation)> {
    let of_run = |(run, near): (usize, &Near<'a>)| near.known.observed.iter().map(move |one| (run, one));
    near.iter().enumerate().flat_map(of_run).collect()
}

fn with_places(near: &[Near<'_>], rows: &[(usize, &Observation)]) -> Vec<GramRow> {
    rows.iter().map(|(run, one)| (near[*run].known.place, **one)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Observed, shipped};

    fn calibration(known: Vec<KnownRun>) -> Calibration {
        Calibration::of_engines([0.04, 0.01, 0.02], known)
    }

    fn run(engine: &str, log_ratio: f64) -> KnownRun {
        let observed =
            vec![Observation { metric: Observed::Tpot, log_ratio, response: [0.0, 1.0, 0.0], weight: 1.0 }];
        KnownRun::new(ConfigPoint { engine: engine.into(), ..ConfigPoint::default() }, observed)
    }

    #[test]
    fn one_run_moves_its_like_by_the_share_that_is_not_noise() {
        let at = ConfigPoint { engine: "vllm".into(), ..ConfigPoint::default() };
        let found = calibration(vec![run("vllm", 0.1)]).posterior(&at, &[], |_| true);
        assert!((found.mean[1] - 0.05).abs() < 1e-12 && found.mean[0] == 0.0, "{found:?}");
        assert!((found.left[1] - 0.5).abs() < 1e-12 && found.left[0] == 1.0);
        assert!((found.variance([0.0, 1.0, 0.0]) - 0.005).abs() < 1e-12);
    }

    #[test]
    fn unrelated_or_excluded_runs_move_nothing() {
        let at = ConfigPoint { engine: "sglang".into(), ..ConfigPoint::default() };
        let calibration = calibration(vec![run("vllm", 0.1)]);
        assert_eq!(calibration.posterior(&at, &[], |_| true).factors(), Factors::NONE);
        let at = ConfigPoint { engine: "vllm".into(), ..ConfigPoint::default() };
        assert_eq!(calibration.posterior(&at, &[], |_| false).left, [1.0; FACTORS]);
    }

    #[test]
    fn many_runs_of_one_configuration_leave_room_for_another() {
        let mut other = run("vllm", 0.2);
        other = KnownRun::new(ConfigPoint { tp: 2.0, ..other.point }, other.observed);
        let mut known: Vec<_> = (0..POSTERIOR_RUNS).map(|_| run("vllm", 0.1)).collect();
        known.push(other.clone());
        let calibration = calibration(known);
        let at = [run("vllm", 0.0).place];
        let near = calibration.nearest(&at, calibration.variances(), [].iter(), POSTERIOR_RUNS, |_| true);
        assert_eq!(near.len(), NEAREST + 1);
        assert_eq!(near.last().map(|near| near.known), Some(&other));
    }

    #[test]
    fn a_visitors_runs_always_inform() {
        let far = run("vllm", 0.5);
        let far = KnownRun::new(ConfigPoint { in_flight: 500.0, ..far.point }, far.observed);
        let calibration = calibration((0..POSTERIOR_RUNS).map(|_| run("vllm", 0.1)).collect());
        let at = run("vllm", 0.0).point;
        let with = |own: &[KnownRun]| calibration.posterior(&at, own, |_| true).mean[1];
        assert!(with(std::slice::from_ref(&far)) > with(&[]));
    }

    #[test]
    fn sources_add_up_to_the_whole() {
        let calibration = shipped();
        let response = [0.4, 0.9, 1.0];
        for known in calibration.known.iter().step_by(200) {
            let whole = calibration.posterior(&known.point, &[], |_| true).variance(response);
            let parts = calibration.variance_by_source(&known.point, &[], &[response])[0];
            assert!((parts.iter().sum::<f64>() - whole).abs() < 1e-9, "{parts:?} {whole}");
        }
    }
}
