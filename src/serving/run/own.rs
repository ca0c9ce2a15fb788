//! The visitor's measured runs as additional calibration points.

use std::sync::Arc;

use super::settle::{self, Measuring};
use super::{Run, RunOptions, Runner};
use crate::calibration::{
    Calibration, ConfigPoint, Factors, KnownRun, Observation, Observed, Responses, shipped,
};
use crate::config::catalog::catalog;
use crate::config::{Dtype, Field, Issue, Lengths, Load, Measured, Metric, Scenario, check};
use crate::efficiency::{AskModels, Efficiencies};
use crate::serving::plan_among;
use crate::serving::runner;
use crate::serving::sim::Stats;
use crate::serving::table::Tables;
use crate::units::{Order, fixed, percent};

/// Cache of observed runs: they are not simulated again on every change.
#[derive(Debug, Default)]
pub struct OwnRuns {
    observed: Vec<(Scenario, Observing)>,
    /// The last result for all of them together.
    said: Option<(Arc<[KnownRun]>, Vec<Issue>)>,
}

/// A run's calibration point at the physics and, unless there are too many runs, what is needed to settle it; or why
/// the run cannot be used.
type Observing = Result<(KnownRun, Option<Arc<Measuring>>), String>;

impl OwnRuns {
    /// Calibration points for `runs`, given the models behind `ask`, and issues. Runs that cannot be used are
    /// reported and left out.
    ///
    /// # Errors
    /// Errors of `ask`.
    pub fn of<E>(
        &mut self,
        runs: &[Scenario],
        ask: AskModels<'_, E>,
    ) -> Result<(Arc<[KnownRun]>, Vec<Issue>), E> {
        // What was observed may be empty while the models have not answered.
        if runs.is_empty() {
            *self = Self::default();
            return Ok(Default::default());
        }
        let is_same = self.observed.iter().map(|(run, _)| run).eq(runs);
        if let Some(said) = self.said.as_ref().filter(|_| is_same) {
            return Ok(said.clone());
        }
        let (mut known, mut measuring, mut issues) = (Vec::new(), Vec::new(), Vec::new());
        let (before, mut tables) = (std::mem::take(&mut self.observed), Tables::default());
        let settles = runs.len() <= settle::MOST;
        let serves =
            |observing: &Observing| !settles || observing.as_ref().map_or(true, |(_, again)| again.is_some());
        // Runs that share a table are handled one after another, so that it is planned once.
        let mut order: Vec<usize> = (0..runs.len()).collect();
        order.order_by(|&one, &other| place(&runs[one]).cmp(&place(&runs[other])));
        let mut all = vec![None; runs.len()];
        for at in order {
            let run = &runs[at];
            all[at] = match before.iter().find(|(seen, known)| seen == run && serves(known)) {
                Some((_, observing)) => Some(observing.clone()),
                None => observe(run, settles, &mut tables, ask)?,
            };
        }
        for ((number, run), observing) in (1_u32..).zip(runs).zip(all) {
            // Unknown until the learned models answer.
            let Some(observing) = observing else { continue };
            self.observed.push((run.clone(), observing.clone()));
            match observing {
                Ok((one, again)) => {
                    known.push((number, one));
                    measuring.push(again);
                }
                Err(reason) => {
                    issues.push(Issue::warning(
                        Field::Runs,
                        format!("your run {number} is left out: {reason}"),
                    ));
                }
            }
        }
        if !known.is_empty() {
            let calibration = shipped();
            let mut contradicting = weigh(calibration, &mut known);
            if settle::settle(calibration, &mut known, &measuring) {
                contradicting = weigh(calibration, &mut known);
            }
            let named = |(number, text)| Issue::warning(Field::Runs, format!("your run {number} {text}"));
            issues.extend(contradicting.into_iter().map(named));
        }
        if self.observed.len() < runs.len() {
            let text =
                "your runs have no effect yet: they calibrate the learned models, which have not answered";
            issues.push(Issue::note(Field::Runs, text));
        }
        let said = (known.into_iter().map(|(_, one)| one).collect(), issues);
        self.said = Some(said.clone());
        Ok(said)
    }
}

/// What the table of a run depends on: its system, then its lengths.
fn place(run: &Scenario) -> ([&str; 3], Option<Dtype>, [u32; 6]) {
    let prompt = match run.workload.isl {
        Lengths::Fixed(prompt) => prompt,
        Lengths::Each(_) => 0,
    };
    let sizes =
        [run.parallel.tp, run.parallel.pp, run.parallel.dp, run.parallel.ep, run.workload.osl, prompt];
    ([run.model.id(), &run.gpu, &run.engine], run.weights, sizes)
}

/// `None` without the learned models, or if the calibration is for another release.
fn observe<E>(
    run: &Scenario,
    settles: bool,
    tables: &mut Tables,
    ask: AskModels<'_, E>,
) -> Result<Option<Observing>, E> {
    let wrong = |issues: &[Issue]| {
        issues.iter().find(|issue| issue.is_error()).map_or(String::new(), Issue::sentence)
    };
    let (setup, found) = check(run, catalog());
    let Some(setup) = setup else { return Ok(Some(Err(wrong(&found)))) };
    let (plan, rows) = match plan_among(&setup, None, tables) {
        Ok(planned) => planned,
        Err(found) => return Ok(Some(Err(wrong(&found)))),
    };
    let efficiencies = ask(&rows)?;
    if super::calibrated::calibration_of(&efficiencies).is_none() {
        return Ok(None);
    }
    let Some(learned) = runner(&plan, &efficiencies).filter(|runner| runner.calibration.is_some()) else {
        let reason =
            "a run calibrates only if it fits in memory and is neither a static batch nor disaggregated";
        return Ok(Some(Err(reason.into())));
    };
    let ideal = || runner(&plan, &Efficiencies::Roofline)?.at_peak(setup.workload.load);
    let known = learned.observed(setup.workload.load, &run.measured, ideal);
    let measuring = Measuring { runner: learned, measured: run.measured };
    Ok(Some(known.map(|known| (known, settles.then(|| Arc::new(measuring))))))
}

/// Fraction of the ideal time below which a measurement is implausible; leaves room for rounding.
pub(super) const IMPOSSIBLE: f64 = 0.95;

impl Runner {
    /// The fastest run that the hardware allows: that of a runner at the roofline, on a host that takes no time.
    pub fn at_peak(self, load: Load) -> Option<Run> {
        self.without_host().alone(load).ok()
    }

    /// This runner on a host that takes no time, because no hardware figure bounds host time.
    fn without_host(mut self) -> Self {
        self.setup.engine.host = self.setup.engine.host.without_steps();
        self.policy = self.policy.without_frontend();
        self
    }

    /// The run of the physics alone.
    fn alone(&self, load: Load) -> Result<Run, Issue> {
        let steps = self.steps();
        let options = RunOptions::new(Factors::NONE, true, &steps);
        self.simulated_with(&self.setup, load, options)
    }

    /// Compares what was `measured` under `load` with the physics. `ideal` gives the run at the roofline.
    ///
    /// # Errors
    /// Why nothing can be learned from it.
    pub fn observed(
        &self,
        load: Load,
        measured: &Measured,
        ideal: impl FnOnce() -> Option<Run>,
    ) -> Result<KnownRun, String> {
        let responses = self.responses(load, Factors::NONE)?;
        let observed = observations(&responses, load, measured, Factors::NONE);
        let furthest = self.calibration.map(|calibration| calibration.outliers.furthest);
        let of = |run: &Run| {
            let ratio = |&of: &Observed| Some((of, log_ratio(of.metric(), measured, run)?));
            compared(load, measured).iter().filter_map(ratio).collect::<Vec<_>>()
        };
        // For rates, higher is faster; for times, lower.
        let is_below = |&(of, ratio): &(Observed, f64), least: f64| {
            let sign = if of.metric().is_time() { 1.0 } else { -1.0 };
            of != Observed::Ttft && sign * ratio < least.ln()
        };
        // A measurement that no engine could reach is reported before one that is far from the prediction. The ideal is
        // only simulated for measurements faster than predicted: all others are slower than the ideal, too.
        if of(&responses.at).iter().any(|one| is_below(one, 1.0))
            && let Some((of, _)) = ideal().iter().flat_map(of).find(|one| is_below(one, IMPOSSIBLE))
        {
            return Err(format!("its {} is better than the hardware's peak rates allow", of.name()));
        }
        for (of, ratio) in of(&responses.at) {
            if furthest.is_some_and(|furthest| ratio.abs() > furthest) {
                let far = times(ratio.exp());
                return Err(format!("its {} is {far} the prediction, too far off to learn from", of.name()));
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

impl Runner {
    /// The run of `load` at these factors, and what longer steps change.
    ///
    /// # Errors
    /// What to change so that it can be served.
    pub(super) fn responses(&self, load: Load, factors: Factors) -> Result<Responses<Run>, String> {
        let steps = self.steps();
        let run = |factors, at: Option<&Run>| {
            let options = RunOptions::new(factors, true, &steps);
            self.simulated_with(&self.setup, load, at.map_or(options, |at| options.beside(at)))
        };
        Responses::of(factors, run).map_err(|issue| issue.sentence())
    }
}

/// The measurements of a run, evaluated around the run at `factors`: the logarithm of measured over predicted by the
/// physics, if the prediction responded to its factors everywhere as it does there.
pub(super) fn observations(
    responses: &Responses<Run>,
    load: Load,
    measured: &Measured,
    factors: Factors,
) -> Vec<Observation> {
    let logs = factors.logs();
    let observation = |&of: &Observed| {
        let metric = of.metric();
        let median = measured.of(metric).mean.is_none();
        let response = responses.response(of.waits(), |run| run.metric(metric, median).unwrap_or(f64::NAN));
        let of_factors: f64 = response.iter().zip(logs).map(|(by, log)| by * log).sum();
        let log_ratio = log_ratio(metric, measured, &responses.at)? + of_factors;
        let one = Observation { metric: of, log_ratio, response, weight: 1.0 };
        log_ratio.is_finite().then_some(one)
    };
    compared(load, measured).iter().filter_map(observation).collect()
}

/// The logarithm of measured over that of `run`; `None` if either is missing.
fn log_ratio(metric: Metric, measured: &Measured, run: &Run) -> Option<f64> {
    let figure = measured.of(metric);
    let value = figure.value()? * if metric.is_time() { 1e-3 } else { 1.0 };
    Some((value / run.metric(metric, figure.mean.is_none())?).ln())
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
fn compared(load: Load, measured: &Measured) -> &'static [Observed] {
    let times = &[Observed::Ttft, Observed::Tpot];
    let has_times = times.iter().any(|of| measured.of(of.metric()).value().is_some());
    match load {
        // Everything that arrives is served, whatever the step times.
        Load::Rate(_) | Load::ConstantRate(_) | Load::SessionRate(_) => times,
        Load::Concurrency(_) | Load::Sessions(_) if has_times => times,
        Load::Concurrency(_) | Load::Sessions(_) => &[Observed::Throughput],
        Load::Burst(_) | Load::Offline(_) | Load::Batch(_) => &[Observed::Throughput],
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
        let others = all[..index].iter().chain(&all[index + 1..]);
        let posterior = calibration.posterior(&one.point, others, |_| true);
        for observation in &mut one.observed {
            let away = observation.log_ratio - posterior.expected(observation.response);
            let (spread, noise) =
                (posterior.variance(observation.response), calibration.noise.of(observation.metric));
            let share = noise / (spread + noise);
            let of_noise = (share * away).powi(2) + share * spread;
            let tails = calibration.outliers.tails;
            observation.weight = (tails + 1.0) / (tails + of_noise / noise);
            if away.abs() > CONTRADICTS * (spread + noise).sqrt() {
                let (others, suggest, then) = match all.len() {
                    1 => ("published runs", "they suggest", "check how it was run, or leave it out"),
                    // Either may be at fault, and both are reported.
                    2 => {
                        ("the other", "it suggests", "measure both again, and leave out the one that changes")
                    }
                    _ => ("the others", "they suggest", "measure it again, or leave it out"),
                };
                let text = format!(
                    "contradicts {others}: its {} is {} {} than {suggest}; {then}",
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
