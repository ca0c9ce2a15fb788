//! The requests of a measured run, and when they were sent.

use super::numpy;
pub(crate) use crate::config::catalog::numbers::data_sets::constants;
use crate::config::{Load, Shape};
use crate::evidence::cases::{LengthSource, LoadKind, Published, ServedCase};
use crate::evidence::launch::LaunchSettings;
use crate::serving::run::{self, from_table, log_normal, means};
use crate::serving::sim::{Arrivals, FinishedRequest, Policy, Request};
use crate::units::random::SplitMix64;

/// The requests of a run.
#[derive(Debug, Clone)]
pub struct SentRequests {
    pub requests: Vec<Request>,
    pub arrivals: Arrivals,
    /// Maximum requests in flight.
    pub at_once: u32,
    /// Slots of a saturated server; `None` for other servers.
    pub full: Option<u32>,
    pub prefixes: Option<Prefixes>,
    /// Time to sample a token per entry of the vocabulary, in ns, beyond taking the largest logit.
    pub sampling_ns: f64,
}

/// The prefixes that prompts of a data set share, as the source's client sends them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prefixes {
    /// Share of a prompt that it has in common with the previous turn, sent just before.
    turns: f64,
    /// Prompts after which the list starts over.
    distinct: u32,
}

impl Prefixes {
    /// The share of prompts found in the cache when they start on a full server, and how much more fits because shared
    /// prefixes are stored once. When the list starts over, either all of it is found or nothing, as the cache evicts
    /// the least recently used first.
    pub fn of_full(&self, policy: &Policy, sent: &SentRequests, places: u32) -> (f64, f64) {
        let (prompt, output) = means(&sent.requests);
        let (prompt, made) = (f64::from(prompt), f64::from(output) / 2.0);
        let (distinct, places) = (f64::from(self.distinct), f64::from(places));
        let own = prompt * (1.0 - self.turns);
        let room = policy.kv_tokens as f64 * f64::from(policy.ranks);
        let fits = distinct * own + places * made <= room;
        let begun = (sent.requests.len() as f64 - places).max(1.0);
        let first = if fits { ((distinct - places) / begun).clamp(0.0, 1.0) } else { 1.0 };
        let held = own * (distinct / places).min(1.0);
        (1.0 - (1.0 - self.turns) * first, (prompt + made) / (held + made))
    }
}

impl SentRequests {
    pub fn of(case: &ServedCase, launch: &LaunchSettings) -> Result<Self, String> {
        let Some(published) = &case.published else {
            let count = launch.requests(case.concurrency);
            let requests = requests(count, (case.isl, case.osl), launch.length_range, 0);
            let arrivals = Arrivals::Closed { clients: case.concurrency };
            let at_once = case.concurrency;
            return Ok(Self { requests, arrivals, at_once, full: None, prefixes: None, sampling_ns: 0.0 });
        };
        let full = (case.kind == LoadKind::SteadyState).then_some(published.max_num_seqs).flatten();
        let count = match (published.prompts, &published.lengths, full) {
            (_, LengthSource::Histogram { counts, .. }, Some(places)) => {
                // The last of them are only served while slots run empty.
                counts.iter().sum::<u32>().max(places.saturating_add(2))
            }
            (Some(prompts), ..) => prompts,
            (None, ..) if case.kind == LoadKind::Offline => run::constants().at_rate as u32,
            (None, ..) => case.concurrency.saturating_mul(run::constants().per_client as u32),
        };
        if count == 0 {
            return Err("neither requests nor clients are recorded".into());
        }
        let clients = full.unwrap_or(if case.concurrency > 0 { case.concurrency.min(count) } else { count });
        let arrivals = match published.rate.filter(|rate| rate.is_finite()) {
            Some(rate) if case.kind == LoadKind::OpenLoop && published.client.contains("constant") => {
                Arrivals::Times((0..count).map(|index| f64::from(index) / rate).collect())
            }
            Some(per_s) if case.kind == LoadKind::OpenLoop => {
                Arrivals::Rate { per_s, burstiness: 1.0, seed: 0 }
            }
            _ if clients < count => Arrivals::Closed { clients },
            _ => Arrivals::AtOnce,
        };
        let prefixes = match &published.lengths {
            LengthSource::Histogram { task, .. } => Some(prefixes_of(task)),
            _ => None,
        };
        // The client of those data sets samples with top-p 0.95.
        let sampling_ns = if prefixes.is_some() { constants().top_p_ns } else { 0.0 };
        let requests = as_printed(case, published, count)?;
        Ok(Self { requests, arrivals, at_once: clients, full, prefixes, sampling_ns })
    }

    /// The closest load that a scenario can express.
    pub fn load(&self) -> Load {
        match &self.arrivals {
            Arrivals::Rate { per_s, .. } => Load::Rate(*per_s),
            Arrivals::Times(times) if times.last().is_some_and(|&last| last > 0.0) => {
                Load::Rate((times.len() - 1) as f64 / times.last().copied().unwrap_or(1.0))
            }
            _ => Load::Concurrency(self.at_once),
        }
    }
}

/// `count` requests whose prompts and outputs are drawn between these shares of `nominal`, or that all have these
/// lengths.
pub fn requests(count: u32, nominal: (u32, u32), range: Option<[f64; 2]>, seed: u32) -> Vec<Request> {
    match range {
        Some(range) => numpy::requests(count, nominal, range, seed),
        None => vec![Request::new(nominal.0, nominal.1); count as usize],
    }
}

fn as_printed(case: &ServedCase, published: &Published, count: u32) -> Result<Vec<Request>, String> {
    let nominal = (case.isl.max(1), case.osl.max(1));
    Ok(match &published.lengths {
        LengthSource::Nominal => requests(count, nominal, case.length_range, constants().sglang_seed as u32),
        LengthSource::ShareGpt => {
            let draw = |mean: f64, table: &[u32], seed: u64| {
                let mut random = SplitMix64::new(seed);
                let drawn = from_table(table, mean.round() as u32, u32::MAX, count as usize, &mut random);
                // The total of the run is known: lengths are scaled to it.
                let sum = drawn.iter().copied().map(f64::from).sum::<f64>();
                let share = mean * f64::from(count) / sum.max(1.0);
                drawn.into_iter().map(move |length| (f64::from(length) * share).round().max(1.0) as u32)
            };
            let ([prompt, output], [prompts, outputs]) = (published.means, Shape::Sharegpt.tables());
            let (prompts, outputs) = (draw(prompt, prompts, 1), draw(output, outputs, 2));
            prompts.zip(outputs).map(|(prompt, output)| Request::new(prompt, output)).collect()
        }
        LengthSource::Histogram { task, edges, counts } => {
            let prompts = prompts_of(task, count)?;
            let mut random = SplitMix64::new(0);
            let total: f64 = counts.iter().copied().map(f64::from).sum();
            let draw = |prompt| Request::new(prompt, from_bins(edges, counts, total, &mut random));
            prompts.into_iter().map(draw).collect()
        }
    })
}

/// Lengths of the prompts of a task, as the source's client builds them: each turn of a chat carries the whole conversation so far.
fn prompts_of(task: &str, count: u32) -> Result<Vec<u32>, String> {
    let constants = constants();
    let drawn = |mean: f64, spread: f64, longest: f64| {
        log_normal(mean as u32, spread, longest as u32, count as usize, &mut SplitMix64::new(1))
    };
    match task {
        "gpqa" => Ok(vec![constants.gpqa_prompt as u32; count as usize]),
        "lm-arena-chat" => {
            Ok(drawn(constants.lm_arena_prompt, constants.lm_arena_spread, constants.lm_arena_longest))
        }
        "sourcegraph-fim" => Ok(drawn(constants.fim_prompt, constants.fim_spread, constants.fim_longest)),
        "image-chat" | "video-chat" => {
            Err("images or videos in the prompts: their numbers and sizes are not read".into())
        }
        other => Err(format!("the lengths of the prompts of {other} are not recorded")),
    }
}

fn prefixes_of(task: &str) -> Prefixes {
    let constants = constants();
    let distinct = if task == "gpqa" { constants.gpqa_prompts } else { constants.ml_energy_prompts };
    let turns = if task == "lm-arena-chat" { constants.lm_arena_turns } else { 0.0 };
    Prefixes { turns, distinct: distinct as u32 }
}

/// A length drawn from the histogram, uniform within its bin.
fn from_bins(edges: &[f64], counts: &[u32], total: f64, random: &mut SplitMix64) -> u32 {
    let mut at = random.uniform() * total;
    let within = random.uniform();
    let mut last = 1;
    for (pair, &count) in edges.windows(2).zip(counts).filter(|(_, count)| **count > 0) {
        last = (pair[0] + (pair[1] - pair[0]) * within).round().max(1.0) as u32;
        if at < f64::from(count) {
            break;
        }
        at -= f64::from(count);
    }
    last
}

/// Output tokens per second from the time when `places` requests have their first token until fewer are left,
/// as ML.ENERGY's client counts. The tokens of a request arrive evenly.
pub fn rate_while_full(served: &[FinishedRequest], places: usize) -> f64 {
    let (begin, end) = while_full(served, places);
    let tokens = |one: &FinishedRequest| {
        let span = one.last - one.first;
        let inside = (one.last.min(end) - one.first.max(begin)).max(0.0);
        let others = f64::from(one.output) - 1.0;
        let rest = if span > 0.0 { others * inside / span } else { 0.0 };
        rest + if (begin..end).contains(&one.first) { 1.0 } else { 0.0 }
    };
    served.iter().map(tokens).sum::<f64>() / (end - begin)
}

/// When the server became full, and when slots began to stay empty.
pub fn while_full(served: &[FinishedRequest], places: usize) -> (f64, f64) {
    let mut firsts: Vec<f64> = served.iter().map(|one| one.first).collect();
    let mut lasts: Vec<f64> = served.iter().map(|one| one.last).collect();
    firsts.sort_by(f64::total_cmp);
    lasts.sort_by(f64::total_cmp);
    let begin = firsts.get(places.saturating_sub(1)).copied().unwrap_or(0.0);
    let end = lasts.len().checked_sub(places + 2).and_then(|at| lasts.get(at)).copied().unwrap_or(begin);
    (begin, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_server_is_counted_while_it_is_full() {
        // Two places, eleven tokens each in ten seconds; the last two requests leave places free and do not count.
        let one =
            |first: f64, last: f64| FinishedRequest { arrival: 0.0, first, last, prompt: 1, output: 11 };
        let served = [
            one(0.0, 10.0),
            one(0.0, 10.0),
            one(10.0, 20.0),
            one(10.0, 20.0),
            one(20.0, 30.0),
            one(20.0, 30.0),
        ];
        let rate = rate_while_full(&served, 2);
        assert!((rate - 2.2).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn lengths_of_share_gpt_keep_their_means() {
        let published =
            Published { lengths: LengthSource::ShareGpt, means: [217.0, 200.0], ..Published::default() };
        let requests = as_printed(&ServedCase::default(), &published, 20_000).unwrap();
        let mean =
            |of: fn(&Request) -> u32| requests.iter().map(|one| f64::from(of(one))).sum::<f64>() / 20_000.0;
        assert!(
            (mean(|one| one.prompt) / 217.0 - 1.0).abs() < 0.03
                && (mean(|one| one.output) / 200.0 - 1.0).abs() < 0.03
        );
    }
}
