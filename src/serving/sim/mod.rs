//! A discrete-event simulation of an engine's scheduler over an abstract step time.
//!
//! TTFT under load depends less on how long a step takes than on which requests it holds. So the schedulers of
//! vLLM, SGLang and TensorRT-LLM run here step by step; a [`StepCost`] gives the cost of a step. Everything is a
//! pure function of its arguments: no clock, no threads, and random draws from a seed.
//!
//! A step's cost is proportional to its prompts and to the sequences that finish in it, not to those that run:
//! sequences that decode together are kept as one batch. Steps that only decode are taken together up to the next event,
//! as long as the sequences hardly grow meanwhile.
//!
//! Prefix caching covers a share of each prompt, and the earlier turns of the same session, but not prefixes shared
//! between requests. A turn finds them on the rank that served the previous one, until running sequences need the
//! memory. After a preemption, only vLLM's requests find what they had computed.
//!
//! Not modelled: priorities, limits on long prompts, KV caches that do not grow with every token, and blocks for
//! rejected drafts.

mod admission;
mod arrivals;
mod cost;
mod decoding;
mod error;
mod hand_over;
mod host;
mod limited_client;
pub mod metrics;
mod outcome;
mod policy;
mod preemption;
mod prefixes;
mod prompts;
mod queue;
mod rank;
mod replica;
mod request;
mod schedule;
mod scheduled;
mod system;
#[cfg(test)]
mod tests;
mod watch;

pub use arrivals::Arrivals;
pub use cost::{Chunk, RankStep, Spent, StepCost};
pub use error::SimError;
pub use host::HostCache;
pub use metrics::{LimitResult, Metrics, Stats, goodput, limit_results, metrics};
pub use outcome::{Counts, FinishedRequest, Gap, Gaps, Moment, Outcome, Saturation, SecondHalf};
pub use policy::{BalanceWait, BatchWait, Policy, Preempt, padded};
pub use request::Request;
pub use system::Limits;
pub use watch::{mostly_wait, served_within};

use crate::config::FirstToken;
use system::System;

/// Serves `requests`, in this order, on one replica.
///
/// # Errors
/// An invalid policy, arrivals or request; a request that never fits; a run longer than its limit; a cost that is
/// not a time.
pub fn simulate(
    policy: &Policy,
    requests: &[Request],
    arrivals: &Arrivals,
    cost: &dyn StepCost,
    limits: Limits,
) -> Result<Outcome, SimError> {
    policy.check()?;
    policy.check_requests(requests)?;
    System::new(Pool { policy, cost, replicas: 1 }, None, requests, arrivals, limits)?.run()
}

/// Replicas with the same role in disaggregated serving.
#[derive(Clone, Copy)]
pub struct Pool<'a> {
    pub policy: &'a Policy,
    pub cost: &'a dyn StepCost,
    pub replicas: u32,
}

/// The KV cache transfer from prefill to decode. A prefill rank sends one prompt at a time, and keeps its memory
/// until the decode replica has a slot for the sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Fixed seconds per transfer.
    pub seconds: f64,
    /// Additional seconds per prompt token sent.
    pub seconds_per_token: f64,
    /// Earlier chunks of a prompt are sent while later ones are computed: only the last adds latency.
    pub by_chunk: bool,
    pub first_token: FirstToken,
}

/// Serves `requests` with separate prefill and decode replicas. Requests go to the replica with the fewest. The
/// prefill policy's admission delay counts from the arrival, the decode policy's from the end of the transfer. What
/// the decode replicas cannot hold waits in the prefill replicas and occupies their memory.
///
/// # Errors
/// As [`simulate`], or for a pool without replicas or an invalid transfer time.
pub fn simulate_disaggregated(
    prefill: Pool<'_>,
    decode: Pool<'_>,
    transfer: Transfer,
    requests: &[Request],
    arrivals: &Arrivals,
    limits: Limits,
) -> Result<Outcome, SimError> {
    let time = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
    if !time(transfer.seconds) || !time(transfer.seconds_per_token) {
        return Err(SimError::Policy("transfer times must be finite and not negative"));
    }
    if !(1..=4096).contains(&prefill.replicas) || !(1..=4096).contains(&decode.replicas) {
        return Err(SimError::Policy("a pool must have 1 to 4096 replicas"));
    }
    prefill.policy.check()?;
    decode.policy.check()?;
    let prompts: Vec<Request> =
        requests.iter().map(|request| Request { output: request.output.min(1), ..*request }).collect();
    prefill.policy.check_requests(&prompts)?;
    // Prompts are not computed there, except after preemption.
    Policy { chunked: true, ..decode.policy.clone() }.check_requests(requests)?;
    System::new(prefill, Some((decode, transfer)), requests, arrivals, limits)?.run()
}
