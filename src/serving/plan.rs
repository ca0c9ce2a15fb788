//! Plans an answer: what fits, which steps, and which rows the models are asked for.

use std::sync::Arc;

use crate::calibration::KnownRun;
use crate::config::{Field, Issue, Load, MissingFigure, Setup, check};
use crate::efficiency::Rows;
use crate::graph::{Batch, Phase, Sequences};

use super::fit::{self, Demand};
use super::memory::memory;
use super::replica;
use super::report::{Memory, PassReport};
use super::run::{RunPlan, Trace};
use super::step::PlannedStep;
use super::table::{Tables, octaves};

/// Everything that can be computed before the models answer.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The setup; for a trace, with its mean lengths, at its rate.
    pub setup: Setup,
    pub(super) memory: Memory,
    /// Memory of the prefill workers, if any.
    pub(super) of_prefill: Option<Memory>,
    pub(super) issues: Vec<Issue>,
    pub(super) steps: Option<Steps>,
}

impl Plan {
    /// The step behind a pass of the report, and the setup on whose GPUs it runs.
    pub(super) fn step_of(&self, pass: &PassReport) -> Option<(&Setup, &PlannedStep)> {
        let setup = &self.setup;
        match (self.steps.as_ref()?, pass.phase) {
            (Steps::Offline(offline), Phase::Prefill) => Some((setup, &offline.prefill)),
            (Steps::Offline(offline), Phase::Decode) => {
                offline.decode.get(offline.decode.len() / 2).map(|(_, step)| (setup, step))
            }
            (Steps::Served(served), Phase::Prefill) => Some((setup.prefill_setup(), &served.prompt)),
            (Steps::Served(served), Phase::Decode) => {
                let step = served.decode.iter().find(|(sequences, _)| *sequences == pass.sequences);
                step.map(|(_, step)| (setup, step))
            }
        }
    }

    /// Calibrates on these runs of the visitor's in addition to the shipped ones.
    #[must_use]
    pub fn calibrated_on(mut self, own: &Arc<[KnownRun]>) -> Self {
        if let Some(Steps::Served(served)) = &mut self.steps {
            served.run.calibrate_on(own.clone());
        }
        self
    }
}

/// The steps whose times make up the answer.
#[derive(Debug, Clone)]
pub(super) enum Steps {
    Offline(Offline),
    Served(Box<LoadPlan>),
}

/// One pass over all prompts, then decode steps at sampled positions `(step, plan)`.
#[derive(Debug, Clone)]
pub(super) struct Offline {
    /// Requests over all replicas.
    pub requests: f64,
    pub prefill: PlannedStep,
    pub decode: Vec<(u64, PlannedStep)>,
}

/// A run of the load, and the steps that may be broken down.
#[derive(Debug, Clone)]
pub(super) struct LoadPlan {
    pub run: RunPlan,
    /// One prompt (or its first chunk) alone.
    pub prompt: PlannedStep,
    /// Decode steps by sequences per rank: the run shows which one is typical.
    pub decode: Vec<(u64, PlannedStep)>,
}

/// Positions at which a static batch's decode is evaluated; time is linear in between.
const DECODE_SAMPLES: u64 = 5;
/// Candidate decode steps per octave of batch size, and in the largest one, where most closed loops are.
const DECODE_SIZES: [u32; 2] = [2, 4];

/// Plans `setup` and collects the rows for the models.
pub fn plan(setup: &Setup) -> Result<(Plan, Rows), Vec<Issue>> {
    build(setup, None, None)
}

/// Plans `setup` like [`plan`], with the step table of the last plan if it needs the same steps. A `trace` is
/// replayed instead of the setup's lengths, at the setup's rate or else at the trace's own pace; fails if it has none.
pub fn plan_among(
    setup: &Setup,
    trace: Option<Trace>,
    tables: &mut Tables,
) -> Result<(Plan, Rows), Vec<Issue>> {
    build(setup, trace, Some(tables))
}

fn build(
    setup: &Setup,
    trace: Option<Trace>,
    tables: Option<&mut Tables>,
) -> Result<(Plan, Rows), Vec<Issue>> {
    let replayed = match &trace {
        Some(trace) => &trace.on(setup).map_err(|issue| vec![issue])?,
        None => setup,
    };
    steps(replayed, trace, tables).map_err(|missing| vec![replayed.lacks(&missing)])
}

fn steps(
    setup: &Setup,
    trace: Option<Trace>,
    tables: Option<&mut Tables>,
) -> Result<(Plan, Rows), MissingFigure> {
    let demand = Demand::of(setup);
    let mut memory = memory(setup, &demand)?;
    let (mut running, mut issues) = fit::verdict(setup, &demand, &memory)?;
    let of_prefill = match &setup.prefill {
        Some(pool) => {
            let (own, fits, found) = of_workers(&pool.setup)?;
            issues.extend(found);
            running = running.filter(|_| fits);
            Some(own)
        }
        None => None,
    };
    let mut rows = Rows::default();
    let steps = match (running, setup.workload.load) {
        (None, _) => None,
        (Some(_), Load::Batch(size)) => Some(Steps::Offline(offline(setup, size, &mut rows)?)),
        (Some(running), load) => {
            let run;
            (run, rows) = RunPlan::new(setup, &memory, of_prefill.as_ref(), trace, tables)?;
            if matches!(load, Load::Concurrency(_) | Load::Burst(_) | Load::Offline(_) | Load::Sessions(_)) {
                memory = memory.holding(setup, running, fit::tokens_held(setup));
            }
            let prompt = prompt_alone(setup.prefill_setup(), &mut rows)?;
            let decode = decode_steps(setup, running, &mut rows)?;
            Some(Steps::Served(Box::new(LoadPlan { run, prompt, decode })))
        }
    };
    Ok((Plan { setup: setup.clone(), memory, of_prefill, issues, steps }, rows))
}

/// Memory of a prefill worker, whether it fits, and issues. Its queue determines how many requests run at once.
fn of_workers(setup: &Setup) -> Result<(Memory, bool, Vec<Issue>), MissingFigure> {
    let demand = Demand::of(setup);
    let memory = memory(setup, &demand)?;
    let (running, issues) = fit::verdict(setup, &demand, &memory)?;
    let relevant = |issue: &Issue| issue.is_error() || issue.field == Field::MemoryShare;
    let named = |issue: Issue| {
        let field = check::of_workers(issue.field).unwrap_or(issue.field);
        Issue { field, text: format!("Prefill workers: {}", issue.text), ..issue }
    };
    Ok((memory, running.is_some(), issues.into_iter().filter(relevant).map(named).collect()))
}

/// Device memory of the fullest GPU of `setup`.
pub fn memory_of(setup: &Setup) -> Result<Memory, Vec<Issue>> {
    let found = memory(setup, &Demand::of(setup));
    found.map_err(|missing| vec![Issue::error(Field::Gpu, missing.to_string())])
}

fn offline(setup: &Setup, size: u32, rows: &mut Rows) -> Result<Offline, MissingFigure> {
    let prompts = fit::prompts_of_one_rank(setup);
    let mut first = Batch::prefill(&prompts);
    for group in &mut first.sequences {
        let cached = cached(setup, group.new);
        *group = Sequences { new: group.new - cached, past: cached, ..*group };
    }
    let all = fit::prompts_of_one_replica(setup);
    let computed: u64 = all.iter().map(|&prompt| u64::from(prompt) - cached(setup, u64::from(prompt))).sum();
    let prefill = PlannedStep::beginning(setup, first.pooling(computed), rows)?;
    let last = u64::from(setup.workload.osl.saturating_sub(1));
    let decode = samples(last, DECODE_SAMPLES)
        .into_iter()
        .map(|step| {
            let mut batch = Batch::prefill(&prompts);
            for group in &mut batch.sequences {
                *group = Sequences { new: 1, past: group.new + step, ..*group };
            }
            let batch = padded(setup, batch).verifying(setup.workload.drafts.drafted);
            // The prompts are those of the busiest rank, to which all others are padded.
            Ok((step, PlannedStep::new(setup, batch, rows)?))
        })
        .collect::<Result<_, _>>()?;
    Ok(Offline { requests: f64::from(size), prefill, decode })
}

/// One prompt, or as much of it as a step takes, on one rank.
fn prompt_alone(setup: &Setup, rows: &mut Rows) -> Result<PlannedStep, MissingFigure> {
    let isl = prompt_of(setup);
    let cached = cached(setup, isl);
    let new = (isl - cached).min(u64::from(setup.token_budget).max(1));
    let batch = Batch::of(Sequences { count: 1, new, past: cached });
    let ranks = if new <= replica::mixed_graph(setup) { u64::from(setup.parallel.dp) } else { 1 };
    PlannedStep::beginning(setup, batch.pooling(ranks * new), rows)
}

/// Decode steps half-way through the output, for up to `running` sequences.
fn decode_steps(
    setup: &Setup,
    running: f64,
    rows: &mut Rows,
) -> Result<Vec<(u64, PlannedStep)>, MissingFigure> {
    if setup.workload.osl < 2 {
        return Ok(Vec::new());
    }
    let past = setup.mean_prompt() as u64 + u64::from(setup.workload.osl) / 2;
    let most = (running / f64::from(setup.parallel.batches())).ceil().max(1.0) as u64;
    let step = |count| {
        let batch = padded(setup, Batch::decode(count, past)).verifying(setup.workload.drafts.drafted);
        Ok((count, PlannedStep::new(setup, batch, rows)?))
    };
    sizes(most).into_iter().map(step).collect()
}

fn padded(setup: &Setup, decode: Batch) -> Batch {
    let graph = replica::padded(setup, decode.count());
    decode.padded(graph)
}

fn sizes(most: u64) -> Vec<u64> {
    let ([each, last], half) = (DECODE_SIZES, most.div_ceil(2));
    octaves(1, half, each).into_iter().chain(octaves(half, most, last).into_iter().skip(1)).collect()
}

fn prompt_of(setup: &Setup) -> u64 {
    u64::from(setup.workload.isl.first())
}

/// Prompt tokens in the prefix cache.
fn cached(setup: &Setup, prompt: u64) -> u64 {
    u64::from(setup.cached(prompt.min(u64::from(u32::MAX)) as u32))
}

/// Up to `most` evenly spaced values in `0 .. count`, including both ends.
fn samples(count: u64, most: u64) -> Vec<u64> {
    let Some(last) = count.checked_sub(1) else { return Vec::new() };
    let points = most.min(count);
    if points == 1 {
        return vec![0];
    }
    (0..points).map(|point| point * last / (points - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_batches_are_never_far_from_a_planned_step() {
        for most in [1_u64, 2, 3, 7, 32, 100, 256] {
            for size in most.div_ceil(2)..=most {
                let far = |planned: &u64| (*planned as f64 / size as f64).ln().abs();
                let near = sizes(most).iter().map(far).fold(f64::INFINITY, f64::min);
                assert!(near < 0.12, "{size} of {most}: {near}");
            }
        }
    }

    #[test]
    fn samples_span_the_range() {
        assert_eq!(samples(0, 5), Vec::<u64>::new());
        assert_eq!(samples(1, 5), vec![0]);
        assert_eq!(samples(3, 5), vec![0, 1, 2]);
        assert_eq!(samples(101, 5), vec![0, 25, 50, 75, 100]);
    }
}
