//! A bound nearer than physics: the same closed form over a few learned step times instead of ideal ones,
//! as long as measured runs say that steps are.
//!
//! It is no strict bound, because learned times need not fall evenly with the batch: layouts are left out only where it is
//! beyond what was found by a margin, which `tests/find` and `plan --compare` hold against a search without bounds.

use crate::calibration::Factors;
use crate::config::catalog::Physics;
use crate::config::{Batching, Load, Setup};
use crate::efficiency::{Efficiencies, Rows};
use crate::graph::Batch;
use crate::serving::run::factors;
use crate::serving::step::PlannedStep;
use crate::serving::table::octaves;

use super::bound::{Work, replicas};

/// Some steps of a layout, counted; the models have not answered yet.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// Prompts that one step takes together, and that step.
    prompts: (f64, PlannedStep),
    decodes: Vec<Decode>,
    /// Decode steps of a request.
    steps: f64,
    step_limit: f64,
}

/// A decode step, and what it is with prompts beside it where the engine mixes them.
#[derive(Debug, Clone)]
struct Decode {
    /// Sequences of a rank.
    size: f64,
    alone: PlannedStep,
    /// With the tokens that come to each step, spread evenly over all.
    even: Option<PlannedStep>,
    /// With a whole prompt, as one step in so many has.
    whole: Option<PlannedStep>,
}

/// Seconds of the steps of an [`Estimate`].
#[derive(Debug)]
struct Times {
    prompts: f64,
    decodes: Vec<DecodeTimes>,
}

/// Those of a [`Decode`].
#[derive(Debug, Clone, Copy)]
struct DecodeTimes {
    alone: f64,
    even: Option<f64>,
    whole: Option<f64>,
}

/// Replicas that a load takes; `u32::MAX` where none are enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// Fewer are left out.
    pub least: u32,
    /// To begin with.
    pub expected: u32,
}

/// A replica that serves as many requests as it can within the TPOT limit.
#[derive(Debug, Clone, Copy)]
struct Busiest {
    /// Seconds of it for each request.
    per_request: f64,
    in_flight: f64,
}

/// Decode steps that are looked at, per octave of their sequences.
const SIZES: u32 = 1;
/// Share of the estimate that a plan takes at least: `plan --compare` loses no plan at it.
const MARGIN: f64 = 0.85;
/// Times the estimate that a plan takes as a rule: replicas are not busy all the time.
const BUSY: f64 = 1.1;

impl Estimate {
    /// With the rows the models are asked for. None where a catalog lacks a figure: planning says which.
    pub fn new(setup: &Setup, physics: &Physics) -> Option<(Self, Rows)> {
        let mut rows = Rows::default();
        let work = Work::of(setup);
        let mut step = |batch: Batch| PlannedStep::new(setup, physics, batch, &mut rows).ok();
        let together =
            (f64::from(setup.token_budget) / work.new).clamp(1.0, f64::from(setup.max_seqs)).floor();
        let prompts = (together, step(work.prompts(together, f64::from(setup.dp)))?);
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

    /// None if `efficiencies` answers other rows.
    pub fn finish(&self, setup: &Setup, physics: &Physics, efficiencies: &Efficiencies) -> Option<Expected> {
        let times = self.times(setup, physics, efficiencies)?;
        let plain = self.busiest(setup, &times, Factors::NONE);
        // Measured runs say how far from that steps are with as many requests under way.
        let factors = factors(setup, efficiencies, plain.in_flight);
        let Busiest { per_request, in_flight } = self.busiest(setup, &times, factors);
        Some(Expected {
            least: replicas(setup, per_request * MARGIN),
            expected: match setup.load {
                Load::Concurrency(clients) | Load::Sessions(clients) => {
                    (f64::from(clients) / in_flight).ceil() as u32
                }
                _ => replicas(setup, per_request * BUSY),
            },
        })
    }

    /// Seconds of each step, whatever they are multiplied by.
    fn times(&self, setup: &Setup, physics: &Physics, efficiencies: &Efficiencies) -> Option<Times> {
        let time = |step: &PlannedStep| Some(step.finish(setup, physics, efficiencies)?.time.total().0);
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
        Some(Times { prompts: time(&self.prompts.1)?, decodes: decodes? })
    }

    /// At step times so many times as long.
    fn busiest(&self, setup: &Setup, times: &Times, factors: Factors) -> Busiest {
        let prefill = times.prompts * factors.prefill / self.prompts.0;
        let parts = f64::from(setup.dp * setup.pp);
        let mut per_request = if self.decodes.is_empty() { prefill / parts } else { f64::INFINITY };
        let (mut before, mut in_flight): (Option<(f64, f64)>, f64) = (None, 1.0);
        for (Decode { size, .. }, &DecodeTimes { alone, even, whole }) in
            self.decodes.iter().zip(&times.decodes)
        {
            let size = *size;
            // Prompts of so many requests come to each step.
            let each = size / self.steps;
            let longer = |with: f64| alone * factors.decode + (with - alone) * factors.prefill;
            let mut step = alone * factors.decode + prefill * each;
            if let Some(even) = even {
                step = step.min(longer(even));
            }
            if let Some(whole) = whole.filter(|_| each <= 1.0) {
                step = step.min(longer(alone + (whole - alone) * each));
            }
            // Between two sizes steps grow evenly: the one that just keeps the limit.
            let (at, step) = match before {
                Some((smaller, shorter)) if step > self.step_limit && shorter < self.step_limit => {
                    let share = (self.step_limit - shorter) / (step - shorter);
                    (smaller + (size - smaller) * share, self.step_limit)
                }
                _ if step > self.step_limit => break,
                _ => (size, step),
            };
            per_request = per_request.min(step * self.steps / (at * parts));
            in_flight = at * parts;
            before = Some((at, step));
        }
        Busiest { per_request, in_flight }
    }
}
