//! A tighter bound than physics: the same closed form over a few learned and calibrated step times instead of ideal
//! ones.
//!
//! It is not strict, because learned times need not fall evenly with the batch size: layouts are pruned only if it
//! is worse than the plans found by a margin, which `tests/find` and `plan --compare` check against an exhaustive
//! search.

use crate::calibration::Factors;
use crate::config::catalog::numbers::estimates::constants;
use crate::config::{Batching, Load, Setup};
use crate::efficiency::{Efficiencies, Rows};
use crate::graph::Batch;
use crate::serving::run::factors;
use crate::serving::step::PlannedStep;
use crate::serving::table::octaves;

use super::bound::{RequestWork, replicas};

/// Some counted steps of a layout, before the models answer.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// Number of prompts prefilled together in one step, and that step.
    prompts: (f64, PlannedStep),
    decodes: Vec<Decode>,
    /// Decode steps per request.
    steps: f64,
    step_limit: f64,
}

/// A decode step, with and without prompts if the engine mixes them.
#[derive(Debug, Clone)]
struct Decode {
    /// Sequences per rank.
    size: f64,
    alone: PlannedStep,
    /// A step with prompt tokens spread evenly over all steps.
    even: Option<PlannedStep>,
    /// A step with a whole prompt, as in one step of several.
    whole: Option<PlannedStep>,
}

/// Step times of an [`Estimate`] in seconds.
#[derive(Debug)]
struct StepTimes {
    prompts: f64,
    decodes: Vec<DecodeTimes>,
}

/// Step times of a [`Decode`].
#[derive(Debug, Clone, Copy)]
struct DecodeTimes {
    alone: f64,
    even: Option<f64>,
    whole: Option<f64>,
}

/// Replicas needed for a load; `u32::MAX` if no number suffices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// Fewer are pruned.
    pub least: u32,
    /// Starting point of the search.
    pub expected: u32,
}

/// A replica serving as many requests as it can within the TPOT limit.
#[derive(Debug, Clone, Copy)]
struct Busiest {
    /// Replica seconds per request.
    per_request: f64,
    in_flight: f64,
}

/// Batch sizes evaluated per octave.
const SIZES: u32 = 1;
impl Estimate {
    /// An estimate, and its rows for the models. `None` if a catalog lacks a figure: planning reports which.
    pub fn new(setup: &Setup) -> Option<(Self, Rows)> {
        let mut rows = Rows::default();
        let work = RequestWork::of(setup);
        let mut step = |batch: Batch| PlannedStep::new(setup, batch, &mut rows).ok();
        let together = work.together(setup);
        let prompts = (together, step(work.prompts(together, f64::from(setup.parallel.dp)))?);
        let mixes = setup.engine.scheduler.batching != Batching::PrefillFirst;
        let mut decodes = Vec::new();
        if work.steps > 0.0 {
            for size in octaves(1, work.most as u64, SIZES) {
                let size = size as f64;
                let alone = step(work.decode(size, 0.0))?;
                let (even, whole) = match mixes {
                    true => (
                        Some(step(work.decode(size, size / work.steps))?),
                        Some(step(work.decode(size, 1.0))?),
                    ),
                    false => (None, None),
                };
                decodes.push(Decode { size, alone, even, whole });
            }
        }
        let step_limit = work.step_limit.unwrap_or(f64::INFINITY);
        Some((Self { prompts, decodes, steps: work.steps, step_limit }, rows))
    }

    /// `None` if `efficiencies` answers other rows.
    pub fn finish(&self, setup: &Setup, efficiencies: &Efficiencies) -> Option<Expected> {
        let times = self.times(setup, efficiencies)?;
        let plain = self.busiest(setup, &times, Factors::NONE);
        // Calibration at this number of requests in flight.
        let factors = factors(setup, efficiencies, plain.in_flight);
        let Busiest { per_request, in_flight } = self.busiest(setup, &times, factors);
        Some(Expected {
            least: replicas(setup, per_request * constants().margin),
            expected: match setup.workload.load {
                Load::Concurrency(clients) | Load::Sessions(clients) => {
                    (f64::from(clients) / in_flight).ceil() as u32
                }
                _ => replicas(setup, per_request * constants().busy),
            },
        })
    }

    /// Workers required for the load of `whole` if `setup` does only one half of the work, and the least seconds of one
    /// worker per request. The factor of the other half is 0.
    pub fn disaggregated(
        &self,
        setup: &Setup,
        whole: &Setup,
        (efficiencies, factors): (&Efficiencies, Factors),
    ) -> Option<(Expected, f64)> {
        let times = self.times(setup, efficiencies)?;
        let Busiest { per_request, .. } = self.busiest(setup, &times, factors);
        let workers = |share: f64| replicas(whole, per_request * share);
        let (least, expected) = (workers(constants().margin), workers(constants().busy));
        Some((Expected { least, expected }, per_request * constants().margin))
    }

    /// Seconds of each step, before calibration.
    fn times(&self, setup: &Setup, efficiencies: &Efficiencies) -> Option<StepTimes> {
        let time = |step: &PlannedStep| Some(step.finish(setup, efficiencies)?.time.total.0);
        let mixed = |step: &Option<PlannedStep>| match step {
            Some(step) => time(step).map(Some),
            None => Some(None),
        };
        let decode = |step: &Decode| {
            Some(DecodeTimes {
                alone: time(&step.alone)?,
                even: mixed(&step.even)?,
                whole: mixed(&step.whole)?,
            })
        };
        let decodes: Option<Vec<_>> = self.decodes.iter().map(decode).collect();
        Some(StepTimes { prompts: time(&self.prompts.1)?, decodes: decodes? })
    }

    /// The busiest replica at step times multiplied by `factors`.
    fn busiest(&self, setup: &Setup, times: &StepTimes, factors: Factors) -> Busiest {
        let prefill = times.prompts * factors.prefill / self.prompts.0;
        let parts = f64::from(setup.parallel.batches());
        let mut per_request = if self.decodes.is_empty() { prefill / parts } else { f64::INFINITY };
        let (mut before, mut in_flight): (Option<[f64; 3]>, f64) = (None, 1.0);
        for (Decode { size, .. }, &DecodeTimes { alone, even, whole }) in
            self.decodes.iter().zip(&times.decodes)
        {
            let size = *size;
            // Prompts of this many requests per step.
            let each = size / self.steps;
            let longer = |with: f64| alone * factors.decode + (with - alone) * factors.prefill;
            let mut step = alone * factors.decode + prefill * each;
            if let Some(even) = even {
                step = step.min(longer(even));
            }
            if let Some(whole) = whole.filter(|_| each <= 1.0) {
                step = step.min(longer(alone + (whole - alone) * each));
            }
            // Between its tokens a request sees the prompts of the others, and not its own.
            let seen = step - (step - alone * factors.decode) / size;
            // Step times are linear between two batch sizes: find the one that just meets the limit.
            let now = [size, step, seen];
            let now = match before {
                _ if seen <= self.step_limit => now,
                Some(last) if last[2] < self.step_limit => {
                    let share = (self.step_limit - last[2]) / (seen - last[2]);
                    std::array::from_fn(|of| last[of] + (now[of] - last[of]) * share)
                }
                _ => break,
            };
            let [at, step, _] = now;
            per_request = per_request.min(step * self.steps / (at * parts));
            in_flight = at * parts;
            before = Some(now);
        }
        Busiest { per_request, in_flight }
    }
}
