//! From a plan and the models' answer to the report.

use crate::config::{Batching, Field, Issue, Load, Setup};
use crate::efficiency::Efficiencies;
use crate::graph::Phase;
use crate::units::{Dollars, Seconds, count};

use super::breakdown::breakdown;
use super::fit::{prompts_of_one_replica, tokens_held};
use super::plan::{MixedPrefill, Offered, Offline, Plan, Steady, Steps};
use super::replica::{admission, decides_ahead};
use super::report::{Basis, Headline, PassReport, Report};
use super::steady::{self, Costs, solve, solve_rate};
use super::step::PlannedStep;

/// Finishes `plan`. None if `efficiencies` answers other rows than the plan's.
pub fn finish(plan: &Plan, efficiencies: &Efficiencies) -> Option<Report> {
    let basis = match efficiencies {
        Efficiencies::Roofline => Basis::Roofline,
        Efficiencies::Learned(learned) => Basis::Learned { release: learned.release.clone() },
    };
    let finisher = Finisher { plan, efficiencies };
    let Answer { headline, shown, too_much } = finisher.answer()?;
    let passes = shown.iter().map(|&(step, phase)| finisher.report(step, phase)).collect::<Option<_>>()?;
    let mut memory = plan.memory.clone();
    if let (Load::Rate(_), Some(headline)) = (plan.setup.load, &headline) {
        memory = memory.holding(&plan.setup, headline.running, tokens_held(&plan.setup));
    }
    let issues = plan.issues.iter().cloned().chain(too_much).collect();
    Some(Report { basis, memory, headline, passes, issues })
}

/// Share of its capacity that a replica is advised to be loaded to.
const FULL_USE: f64 = 0.9;

struct Finisher<'a> {
    plan: &'a Plan,
    efficiencies: &'a Efficiencies,
}

#[derive(Default)]
struct Answer<'a> {
    headline: Option<Headline>,
    /// Steps to be taken apart.
    shown: Vec<(&'a PlannedStep, Phase)>,
    /// Requests come faster than they are served.
    too_much: Option<Issue>,
}

impl<'a> Finisher<'a> {
    fn answer(&self) -> Option<Answer<'a>> {
        match &self.plan.steps {
            None => Some(Answer::default()),
            Some(Steps::Offline(offline)) => self.offline(offline),
            Some(Steps::Steady(steady)) => self.steady(steady),
        }
    }

    fn setup(&self) -> &Setup {
        &self.plan.setup
    }

    fn time(&self, step: &PlannedStep) -> Option<Seconds> {
        Some(step.finish(self.setup(), &self.plan.physics, self.efficiencies)?.time.total())
    }

    fn report(&self, step: &PlannedStep, phase: Phase) -> Option<PassReport> {
        let finished = step.finish(self.setup(), &self.plan.physics, self.efficiencies)?;
        Some(breakdown(self.setup(), step, &finished, phase))
    }

    fn offline(&self, offline: &'a Offline) -> Option<Answer<'a>> {
        let ttft = self.time(&offline.prefill)?;
        let mut curve = Vec::new();
        for (step, planned) in &offline.decode {
            curve.push((*step as f64, self.time(planned)?.0));
        }
        let steps = f64::from(self.setup().osl.saturating_sub(1));
        let per_token = self.steps_per_token();
        let tpot = (!curve.is_empty()).then(|| Seconds(mean_over_steps(&curve, steps) * per_token));
        let e2e = ttft + tpot.unwrap_or(Seconds::ZERO) * steps;
        let rate = offline.requests / e2e.0;
        let running = prompts_of_one_replica(self.setup()).len() as f64;
        let mut shown = vec![(&offline.prefill, Phase::Prefill)];
        if let Some((_, middle)) = offline.decode.get(offline.decode.len() / 2) {
            shown.push((middle, Phase::Decode));
        }
        let headline = Some(self.headline(ttft, tpot, rate, running, 0.0));
        Some(Answer { headline, shown, too_much: None })
    }

    fn steady(&self, steady: &'a Steady) -> Option<Answer<'a>> {
        let decode = self.curve(&steady.decode)?;
        let mixed = self.setup().engine.scheduler.batching != Batching::PrefillFirst;
        let stalls = steady.prefill.iter().map(|mixed| self.stalls(mixed, &decode));
        let stalls = stalls.collect::<Option<Vec<_>>>()?;
        let costs = Costs {
            decode: &|sequences| Seconds(interpolate(&decode, sequences)),
            stall: &|prompts, decoding| {
                let of = |(beside, stalls): &(f64, Vec<(f64, f64)>)| (*beside, interpolate(stalls, prompts));
                let by_decoding: Vec<_> = stalls.iter().map(of).collect();
                Seconds(interpolate(&by_decoding, decoding))
            },
            prompts_per_step: steady.prompts_per_step,
            mixed,
            pp: f64::from(self.setup().pp),
            ranks: f64::from(self.setup().dp),
            ahead: decides_ahead(self.setup()),
            admission: match self.efficiencies {
                Efficiencies::Roofline => Seconds::ZERO,
                Efficiencies::Learned(_) => admission(&self.setup().engine.host, self.setup().mean_prompt()),
            },
        };
        let steps = self.setup().decode_steps();
        let (headline, decoding, too_much) = match steady.offered {
            Offered::Clients { clients, replicas } => {
                let state = solve(&costs, steady.running, steps);
                // Those beyond the engine's slots wait for one to be free (Little's law over the whole system).
                let waiting = clients - steady.running;
                let ttft = state.ttft + Seconds(waiting / state.rate);
                let headline = self.steady_headline(&state, ttft, replicas, steady.running, waiting);
                (Some(headline), state.decoding, None)
            }
            Offered::Rate(rate) => match solve_rate(&costs, rate, steady.running, steps) {
                Ok(state) => {
                    let running = state.decoding + rate * state.ttft.0;
                    let replicas = f64::from(self.setup().replicas);
                    let headline = self.steady_headline(&state, state.ttft, replicas, running, 0.0);
                    (Some(headline), state.decoding, None)
                }
                Err(served) => (None, steady.running, Some(self.too_much(rate, served))),
            },
        };
        let decode = nearest(&steady.decode, decoding / f64::from(self.setup().pp * self.setup().dp))?;
        let shown = vec![(&steady.alone, Phase::Prefill), (decode, Phase::Decode)];
        Some(Answer { headline, shown, too_much })
    }

    fn steady_headline(
        &self,
        state: &steady::Steady,
        ttft: Seconds,
        replicas: f64,
        running: f64,
        waiting: f64,
    ) -> Headline {
        let tpot = (self.setup().osl > 1).then(|| state.tpot * self.steps_per_token());
        self.headline(ttft, tpot, state.rate * replicas, running, waiting)
    }

    /// Below 1 where drafts are accepted.
    fn steps_per_token(&self) -> f64 {
        let tokens = f64::from(self.setup().osl.saturating_sub(1));
        if tokens > 0.0 { self.setup().decode_steps() / tokens } else { 1.0 }
    }

    /// Both rates are of one replica.
    fn too_much(&self, rate: f64, served: f64) -> Issue {
        let replicas = f64::from(self.setup().replicas);
        let text = format!(
            "Arrivals exceed capacity: TTFT grows without bound. Lower the rate, or take {} replicas.",
            count((rate * replicas / (served * FULL_USE)).ceil()),
        );
        Issue::error(Field::Rate, text)
    }

    /// Sequences that decode, and what prompts add to their steps, by number of prompts.
    fn stalls(&self, mixed: &MixedPrefill, decode: &[(f64, f64)]) -> Option<(f64, Vec<(f64, f64)>)> {
        let decoding = mixed.decoding as f64;
        let alone = if mixed.decoding == 0 { 0.0 } else { interpolate(decode, decoding) };
        let mut stalls = Vec::new();
        for (prompts, chunks) in &mixed.prompts {
            let mut stall = 0.0;
            for (weight, chunk) in chunks {
                stall += weight * (self.time(chunk)?.0 - alone).max(0.0);
            }
            stalls.push((*prompts as f64, stall));
        }
        Some((decoding, stalls))
    }

    fn curve(&self, steps: &[(u64, PlannedStep)]) -> Option<Vec<(f64, f64)>> {
        steps.iter().map(|(size, step)| Some((*size as f64, self.time(step)?.0))).collect()
    }

    /// `rate` is that of all replicas together, in requests per second.
    fn headline(
        &self,
        ttft: Seconds,
        tpot: Option<Seconds>,
        rate: f64,
        running: f64,
        waiting: f64,
    ) -> Headline {
        let setup = self.setup();
        let osl = f64::from(setup.osl);
        let isl = setup.mean_prompt();
        let gpus = f64::from(setup.gpus_per_replica() * setup.replicas);
        let output = rate * osl;
        let steps = (osl - 1.0).max(0.0);
        Headline {
            ttft,
            tpot,
            e2e: ttft + tpot.unwrap_or(Seconds::ZERO) * steps,
            requests_per_s: rate,
            output_per_s: output,
            total_per_s: rate * (isl + osl),
            output_per_s_per_gpu: output / gpus,
            output_per_s_per_user: tpot.map(|tpot| 1.0 / tpot.0),
            running,
            waiting,
            dollars_per_million: setup.price.map(|price| Dollars(price * gpus / 3600.0 / output * 1e6)),
        }
    }
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
    let distance = |candidate: u64| (candidate as f64 / size.max(1.0)).ln().abs();
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
