//! Whole simulations: hand-computed schedules, general properties, and edge cases.

mod edges;
mod metric_vectors;
mod more_schedules;
mod pools;
mod properties;
mod schedules;
mod sessions;

use std::cell::RefCell;

use super::*;
use crate::config::{Batching, Drafts};

/// `(prompt, output)` of each request.
fn requests(lengths: &[(u32, u32)]) -> Vec<Request> {
    lengths.iter().map(|&(prompt, output)| Request::new(prompt, output)).collect()
}

/// Steps of one second each, written as `new+past,...|decoding/kv`, with ` & ` between ranks.
#[derive(Default)]
struct Recorder(RefCell<Vec<String>>);

impl StepCost for Recorder {
    fn seconds(&self, ranks: &[RankStep<'_>]) -> f64 {
        let of_rank = |rank: &RankStep| {
            let chunks: Vec<String> =
                rank.chunks.iter().map(|chunk| format!("{}+{}", chunk.new, chunk.past)).collect();
            format!("{}|{}/{}", chunks.join(","), rank.decoding, rank.decoding_kv)
        };
        self.0.borrow_mut().push(ranks.iter().map(of_rank).collect::<Vec<_>>().join(" & "));
        1.0
    }
}

/// Serves with steps of one second; returns the steps and the outcome.
fn record(policy: &Policy, lengths: &[(u32, u32)], arrivals: &Arrivals) -> (Vec<String>, Outcome) {
    let recorder = Recorder::default();
    let outcome = simulate(policy, &requests(lengths), arrivals, &recorder, Limits::default());
    (recorder.0.into_inner(), outcome.expect("it can be served"))
}

fn firsts(outcome: &Outcome) -> Vec<f64> {
    outcome.requests.iter().map(|served| served.first).collect()
}

fn lasts(outcome: &Outcome) -> Vec<f64> {
    outcome.requests.iter().map(|served| served.last).collect()
}

fn vllm(token_budget: u32, max_seqs: u32, kv_tokens: u64) -> Policy {
    Policy::new(token_budget, max_seqs, kv_tokens)
}

fn sglang(token_budget: u32, max_seqs: u32, kv_tokens: u64) -> Policy {
    Policy {
        batching: Batching::PrefillFirst,
        preempt: Preempt::LookAhead,
        kv_block: 1,
        ..Policy::new(token_budget, max_seqs, kv_tokens)
    }
}

fn trtllm(token_budget: u32, max_seqs: u32, kv_tokens: u64) -> Policy {
    Policy {
        batching: Batching::InFlight,
        preempt: Preempt::Never,
        chunked: false,
        kv_block: 32,
        ..Policy::new(token_budget, max_seqs, kv_tokens)
    }
}
