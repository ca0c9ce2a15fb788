//! From a setup to the steps it needs: what to count, what to ask the models, what fits.

use crate::config::catalog::{Physics, catalog};
use crate::config::{Batching, Field, Issue, Load, MissingFigure, Setup};
use crate::efficiency::Rows;
use crate::graph::{Batch, Sequences};

use super::fit::{self, Demand};
use super::memory::memory;
use super::report::Memory;
use super::step::PlannedStep;

/// Everything that can be worked out before the models answer.
#[derive(Debug, Clone)]
pub struct Plan {
    pub setup: Setup,
    pub(super) physics: Physics,
    pub(super) memory: Memory,
    pub(super) issues: Vec<Issue>,
    pub(super) steps: Option<Steps>,
}

/// The steps whose times make the answer.
#[derive(Debug, Clone)]
pub(super) enum Steps {
    Offline(Offline),
    Steady(Box<Steady>),
}

/// One pass over all prompts, then decode steps at sampled positions `(step, its plan)`.
#[derive(Debug, Clone)]
pub(super) struct Offline {
    /// Of all replicas.
    pub requests: f64,
    pub prefill: PlannedStep,
    pub decode: Vec<(u64, PlannedStep)>,
}

/// The load of one replica.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Offered {
    /// Clients of one busy replica, and how many replicas have a client.
    Clients { clients: f64, replicas: f64 },
    /// Requests per second.
    Rate(f64),
}

/// Step costs tabulated over what the steady state varies.
#[derive(Debug, Clone)]
pub(super) struct Steady {
    pub offered: Offered,
    /// Requests the engine works on at once, or may at most; others wait for a slot.
    pub running: f64,
    /// Of one rank of attention data parallelism, as all batches here.
    pub prompts_per_step: f64,
    /// Decode steps by number of sequences.
    pub decode: Vec<(u64, PlannedStep)>,
    /// Prefill by the sequences that decode in the same step.
    pub prefill: Vec<MixedPrefill>,
    /// One prompt (or its first chunk) alone, for the breakdown.
    pub alone: PlannedStep,
}

/// Prefill in steps that also decode so many sequences.
#[derive(Debug, Clone)]
pub(super) struct MixedPrefill {
    pub decoding: u64,
    /// By number of prompts that all ranks take together: the chunks each, with the number of alike ones.
    pub prompts: Vec<(u64, Vec<(f64, PlannedStep)>)>,
}

/// Positions at which an offline batch's decode is evaluated; time is linear between them.
const DECODE_SAMPLES: u64 = 5;
/// Chunks of one prompt evaluated apart; time is linear in the chunk's past.
const CHUNK_SAMPLES: u64 = 4;

/// Plans `setup`, and works out the rows the models are asked for.
///
/// # Errors
/// An issue that names the figure the catalogs lack.
pub fn plan(setup: &Setup) -> Result<(Plan, Rows), Vec<Issue>> {
    let mut rows = Rows::default();
    let missing = |missing: MissingFigure| vec![Issue::error(Field::Gpu, missing.to_string())];
    let plan = build(setup, physics()?, &mut rows).map_err(missing)?;
    Ok((plan, rows))
}

fn build(setup: &Setup, physics: Physics, rows: &mut Rows) -> Result<Plan, MissingFigure> {
    let demand = Demand::of(setup);
    let mut memory = memory(setup, &physics, &demand)?;
    let (running, issues) = fit::verdict(setup, &physics, &demand, &memory)?;
    let setup = &fit::as_clients(setup);
    let steps = match running {
        None => None,
        Some(running) => Some(match setup.load {
            Load::Batch(size) => Steps::Offline(offline(setup, &physics, size, rows)?),
            Load::Concurrency(clients)
            | Load::Burst(clients)
            | Load::Offline(clients)
            | Load::Sessions(clients) => {
                let (clients, replicas) = fit::clients_per_replica(setup, clients);
                memory = memory.holding(setup, running, fit::tokens_held(setup));
                let offered = Offered::Clients { clients, replicas };
                Steps::Steady(Box::new(steady(setup, &physics, offered, running, rows)?))
            }
            Load::Rate(rate) | Load::ConstantRate(rate) | Load::SessionRate(rate) => {
                let offered = Offered::Rate(rate / f64::from(setup.replicas.max(1)));
                Steps::Steady(Box::new(steady(setup, &physics, offered, running, rows)?))
            }
        }),
    };
    Ok(Plan { setup: setup.clone(), physics, memory, issues, steps })
}

/// Device memory of the fullest GPU of `setup`.
///
/// # Errors
/// Where a catalog lacks a figure.
pub fn memory_of(setup: &Setup) -> Result<Memory, Vec<Issue>> {
    let found = memory(setup, &physics()?, &Demand::of(setup));
    found.map_err(|missing| vec![Issue::error(Field::Gpu, missing.to_string())])
}

pub(super) fn physics() -> Result<Physics, Vec<Issue>> {
    let incomplete = || vec![Issue::error(Field::Data, "the catalog of constants is incomplete")];
    catalog().constants.physics().ok_or_else(incomplete)
}

fn offline(setup: &Setup, physics: &Physics, size: u32, rows: &mut Rows) -> Result<Offline, MissingFigure> {
    let prompts = fit::prompts_of_one_rank(setup);
    let mut first = Batch::prefill(&prompts);
    for group in &mut first.sequences {
        let cached = cached(setup, group.new);
        *group = Sequences { new: group.new - cached, past: cached, ..*group };
    }
    let all = fit::prompts_of_one_replica(setup);
    let computed: u64 = all.iter().map(|&prompt| u64::from(prompt) - cached(setup, u64::from(prompt))).sum();
    let prefill = PlannedStep::new(setup, physics, first.pooling(computed), rows)?;
    let verified = all.len() as u64 * u64::from(setup.tokens_verified());
    let last = u64::from(setup.osl.saturating_sub(1));
    let decode = samples(last, DECODE_SAMPLES)
        .into_iter()
        .map(|step| {
            let mut batch = Batch::prefill(&prompts);
            for group in &mut batch.sequences {
                *group = Sequences { new: 1, past: group.new + step, ..*group };
            }
            let batch = batch.verifying(setup.drafts.drafted).pooling(verified);
            Ok((step, PlannedStep::new(setup, physics, batch, rows)?))
        })
        .collect::<Result<_, _>>()?;
    Ok(Offline { requests: f64::from(size), prefill, decode })
}

fn steady(
    setup: &Setup,
    physics: &Physics,
    offered: Offered,
    running: f64,
    rows: &mut Rows,
) -> Result<Steady, MissingFigure> {
    let isl = u64::from(setup.prompts.first().copied().unwrap_or(1));
    let past = isl + u64::from(setup.osl) / 2;
    let most = (running / f64::from(setup.pp * setup.dp)).ceil().max(1.0) as u64;
    let decoding = |count| Batch::decode(count, past).verifying(setup.drafts.drafted);
    let decode = sizes(most)
        .into_iter()
        .map(|count| Ok((count, PlannedStep::new(setup, physics, decoding(count), rows)?)))
        .collect::<Result<Vec<_>, MissingFigure>>()?;

    let room = fit::prefill_room(setup, most);
    let cached = cached(setup, isl);
    // What of a prompt is computed.
    let computed = isl - cached;
    let prompts_per_step = room as f64 / computed as f64;
    let ranks = u64::from(setup.dp);
    let together = (prompts_per_step.floor().max(1.0) as u64).min(most) * ranks;
    // `count` prompts shared out to the ranks, of which each also decodes so many sequences.
    let over_ranks = |count: u64, chunk: Sequences, others: Batch| {
        let of_all = count * chunk.new + ranks * others.tokens();
        let busiest = Batch::of(Sequences { count: count.div_ceil(ranks), ..chunk }).with(others);
        let replayed = busiest.tokens() <= setup.mixed_graph();
        let pooled = if replayed { ranks * busiest.tokens() } else { of_all };
        busiest.pooling(pooled)
    };
    // Where steps mix, what prompts add depends on how many decode beside them: in between it is linear.
    let decoding_too = match setup.engine.scheduler.batching {
        Batching::PrefillFirst => vec![0],
        Batching::MixedChunks | Batching::InFlight if most == 1 => vec![1],
        Batching::MixedChunks | Batching::InFlight => vec![1, most],
    };
    let mut prefill = Vec::new();
    for decoding_too in decoding_too {
        let mut prompts = Vec::new();
        for count in sizes(together) {
            let mut chunks = Vec::new();
            for (weight, new, past_of_chunk) in chunks_of(computed, room) {
                let chunk = Sequences { count, new, past: cached + past_of_chunk };
                let others = if decoding_too == 0 { Batch::default() } else { decoding(decoding_too) };
                let batch = over_ranks(count, chunk, others);
                chunks.push((weight, PlannedStep::new(setup, physics, batch, rows)?));
            }
            prompts.push((count, chunks));
        }
        prefill.push(MixedPrefill { decoding: decoding_too, prompts });
    }
    let first = Sequences { count: 1, new: computed.min(room), past: cached };
    let alone = over_ranks(1, first, Batch::default());
    let alone = PlannedStep::new(setup, physics, alone, rows)?;
    Ok(Steady { offered, running, prompts_per_step, decode, prefill, alone })
}

/// Tokens of a prompt that the prefix cache holds.
fn cached(setup: &Setup, prompt: u64) -> u64 {
    u64::from(setup.cached(prompt.min(u64::from(u32::MAX)) as u32))
}

/// 1, 2, 4 ... and `most`.
fn sizes(most: u64) -> Vec<u64> {
    let mut sizes: Vec<u64> = std::iter::successors(Some(1u64), |size| size.checked_mul(2))
        .take_while(|&size| size < most)
        .collect();
    sizes.push(most.max(1));
    sizes
}

/// Up to `most` evenly spread values of `0 .. count`, first and last included.
fn samples(count: u64, most: u64) -> Vec<u64> {
    let Some(last) = count.checked_sub(1) else { return Vec::new() };
    let points = most.min(count);
    if points == 1 {
        return vec![0];
    }
    (0..points).map(|point| point * last / (points - 1)).collect()
}

/// A prompt cut into chunks of `room` tokens: `(how many alike, tokens, past)`. Whole chunks are sampled
/// and weighted; the remainder is its own.
fn chunks_of(isl: u64, room: u64) -> Vec<(f64, u64, u64)> {
    let (whole, rest) = (isl / room.max(1), isl % room.max(1));
    if whole == 0 || (whole == 1 && rest == 0) {
        return vec![(1.0, isl, 0)];
    }
    let sampled = samples(whole, CHUNK_SAMPLES);
    let weight = whole as f64 / sampled.len() as f64;
    let mut chunks: Vec<_> = sampled.into_iter().map(|chunk| (weight, room, chunk * room)).collect();
    if rest > 0 {
        chunks.push((1.0, rest, whole * room));
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_add_up_to_the_prompt() {
        for (isl, room) in [(100, 200), (200, 200), (1000, 300), (100_000, 2048), (4096, 2048)] {
            let tokens: f64 = chunks_of(isl, room).iter().map(|(weight, new, _)| weight * *new as f64).sum();
            assert!((tokens - isl as f64).abs() < 1e-6, "{isl} by {room}: {tokens}");
        }
    }

    #[test]
    fn samples_span_the_range() {
        assert_eq!(samples(0, 5), Vec::<u64>::new());
        assert_eq!(samples(1, 5), vec![0]);
        assert_eq!(samples(3, 5), vec![0, 1, 2]);
        assert_eq!(samples(101, 5), vec![0, 25, 50, 75, 100]);
    }

    #[test]
    fn sizes_end_at_the_largest() {
        assert_eq!(sizes(1), vec![1]);
        assert_eq!(sizes(6), vec![1, 2, 4, 6]);
        assert_eq!(sizes(8), vec![1, 2, 4, 8]);
    }
}
