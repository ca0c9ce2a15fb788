//! Lower bounds for a layout: memory, and every kernel at its ideal. Bounds only prune; no displayed figure comes
//! from them.
//!
//! A replica that decodes `b` sequences per step spends `K / b` steps on each request, where `K` is the number of
//! decode steps, and computes the prompts of `b / K` requests in each step. Ideal kernels, work spread evenly over
//! the steps, and the largest `b` allowed by memory, slots and the TPOT limit give the least replica time per
//! request. Between its tokens a request sees the prompts of the `b - 1` others, and never its own.

use crate::config::catalog::numbers::bounds::{Constants, constants};
use crate::config::{Batching, Field, Issue, LatencyMetric, Load, Setup};
use crate::graph::Batch;
use crate::kernels::Sequences;
use crate::serving::memory_of;
use crate::serving::replica::share_of_pass;
use crate::serving::step::ideal;
use crate::units::Bytes;

/// Lower bounds for a layout.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Seconds to the first token of a lone request.
    pub ttft: f64,
    /// Seconds per output token of a lone request; `None` with one output token.
    pub tpot: Option<f64>,
    /// Seconds of one replica for each request; infinite where no batch size meets the TPOT limit.
    pub per_request: f64,
}

/// Bisection steps for the largest batch size that meets a TPOT limit.
const REFINED: u32 = 3;

/// How much memory per GPU is missing for one sequence; `None` if it fits.
///
/// # Errors
/// If a catalog lacks a figure.
pub fn lacks(setup: &Setup) -> Result<Option<Bytes>, Vec<Issue>> {
    let memory = memory_of(setup)?;
    let tokens = setup.longest_sequence() + f64::from(setup.workload.drafts.drafted);
    let room = (memory.kv_tokens / f64::from(setup.parallel.dp)).floor();
    let lacking = memory.missing + memory.kv_per_token * (tokens - room).max(0.0);
    Ok((memory.kv_tokens < 1.0 || tokens > room).then_some(lacking))
}

impl Bound {
    /// # Errors
    /// If a catalog lacks a figure.
    pub fn of(setup: &Setup) -> Result<Self, Vec<Issue>> {
        let missing =
            |missing: crate::config::MissingFigure| vec![Issue::error(Field::Gpu, missing.to_string())];
        let &Constants { least_decode, least_prefill, least_ttft, .. } = constants();
        let work = RequestWork::of(setup);
        let time = |batch: &Batch| ideal(setup, batch).map(|time| time.0 * work.slack).map_err(missing);
        let ttft = time(&work.prompts(1.0, 1.0))? * share_of_pass(setup, work.new) * least_ttft;
        let prompts = work.together(setup);
        let prefill = time(&work.prompts(prompts, f64::from(setup.parallel.dp)))? * least_prefill / prompts;
        if work.steps <= 0.0 {
            return Ok(Self { ttft, tpot: None, per_request: prefill / f64::from(setup.parallel.batches()) });
        }
        let decode = |size: f64| time(&work.decode(size, 0.0)).map(|time| time * least_decode);
        let alone = decode(1.0)?;
        let limit = work.step_limit.unwrap_or(f64::INFINITY);
        // A step of `size` sequences if `begun` requests are prefilled in the course of `K` steps.
        let step = |size: f64, begun: f64| match setup.engine.scheduler.batching {
            Batching::PrefillFirst => decode(size).map(|step| step + prefill * begun / work.steps),
            // The number of active experts grows sublinearly in the tokens: prompts may be cheaper together.
            _ if setup.model.has_experts() => Ok(decode(size)?.max(prefill * begun / work.steps)),
            _ => {
                let alone = time(&work.decode(size, 0.0))?;
                let prompts = time(&work.decode(size, begun / work.steps))? - alone;
                Ok(alone * least_decode + prompts.max(0.0) * least_prefill)
            }
        };
        let seen = |size: f64| step(size, size - 1.0);
        let each = |size: f64, step: f64| step * work.steps / (size * f64::from(setup.parallel.batches()));
        // Time per request falls with the batch size: the smallest that breaks the limit bounds all that meet it.
        let (mut meets, mut size) = (0.0, 1.0);
        let mut between = seen(size)?;
        while between <= limit && size < work.most {
            meets = size;
            size = (size * 2.0).min(work.most);
            between = seen(size)?;
        }
        let breaks = between > limit;
        if breaks && meets > 0.0 {
            for _ in 0..REFINED {
                let middle = ((meets + size) / 2.0).ceil();
                if seen(middle)? <= limit {
                    meets = middle;
                } else {
                    size = middle;
                }
            }
        }
        let per_request = match breaks && meets == 0.0 {
            true => f64::INFINITY,
            false => each(size, step(size, size)?),
        };
        Ok(Self { ttft, tpot: Some(alone / work.tokens_a_step), per_request })
    }

    /// Minimum number of replicas for the load.
    pub fn replicas(&self, setup: &Setup) -> u32 {
        replicas(setup, self.per_request / constants().growth)
    }

    /// A limit that even a lone request misses, with its ideal in seconds.
    pub fn broken(&self, setup: &Setup) -> Option<(LatencyMetric, f64, f64)> {
        // A limit on a small share of requests says nothing about their mean.
        self.tightest(setup).filter(|&(_, at, limit)| asks_most(setup) && at > limit)
    }

    /// The limit closest to being broken, or broken by most, with the best value reached.
    pub fn tightest(&self, setup: &Setup) -> Option<(LatencyMetric, f64, f64)> {
        let steps = f64::from(setup.workload.osl.saturating_sub(1));
        let tpot = self.tpot.unwrap_or(0.0);
        let least = [self.ttft, tpot, self.ttft + tpot * steps];
        let all = setup.workload.slos.limits().map(|(metric, limit)| (metric, metric.choose(least), limit));
        all.max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)))
    }
}

/// Replicas that the load of `setup` keeps busy at this many replica seconds per request.
pub(super) fn replicas(setup: &Setup, per_request: f64) -> u32 {
    let rate = match setup.workload.load {
        Load::Rate(rate) | Load::ConstantRate(rate) => rate,
        Load::SessionRate(rate) => setup.requests_at(rate),
        // Clients whose limits are all met return as soon as the limits allow.
        Load::Concurrency(clients) => match cycle(setup) {
            Some(cycle) => f64::from(clients) / (cycle * constants().exceptions_last),
            None => return 1,
        },
        // Clients of all other loads just wait, so fewer replicas serve them too, only more slowly.
        _ => return 1,
    };
    let least = rate * per_request;
    if least.is_finite() { least.ceil().clamp(1.0, f64::from(u32::MAX)) as u32 } else { u32::MAX }
}

/// Maximum seconds between a client's requests, if the limits imply one.
fn cycle(setup: &Setup) -> Option<f64> {
    let slos = setup.workload.slos;
    let parts = slos
        .ttft_ms
        .zip(slos.tpot_ms)
        .map(|(ttft, tpot)| ttft + tpot * f64::from(setup.workload.osl.saturating_sub(1)));
    let least = [slos.e2e_ms, parts].into_iter().flatten().min_by(f64::total_cmp)?;
    asks_most(setup).then_some(least * 1e-3)
}

/// Whether nearly all requests must meet each limit.
fn asks_most(setup: &Setup) -> bool {
    setup.workload.histogram.is_empty() && setup.workload.slos.share_of_each() >= 1.0 - constants().exceptions
}

/// The work of a mean request.
pub(super) struct RequestWork {
    /// Prompt tokens that are computed, and those found in the cache.
    pub new: f64,
    past: f64,
    /// Tokens of a sequence half-way through its output.
    length: f64,
    /// Decode steps, and tokens per step.
    pub steps: f64,
    pub tokens_a_step: f64,
    drafted: u32,
    /// Maximum sequences per rank and step.
    pub most: f64,
    ranks: f64,
    /// Maximum seconds per step, from the TPOT limit.
    pub step_limit: Option<f64>,
    slack: f64,
}

impl RequestWork {
    pub fn of(setup: &Setup) -> Self {
        let workload = &setup.workload;
        let mean = setup.mean_prompt();
        let cached = workload.session().map_or(0.0, |turns| {
            let first = mean
                - f64::from(turns.count.saturating_sub(1)) / 2.0 * f64::from(turns.message + workload.osl);
            let fresh = (first + f64::from(turns.count.saturating_sub(1) * turns.message))
                / f64::from(turns.count.max(1));
            turns.history_cached * (mean - fresh).max(0.0)
        });
        let cached = cached.max(f64::from(setup.cached(mean as u32)));
        let new = (mean - cached).max(1.0);
        let length = mean + f64::from(workload.osl) / 2.0;
        let tokens_a_step = 1.0 + workload.drafts.accepted;
        let slots = f64::from(setup.max_seqs);
        let shares = setup.keeps_prefixes();
        let held = memory_of(setup)
            .map_or(f64::INFINITY, |memory| memory.kv_tokens / length / f64::from(setup.parallel.dp));
        let most = if shares { slots } else { slots.min(held.max(1.0)) };
        let limit = workload.slos.tpot_ms.filter(|_| asks_most(setup));
        let limit = limit.map(|limit| limit * 1e-3 * tokens_a_step);
        Self {
            new,
            past: mean - new,
            length,
            steps: setup.decode_steps(),
            tokens_a_step,
            drafted: workload.drafts.drafted,
            most: most.floor().max(1.0),
            ranks: f64::from(setup.parallel.dp),
            step_limit: limit,
            slack: if workload.varies() || workload.session().is_some() { constants().unequal } else { 1.0 },
        }
    }

    /// Prompts that fill a step: their last one in part, where the engine divides prompts.
    pub fn together(&self, setup: &Setup) -> f64 {
        let count = (f64::from(setup.token_budget) / self.new).clamp(1.0, f64::from(setup.max_seqs));
        if setup.engine.scheduler.batching == Batching::InFlight { count.floor() } else { count }
    }

    /// A step with the tokens of this many prompts on each of `ranks`.
    pub fn prompts(&self, count: f64, ranks: f64) -> Batch {
        let batch = self.chunks(count, self.past);
        let tokens = batch.tokens() as f64 * ranks;
        batch.pooling(tokens as u64)
    }

    /// A batch of `count` prompts: the whole ones, and a part of one more.
    fn chunks(&self, count: f64, past: f64) -> Batch {
        let (new, past) = (self.new as u64, past as u64);
        let part = (count.fract() * self.new).floor() as u64;
        let all = [(count as u64, new), (1, part)].into_iter().filter(|&(count, new)| count > 0 && new > 0);
        let sequences = all.map(|(count, new)| Sequences { count, new, past }).collect();
        Batch { sequences, ..Batch::default() }
    }

    /// A step with this many decoding sequences per rank and the tokens of this many prompts.
    pub fn decode(&self, count: f64, prompts: f64) -> Batch {
        let count = count.floor() as u64;
        let batch = Batch::decode(count, self.length as u64).verifying(self.drafted);
        // Of a prompt in several parts some is in the cache already, which is ignored.
        let batch = batch.with(self.chunks(prompts, 0.0));
        let tokens = batch.tokens() as f64 * self.ranks;
        batch.pooling(tokens as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::config::check;
    use crate::config::link::Link;

    fn setup(link: &str) -> Setup {
        let scenario = Link::read(link).0.expect("a link").scenario;
        check(&scenario, catalog()).0.expect("sound")
    }

    fn bound(link: &str) -> Bound {
        Bound::of(&setup(link)).expect("a bound")
    }

    #[test]
    fn alone_a_token_takes_the_weights_over_the_bandwidth_at_least() {
        let found = bound("v=1&m=llama-3.1-8b&g=h100-sxm&isl=16&osl=100&r=1");
        // 8.03e9 parameters, of which the embedding is not read, in two bytes at 3.35 TB/s.
        let least = (8.03e9 - 128_256.0 * 4096.0) * 2.0 / 3.35e12 * constants().least_decode;
        let tpot = found.tpot.expect("several tokens");
        assert!((0.98..1.1).contains(&(tpot / least)), "{tpot} of {least}");
        assert_eq!(bound("v=1&osl=1&r=1").tpot, None);
    }

    #[test]
    fn stages_compute_the_chunks_of_a_prompt_side_by_side() {
        let ttft =
            |budget: u32| bound(&format!("v=1&m=llama-3.3-70b-instruct&pp=4&isl=16000&tb={budget}")).ttft;
        // The last of eight chunks has 1,664 tokens.
        let share = (1.0 + 3.0 * 1664.0 / 16_000.0) / 4.0;
        assert!((ttft(2048) / ttft(16_384) - share).abs() < 1e-12);
    }

    #[test]
    fn a_tighter_limit_takes_as_many_replicas_or_more() {
        let replicas = |limit: &str| {
            let setup = setup(&format!("v=1&m=llama-3.1-8b&g=l40s&r=300&sp={limit}"));
            Bound::of(&setup).expect("a bound").replicas(&setup)
        };
        let found = ["70", "21", "14", "10.5", "8.75"].map(replicas);
        assert!(found.is_sorted() && found[0] > 1 && found[4] > found[0], "{found:?}");
        // A single sequence takes longer than this.
        assert_eq!(replicas("3.5"), u32::MAX);
    }

    /// Alone, no prompt but its own is computed, and that before its first token.
    #[test]
    fn a_lone_request_meets_a_limit_that_prompts_of_others_would_break() {
        let replicas = |engine: &str| {
            let setup = setup(&format!("v=1&m=qwen3-8b&e={engine}&isl=8000&osl=4&r=0.1&sp=15&st=3000"));
            Bound::of(&setup).expect("a bound").replicas(&setup)
        };
        assert_eq!(["vllm", "sglang", "trtllm"].map(replicas), [1, 1, 1]);
    }

    #[test]
    fn limits_below_the_ideal_are_named_with_it() {
        let broken = |link: &str| {
            let setup = setup(link);
            Bound::of(&setup).expect("a bound").broken(&setup).map(|(metric, ..)| metric)
        };
        assert_eq!(broken("v=1&g=l40s&r=1&sp=3.5&st=1000"), Some(LatencyMetric::Tpot));
        assert_eq!(broken("v=1&g=l40s&r=1&isl=8192&st=20"), Some(LatencyMetric::Ttft));
        assert_eq!(broken("v=1&g=l40s&r=1&se=500&osl=500"), Some(LatencyMetric::E2e));
        assert_eq!(broken("v=1&g=l40s&r=1&sp=60&st=2000"), None);
        // A limit on half of the requests says nothing about their mean.
        assert_eq!(broken("v=1&g=l40s&r=1&sp=3.5&so=0.5"), None);
    }

    #[test]
    fn no_measured_run_makes_steps_shorter_than_the_bound() {
        let known = crate::calibration::shipped();
        let factors =
            known.known.iter().step_by(4).map(|run| known.posterior(&run.point, &[], |_| true).factors());
        let least = factors.fold([f64::INFINITY; 3], |[prefill, decode, ttft], of| {
            [prefill.min(of.prefill), decode.min(of.decode), ttft.min(of.prefill.min(of.decode) * of.wait)]
        });
        let bounds = [constants().least_prefill, constants().least_decode, constants().least_ttft];
        assert!(least.iter().zip(bounds).all(|(least, bound)| *least >= bound), "{least:?}");
    }

    #[test]
    fn layouts_that_do_not_fit_report_the_missing_memory() {
        let lacking = |link: &str| lacks(&setup(link)).expect("known");
        assert!(lacking("v=1&m=llama-3.3-70b-instruct&g=l4").is_some_and(|lacks| lacks > Bytes(1e11)));
        assert_eq!(lacking("v=1&m=llama-3.1-8b&g=h100-sxm"), None);
    }
}
