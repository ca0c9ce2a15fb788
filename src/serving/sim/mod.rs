//! A discrete-event simulation of an engine's scheduler over an abstract step time.
//!
//! What decides TTFT under load is not how long a step takes but which requests it holds. So the scheduler's
//! own rules run here, step by step, for vLLM, SGLang and TensorRT-LLM; what a step costs a
//! [`StepCost`] says. Everything is a pure function of its arguments: no clock, no threads, and random draws come
//! from a seed.
//!
//! A step costs time in proportion to its prompts and to the sequences that end in it, not to those that
//! run: sequences that decode together are kept as one batch.
//!
//! Of prefixes only a share of each prompt, and what a session's own earlier turns left: not those that requests share with
//! each other. A turn finds it on the rank that served the one before, until running sequences need the room, and nothing
//! after a preemption.
//!
//! Not modelled: priorities, limits on long
//! prompts, KV caches that do not grow with every token, and blocks for drafts that are not accepted.

mod admission;
mod arrivals;
mod cost;
mod decoding;
mod error;
mod hand_over;
pub mod metrics;
mod outcome;
mod policy;
mod prefixes;
mod rank;
mod replica;
mod request;
mod schedule;
mod sglang;
mod system;
#[cfg(test)]
mod tests;

pub use arrivals::Arrivals;
pub use cost::{Chunk, RankStep, Spent, StepCost};
pub use error::SimError;
pub use metrics::{Kept, Metrics, Stats, goodput, in_flight, kept, metrics};
pub use outcome::{Counts, Gap, Gaps, Moment, Outcome, Saturation, Served};
pub use policy::{BalanceWait, BatchWait, Policy, Preempt};
pub use request::Request;
pub use system::Limits;

use crate::config::FirstToken;
use system::System;

/// Serves `requests`, in this order, on one replica.
///
/// # Errors
/// What is wrong with the policy, the arrivals or a request; a request that never fits; a run longer than
/// its limit; a cost that is no time.
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

/// Replicas that share one kind of work, in disaggregated serving.
#[derive(Clone, Copy)]
pub struct Pool<'a> {
    pub policy: &'a Policy,
    pub cost: &'a dyn StepCost,
    pub replicas: u32,
}

/// The way of a KV cache from prefill to decode. A rank of prefill sends one prompt after another, and keeps its memory
/// until the decode replica has a slot for the sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Seconds that any transfer takes.
    pub seconds: f64,
    /// Seconds on top, per prompt token sent.
    pub seconds_per_token: f64,
    /// What a prompt's earlier chunks left is sent while the later ones are computed: only the last is waited for.
    pub by_chunk: bool,
    pub first_token: FirstToken,
}

/// Serves `requests` with prefill and decode on replicas of their own. Requests go to the replica with the
/// fewest. The prefill policy's admission delay counts from the arrival, the decode policy's from the end of
/// the transfer. What the decode replicas cannot hold waits in the prefill replicas, and takes their memory.
///
/// # Errors
/// As [`simulate`], and for a pool without replicas or a transfer without a time.
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
    // Prompts are not computed there, unless anew.
    Policy { chunked: true, ..decode.policy.clone() }.check_requests(requests)?;
    System::new(prefill, Some((decode, transfer)), requests, arrivals, limits)?.run()
}
