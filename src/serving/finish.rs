//! Turns a plan and the models' answers into a report.

use crate::calibration::Factors;
use crate::config::Setup;
use crate::efficiency::Efficiencies;
use crate::graph::Phase;
use crate::units::{Dollars, Seconds};

use super::breakdown::breakdown;
use super::fit::{prompts_of_one_replica, tokens_held};
use super::issues;
use super::plan::{LoadPlan, Offline, Plan, Steps};
use super::report::{Basis, Headline, PassReport, Report};
use super::run::{Power, Run, Runner};
use super::step::PlannedStep;

/// Finishes `plan`. `None` if `efficiencies` answers other rows than the plan's.
pub fn finish(plan: &Plan, efficiencies: &Efficiencies) -> Option<Report> {
    Some(answer(plan, efficiencies)?.0)
}

/// The report of [`finish`], with a runner for other loads of this setup if the plan has a run.
pub fn answer(plan: &Plan, efficiencies: &Efficiencies) -> Option<(Report, Option<Runner>)> {
    let basis = match efficiencies {
        Efficiencies::Roofline => Basis::Roofline,
        Efficiencies::Learned(learned) => Basis::Learned { release: learned.release.clone() },
    };
    let (memory, issues) = (plan.memory.clone(), plan.issues.clone());
    let prefill_memory = plan.of_prefill.clone();
    let report = Report {
        basis,
        memory,
        prefill_memory,
        headline: None,
        run: None,
        calibrated: None,
        alone: None,
        passes: Vec::new(),
        issues,
    };
    let finisher = Finisher { plan, efficiencies };
    match &plan.steps {
        None => Some((report, None)),
        Some(Steps::Offline(offline)) => Some((finisher.offline(offline, report)?, None)),
        Some(Steps::Served(served)) => {
            let runner = runner(plan, efficiencies)?;
            Some((finisher.served(served, &runner, report)?, Some(runner)))
        }
    }
}

/// Only the runner. `None` if `efficiencies` answers other rows than the plan's, or the plan has no run.
pub fn runner(plan: &Plan, efficiencies: &Efficiencies) -> Option<Runner> {
    match &plan.steps {
        Some(Steps::Served(served)) => served.run.finish(efficiencies),
        _ => None,
    }
}

struct Finisher<'a> {
    plan: &'a Plan,
    efficiencies: &'a Efficiencies,
}

impl Finisher<'_> {
    fn setup(&self) -> &Setup {
        &self.plan.setup
    }

    /// A step's seconds, and the joules of one GPU per stage.
    fn spent(&self, step: &PlannedStep) -> Option<(f64, f64)> {
        let finished = step.finish(self.setup(), self.efficiencies)?;
        Some((finished.time.total.0, finished.joules.0))
    }

    fn pass(&self, step: &PlannedStep, phase: Phase) -> Option<PassReport> {
        self.pass_of(self.setup(), step, phase)
    }

    fn pass_of(&self, setup: &Setup, step: &PlannedStep, phase: Phase) -> Option<PassReport> {
        let finished = step.finish(setup, self.efficiencies)?;
        Some(breakdown(setup, step, &finished, phase))
    }

    fn offline(&self, offline: &Offline, report: Report) -> Option<Report> {
        let (ttft, prefill_joules) = self.spent(&offline.prefill)?;
        let ttft = Seconds(ttft);
        let (mut curve, mut joules) = (Vec::new(), Vec::new());
        for (step, planned) in &offline.decode {
            let (seconds, spent) = self.spent(planned)?;
            curve.push((*step as f64, seconds));
            joules.push((*step as f64, spent));
        }
        let setup = self.setup();
        let (osl, steps) = (f64::from(setup.workload.osl), f64::from(setup.workload.osl.saturating_sub(1)));
        // Below 1 with accepted drafts.
        let per_token = if steps > 0.0 { setup.decode_steps() / steps } else { 1.0 };
        let tpot = (!curve.is_empty()).then(|| Seconds(mean_over_steps(&curve, steps) * per_token));
        let e2e = ttft + tpot.unwrap_or(Seconds::ZERO) * steps;
        let requests_per_s = offline.requests / e2e.0;
        let of_stages = prefill_joules + mean_over_steps(&joules, steps) * setup.decode_steps();
        let of_replica = prompts_of_one_replica(setup).len() as f64;
        let busy = (offline.requests / of_replica).min(f64::from(setup.replicas));
        let dynamic = of_stages * f64::from(setup.parallel.gpus_per_stage()) * busy / e2e.0;
        let output_per_s = requests_per_s * osl;
        let headline = Headline {
            ttft,
            tpot,
            e2e,
            requests_per_s,
            output_per_s,
            total_per_s: requests_per_s * (setup.mean_prompt() + osl),
            output_per_s_per_gpu: output_per_s / f64::from(setup.gpus()),
            sustained_output_per_s: output_per_s,
            output_per_s_per_user: tpot.map(|tpot| 1.0 / tpot.0),
            running: of_replica,
            waiting: 0.0,
            dollars_per_million: self.dollars_per_million(output_per_s),
            power: Power::of(setup, dynamic, output_per_s, requests_per_s),
        };
        let mut passes = vec![self.pass(&offline.prefill, Phase::Prefill)?];
        if let Some((_, middle)) = offline.decode.get(offline.decode.len() / 2) {
            passes.push(self.pass(middle, Phase::Decode)?);
        }
        Some(Report { headline: Some(headline), passes, ..report })
    }

    fn served(&self, served: &LoadPlan, runner: &Runner, mut report: Report) -> Option<Report> {
        report.passes.push(self.pass_of(self.setup().prefill_setup(), &served.prompt, Phase::Prefill)?);
        let run = runner.calibrated(self.setup().workload.load);
        let decoding = run.as_ref().map_or(f64::INFINITY, |(run, _)| decoding(run));
        // A run of pools is of all their replicas.
        let replicas = f64::from(self.setup().replicas / self.setup().copies());
        let of_rank = decoding / replicas / f64::from(self.setup().parallel.batches());
        if let Some(step) = nearest(&served.decode, of_rank) {
            report.passes.push(self.pass(step, Phase::Decode)?);
        }
        let (run, calibrated) = match run {
            Ok(run) => run,
            Err(issue) => {
                report.issues.push(issue);
                return Some(report);
            }
        };
        let metrics = &run.metrics;
        let sustained = run.sustained(metrics.output_per_s);
        let headline = Headline {
            ttft: Seconds(metrics.ttft.mean),
            tpot: metrics.tpot.map(|tpot| Seconds(tpot.mean)),
            e2e: Seconds(metrics.e2e.mean),
            requests_per_s: metrics.requests_per_s,
            output_per_s: metrics.output_per_s,
            total_per_s: metrics.total_per_s,
            output_per_s_per_gpu: metrics.output_per_s / f64::from(self.setup().gpus()),
            sustained_output_per_s: sustained,
            output_per_s_per_user: metrics.tpot.map(|tpot| 1.0 / tpot.mean),
            running: metrics.running / replicas,
            waiting: metrics.waiting / replicas,
            dollars_per_million: self.dollars_per_million(sustained),
            power: run.power,
        };
        if self.setup().workload.load.is_rate() {
            report.memory = report.memory.holding(self.setup(), headline.running, tokens_held(self.setup()));
        }
        report.issues.extend(issues::of_run(self.setup(), &run, &report.passes));
        report.issues.extend(calibrated.as_ref().and_then(|_| issues::contradicted(self.setup())));
        let factors = calibrated.as_ref().map_or(Factors::NONE, |calibrated| calibrated.factors);
        let alone = runner.without_others(factors);
        Some(Report { headline: Some(headline), run: Some(run), calibrated, alone, ..report })
    }

    /// Cost at a rate of output tokens; `None` without a price.
    fn dollars_per_million(&self, output_per_s: f64) -> Option<Dollars> {
        Dollars(self.setup().dollars_per_hour()?).per_million(output_per_s)
    }
}

/// Mean number of requests per replica between first and last token.
pub(super) fn decoding(run: &Run) -> f64 {
    run.metrics.in_flight * (1.0 - run.metrics.ttft.mean / run.metrics.e2e.mean)
}

/// Mean of a piecewise-linear curve over the steps `0 .. count`.
fn mean_over_steps(curve: &[(f64, f64)], count: f64) -> f64 {
    let whole = count as u64;
    let sum: f64 = (0..whole).map(|step| interpolate(curve, step as f64)).sum();
    sum / whole.max(1) as f64
}

/// Piecewise linear; constant outside.
fn interpolate(curve: &[(f64, f64)], at: f64) -> f64 {
    let after = curve.partition_point(|point| point.0 < at);
    match (after.checked_sub(1).and_then(|before| curve.get(before)), curve.get(after)) {
        (Some(before), Some(after)) => {
            before.1 + (after.1 - before.1) * (at - before.0) / (after.0 - before.0)
        }
        (Some(point), None) | (None, Some(point)) => point.1,
        (None, None) => 0.0,
    }
}

fn nearest(steps: &[(u64, PlannedStep)], size: f64) -> Option<&PlannedStep> {
    let distance = |candidate: u64| (candidate as f64 / size.clamp(1.0, 1e9)).ln().abs();
    steps.iter().min_by(|a, b| distance(a.0).total_cmp(&distance(b.0))).map(|(_, step)| step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolation_is_exact_at_the_points() {
        let curve = [(1.0, 10.0), (3.0, 30.0)];
        assert_eq!(interpolate(&curve, 1.0), 10.0);
        assert_eq!(interpolate(&curve, 2.0), 20.0);
        assert_eq!(interpolate(&curve, 9.0), 30.0);
        assert_eq!(interpolate(&curve, 0.0), 10.0);
    }

    #[test]
    fn mean_of_a_line_is_its_middle() {
        assert!((mean_over_steps(&[(0.0, 1.0), (10.0, 11.0)], 11.0) - 6.0).abs() < 1e-12);
    }
}
