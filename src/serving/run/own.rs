//! The visitor's measured runs as additional calibration points.

use std::sync::Arc;

use super::{Run, Runner};
use crate::calibration::{
    Calibration, ConfigPoint, Factors, KnownRun, Observation, Observed, Responses, shipped,
};
use crate::config::catalog::Catalog;
use crate::config::{Field, Issue, Load, Measured, Metric, Scenario, check};
use crate::efficiency::{Efficiencies, Rows};
use crate::serving::plan::plan;
use crate::serving::runner;
use crate::serving::sim::Stats;
use crate::units::{fixed, percent};

/// Cache of observed runs: they are not simulated again on every change.
#[derive(Debug, Default)]
pub struct OwnRuns {
    observed: Vec<(Scenario, Observing)>,
    /// Their last joint result.
    said: Option<(Arc<[KnownRun]>, Vec<Issue>)>,
}

/// A run's calibration point, or why it cannot be used.
type Observing = Result<KnownRun, String>;

impl OwnRuns {
    /// Calibration points for `runs`, given the models behind `ask`, and issues. Runs that cannot be used are
    /// reported and left out.
    ///
    /// # Errors
    /// Errors of `ask`.
    pub fn of<E>(
        &mut self,
        runs: &[Scenario],
        catalog: &Catalog,
        ask: impl Fn(&Rows) -> Result<Efficiencies, E>,
    ) -> Result<(Arc<[KnownRun]>, Vec<Issue>), E> {
        let is_same = self.observed.iter().map(|(run, _)| run).eq(runs);
        if let Some(said) = self.said.as_ref().filter(|_| is_same) {
            return Ok(said.clone());
        }
        let (mut known, mut issues) = (Vec::new(), Vec::new());
        let before = std::mem::take(&mut self.observed);
        for (number, run) in (1_u32..).zip(runs) {
            let observing = match before.iter().find(|(seen, _)| seen == run) {
                Some((_, observing)) => Some(observing.clone()),
                None => observe(run, catalog, &ask)?,
            };
            // Unknown until the learned models answer.
            let Some(observing) = observing else { continue };
            self.observed.push((run.clone(), observing.clone()));
            match observing {
                Ok(one) => known.push((number, one)),
                Err(reason) => {
                    issues.push(Issue::warning(Field::Runs, format!("your run {number}: {reason}")));
                }
            }
        }
        if let Some(calibration) = shipped().filter(|_| !known.is_empty()) {
            let contradicting = weigh(calibration, &mut known).into_iter();
            let named = |(number, text)| Issue::warning(Field::Runs, format!("your run {number} {text}"));
            issues.extend(contradicting.map(named));
        }
        if self.observed.len() < runs.len() {
            let text = "your runs calibrate the learned models, which have not answered";
            issues.push(Issue::note(Field::Runs, text));
        }
        let said = (known.into_iter().map(|(_, one)| one).collect(), issues);
        self.said = Some(said.clone());
        Ok(said)
    }
}

/// `None` without the learned models, or if the calibration is for another release.
fn observe<E>(
    run: &Scenario,
    catalog: &Catalog,
    ask: &impl Fn(&Rows) -> Result<Efficiencies, E>,
) -> Result<Option<Observing>, E> {
    let wrong = |issues: &[Issue]| {
        issues.iter().find(|issue| issue.is_error()).map_or(String::new(), Issue::sentence)
    };
    let (setup, found) = check(run, catalog);
    let Some(setup) = setup else { return Ok(Some(Err(wrong(&found)))) };
    let (plan, rows) = match plan(&setup) {
        Ok(planned) => planned,
        Err(found) => return Ok(Some(Err(wrong(&found)))),
    };
    let efficiencies = ask(&rows)?;
    if super::calibrated::calibration_of(&efficiencies).is_none() {
        return Ok(None);
    }
    let Some(learned) = runner(&plan, &efficiencies).filter(|runner| runner.calibration.is_some()) else {
        let reason = "only simulated loads of one pool that fit in memory can calibrate";
        return Ok(Some(Err(reason.into())));
    };
    let ideal = runner(&plan, &Efficiencies::Roofline).and_then(|ideal| ideal.alone(setup.load).ok());
    Ok(Some(learned.observed(setup.load, &run.measured, ideal.as_ref())))
}

/// Fraction of the ideal time below which a measurement is implausible; leaves room for rounding.
const IMPOSSIBLE: f64 = 0.95;

impl Runner {
    /// The run of the physics alone.
    fn alone(&self, load: Load) -> Result<Run, Issue> {
        self.simulated(&self.setup, load, Factors::NONE)
    }

    /// Compares what was `measured` under `load` with the physics. `ideal` is the run at the roofline.
    ///
    /// # Errors
    /// Why nothing can be learned from it.
    pub fn observed(&self, load: Load, measured: &Measured, ideal: Option<&Run>) -> Result<KnownRun, String> {
        let responses = Responses::of(Factors::NONE, |factors| self.simulated(&self.setup, load, factors))
            .map_err(|issue| issue.sentence())?;
        let furthest = self.calibration.map(|calibration| calibration.outliers.furthest);
        let mut observed = Vec::new();
        for (metric, of) in compared(load, measured) {
            let figure = measured.of(metric);
            let Some(value) = figure.value() else { continue };
            let of_run = |run: &Run| run.metric(metric, figure.mean.is_none()).unwrap_or(f64::NAN);
            let value = if metric.is_time() { value * 1e-3 } else { value };
            let log_ratio = (value / of_run(&responses.at)).ln();
            // For rates, higher is faster; for times, lower.
            let (limit, sign) = (ideal.map(of_run), if metric.is_time() { 1.0 } else { -1.0 });
            if metric != Metric::Ttft
                && limit.is_some_and(|limit| sign * (value / limit).ln() < IMPOSSIBLE.ln())
            {
                return Err(format!("its {} is better than the hardware's peak rates allow", of.name()));
            }
            if furthest.is_some_and(|furthest| log_ratio.abs() > furthest) {
                let far = times(log_ratio.exp());
                return Err(format!("its {} is {far} what is predicted, too far to learn from", of.name()));
            }
            if log_ratio.is_finite() {
                observed.push(Observation {
                    metric: of,
                    log_ratio,
                    response: responses.response(of.waits(), of_run),
                    weight: 1.0,
                });
            }
        }
        if observed.is_empty() {
            return Err(
                "it has no measurement to calibrate on: give TTFT and TPOT, or output tokens per second"
                    .into(),
            );
        }
        Ok(KnownRun::new(ConfigPoint::of(&self.setup, responses.at.metrics.in_flight), observed))
    }
}

/// `3.21 times`, or for a small part of it `less than a hundredth of`.
fn times(ratio: f64) -> String {
    const SMALLEST: f64 = 0.01;
    match ratio {
        ratio if ratio < SMALLEST => "less than a hundredth of".into(),
        ratio => format!("{} times", fixed(ratio, 2)),
    }
}

/// Metrics that reflect step times: TTFT and TPOT of a load in balance; the rate if requests are served to
/// exhaustion or nothing else is known.
fn compared(load: Load, measured: &Measured) -> Vec<(Metric, Observed)> {
    let rate = vec![(Metric::Output, Observed::Throughput)];
    let times = vec![(Metric::Ttft, Observed::Ttft), (Metric::Tpot, Observed::Tpot)];
    let has_times = times.iter().any(|(metric, _)| measured.of(*metric).value().is_some());
    match load {
        Load::Burst(_) | Load::Offline(_) | Load::Batch(_) => rate,
        // Everything that arrives is served, whatever the step times.
        Load::Rate(_) | Load::ConstantRate(_) | Load::SessionRate(_) => times,
        Load::Concurrency(_) | Load::Sessions(_) => {
            if has_times {
                times
            } else {
                rate
            }
        }
    }
}

impl Run {
    /// The mean, or the median of a time, to compare with measurements: seconds, output tokens per second.
    pub fn metric(&self, metric: Metric, median: bool) -> Option<f64> {
        let time = |stats: Stats| if median { stats.p50 } else { stats.mean };
        match metric {
            Metric::Ttft => Some(time(self.metrics.ttft)),
            Metric::Tpot => self.metrics.tpot.map(time),
            Metric::Output => Some(self.metrics.output_per_s),
            Metric::E2e => Some(time(self.metrics.e2e)),
            Metric::Requests => Some(self.metrics.requests_per_s),
            Metric::Total => Some(self.metrics.total_per_s),
        }
    }
}

/// Standard deviations from the other runs' prediction beyond which a run contradicts them.
const CONTRADICTS: f64 = 3.0;

/// Gives poorly fitting runs a small weight, and describes contradictions, by run number.
pub fn weigh(calibration: &Calibration, known: &mut [(u32, KnownRun)]) -> Vec<(u32, String)> {
    let all: Vec<KnownRun> = known.iter().map(|(_, one)| one.clone()).collect();
    let mut found = Vec::new();
    for (index, (number, one)) in known.iter_mut().enumerate() {
        let others: Vec<KnownRun> =
            all.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, one)| one.clone()).collect();
        let posterior = calibration.posterior(&one.point, &others, |_| true);
        for observation in &mut one.observed {
            let away = observation.log_ratio - posterior.expected(observation.response);
            let (spread, noise) =
                (posterior.variance(observation.response), calibration.noise.of(observation.metric));
            let share = noise / (spread + noise);
            let of_noise = (share * away).powi(2) + share * spread;
            let tails = calibration.outliers.tails;
            observation.weight = (tails + 1.0) / (tails + of_noise / noise);
            if away.abs() > CONTRADICTS * (spread + noise).sqrt() {
                let text = format!(
                    "contradicts the others: its {} is {} {} than they suggest, so it counts less",
                    observation.metric.name(),
                    percent((away.exp() - 1.0).abs()),
                    if away > 0.0 { "higher" } else { "lower" },
                );
                found.push((*number, text));
            }
        }
    }
    found
}
