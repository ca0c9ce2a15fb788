//! Separate prefill and decode replicas.

use super::*;
use crate::config::FirstToken;

const FREE: Transfer =
    Transfer { seconds: 0.0, seconds_per_token: 0.0, by_chunk: false, first_token: FirstToken::Slot };

/// A prompt takes a second, a decode step an eighth.
fn serve(
    [first, then]: [(&Policy, u32); 2],
    transfer: Transfer,
    lengths: &[(u32, u32)],
    arrivals: &Arrivals,
) -> Outcome {
    let seconds = |ranks: &[RankStep<'_>]| {
        let prompts: usize = ranks.iter().map(|rank| rank.chunks.len()).sum();
        if prompts > 0 { prompts as f64 } else { 0.125 }
    };
    let pool = |(policy, replicas)| Pool { policy, cost: &seconds, replicas };
    simulate_disaggregated(pool(first), pool(then), transfer, &requests(lengths), arrivals, Limits::default())
        .expect("it can be served")
}

#[test]
fn every_request_is_served_once_and_every_token_counted() {
    let policy = vllm(64, 4, 1 << 20);
    let lengths: Vec<(u32, u32)> = (0..60).map(|index| (10 + index, 1 + index % 7)).collect();
    for first_token in [FirstToken::Prefill, FirstToken::Slot, FirstToken::Step] {
        let transfer = Transfer { seconds_per_token: 0.001, first_token, ..FREE };
        let closed = Arrivals::Closed { clients: 9 };
        let outcome = serve([(&policy, 2), (&policy, 3)], transfer, &lengths, &closed);
        assert!(outcome.requests.iter().all(|one| one.arrival < one.first && one.first <= one.last));
        let others: u32 = lengths.iter().map(|(_, output)| output - 1).sum();
        let gaps: u64 = outcome.gaps.as_slice().iter().map(|gap| gap.count).sum();
        assert_eq!(gaps, u64::from(others), "{first_token:?}");
    }
}

#[test]
fn decode_waits_for_transfers_which_a_port_sends_in_sequence() {
    let policy = vllm(20, 8, 1 << 20);
    let slow = Transfer { seconds: 0.5, seconds_per_token: 0.2, ..FREE };
    // Both prompts end after two seconds; each takes two to be sent, and half a one to be agreed on.
    let lengths = [(10, 3), (10, 3)];
    let run = |transfer, workers| {
        firsts(&serve([(&policy, workers), (&policy, 1)], transfer, &lengths, &Arrivals::AtOnce))
    };
    assert_eq!(run(slow, 1), [4.5, 6.5]);
    assert_eq!(run(slow, 2), [3.5, 3.5], "ports of their own");
    // A decode worker that makes the first token has it a step later.
    assert_eq!(run(Transfer { first_token: FirstToken::Step, ..slow }, 2), [3.625, 3.625]);
    // The prefill worker has it at once.
    assert_eq!(run(Transfer { first_token: FirstToken::Prefill, ..slow }, 1), [2.0, 2.0]);
}

#[test]
fn of_chunks_only_the_last_is_waited_for() {
    let policy = vllm(10, 8, 1 << 20);
    let slow = Transfer { seconds_per_token: 0.1, ..FREE };
    let run = |by_chunk| {
        let transfer = Transfer { by_chunk, ..slow };
        firsts(&serve([(&policy, 1), (&policy, 1)], transfer, &[(25, 2)], &Arrivals::AtOnce))
    };
    assert_eq!(run(false), [5.5], "three steps and 25 tokens");
    assert_eq!(run(true), [3.5], "three steps and the last five");
}

#[test]
fn a_saturated_prefill_pool_costs_ttft_and_not_tpot() {
    let (prefill, decode) = (vllm(10, 4, 1 << 20), vllm(64, 64, 1 << 20));
    let run = |clients| {
        let lengths = vec![(10, 9); 40];
        let closed = Arrivals::Closed { clients };
        metrics(&serve([(&prefill, 1), (&decode, 1)], FREE, &lengths, &closed)).expect("requests")
    };
    // One prompt a second, one second of decode: two clients keep the worker busy, eight wait for it.
    let (few, many) = (run(2), run(8));
    assert!(many.ttft.mean > 4.0 * few.ttft.mean, "{} {}", few.ttft.mean, many.ttft.mean);
    let tpot = |run: &Metrics| run.tpot.expect("outputs").mean;
    assert!((tpot(&many) / tpot(&few) - 1.0).abs() < 0.01, "{} {}", tpot(&few), tpot(&many));
    assert!((many.requests_per_s / few.requests_per_s - 1.0).abs() < 0.1);
}

#[test]
fn a_full_decode_pool_holds_the_memory_of_prefill() {
    // One sequence decodes at a time, for four seconds.
    let (decode, lengths) = (vllm(64, 1, 1 << 20), [(16, 33); 4]);
    let begun = |kv_tokens| {
        let prefill = vllm(16, 8, kv_tokens);
        let transfer = Transfer { first_token: FirstToken::Prefill, ..FREE };
        firsts(&serve([(&prefill, 1), (&decode, 1)], transfer, &lengths, &Arrivals::AtOnce))
    };
    assert_eq!(begun(1 << 20), [1.0, 2.0, 3.0, 4.0]);
    // With room for two prompts the fourth waits until the second has its slot, after five seconds.
    assert_eq!(begun(32), [1.0, 2.0, 3.0, 6.0]);
}
