//! Loads and policies at and beyond the limits.

use super::*;

fn second(_: &[RankStep<'_>]) -> f64 {
    1.0
}

fn run(policy: &Policy, lengths: &[(u32, u32)], arrivals: &Arrivals) -> Result<Outcome, SimError> {
    simulate(policy, &requests(lengths), arrivals, &second, Limits::default())
}

#[test]
fn requests_that_can_never_be_served_are_named() {
    let policy = vllm(8, 4, 64);
    let at_once = &Arrivals::AtOnce;
    assert_eq!(run(&policy, &[], at_once), Err(SimError::NoRequests));
    assert_eq!(
        run(&policy, &[(4, 4), (0, 4)], at_once),
        Err(SimError::EmptyRequest { request: 1, what: "prompt" })
    );
    assert_eq!(run(&policy, &[(4, 0)], at_once), Err(SimError::EmptyRequest { request: 0, what: "output" }));
    assert_eq!(
        run(&policy, &[(60, 4), (61, 4)], at_once),
        Err(SimError::KvCapacity { request: 1, tokens: 65, capacity: 64 })
    );
    let short = Policy { context_tokens: Some(10), ..policy.clone() };
    assert_eq!(
        run(&short, &[(6, 4), (6, 5)], at_once),
        Err(SimError::ContextLimit { request: 1, tokens: 11, limit: 10 })
    );
    let whole = Policy { chunked: false, ..policy.clone() };
    assert_eq!(
        run(&whole, &[(8, 1), (9, 1)], at_once),
        Err(SimError::StepBudget { request: 1, tokens: 9, budget: 8 })
    );
    assert!(run(&policy, &[(u32::MAX, u32::MAX)], at_once).is_err());
}

#[test]
fn invalid_policies_are_errors() {
    let sound = vllm(8, 4, 64);
    let broken = [
        Policy { token_budget: 0, ..sound.clone() },
        Policy { max_seqs: 0, ..sound.clone() },
        Policy { ranks: 0, ..sound.clone() },
        Policy { stages: 0, ..sound.clone() },
        Policy { kv_block: 0, ..sound.clone() },
        Policy { cached_share: f64::NAN, ..sound.clone() },
        Policy { admission_delay: -1.0, ..sound.clone() },
        Policy { admission_per_token: f64::NAN, ..sound.clone() },
        Policy { admission_interval: f64::INFINITY, ..sound.clone() },
        Policy { graph_sizes: vec![4, 2], ..sound.clone() },
        Policy { drafts: Drafts { drafted: 2, accepted: 3.0 }, ..sound.clone() },
        Policy { drafts: Drafts { drafted: 9, accepted: 1.0 }, ..sound.clone() },
        Policy { batch_wait: Some(BatchWait { tokens: 1, iterations: 1 }), ranks: 2, ..sound.clone() },
        Policy { batch_wait: Some(BatchWait { tokens: 1, iterations: 1 }), ..sglang(8, 4, 64) },
    ];
    for policy in broken {
        let result = run(&policy, &[(1, 1)], &Arrivals::AtOnce);
        assert!(matches!(result, Err(SimError::Policy(_))), "{policy:?}: {result:?}");
    }
}

#[test]
fn invalid_arrivals_are_errors() {
    let policy = vllm(8, 4, 64);
    for arrivals in [
        Arrivals::Closed { clients: 0 },
        Arrivals::AtMost { in_flight: 0, due: Box::new(Arrivals::AtOnce) },
        Arrivals::AtMost { in_flight: 1, due: Box::new(Arrivals::Closed { clients: 1 }) },
        Arrivals::Ramp { clients: 1, seconds: -1.0 },
        Arrivals::Ramp { clients: 1, seconds: f64::INFINITY },
        Arrivals::Times(vec![0.0]),
        Arrivals::Times(vec![1.0, 0.5]),
        Arrivals::Times(vec![0.0, f64::NAN]),
        Arrivals::Rate { per_s: 0.0, burstiness: 1.0, seed: 0 },
    ] {
        let result = run(&policy, &[(1, 1), (1, 1)], &arrivals);
        assert!(matches!(result, Err(SimError::Arrivals(_))), "{arrivals:?}: {result:?}");
    }
    let at_once = Arrivals::Rate { per_s: f64::INFINITY, burstiness: 1.0, seed: 0 };
    assert_eq!(firsts(&run(&policy, &[(1, 1), (1, 1)], &at_once).expect("served")), [1.0, 1.0]);
}

#[test]
fn costs_and_limits_end_a_run() {
    let policy = vllm(8, 4, 64);
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let cost = |_: &[RankStep<'_>]| bad;
        let result = simulate(&policy, &requests(&[(1, 1)]), &Arrivals::AtOnce, &cost, Limits::default());
        assert_eq!(result, Err(SimError::StepTime { step: 1 }));
    }
    let limits = Limits { steps: 5, moments: 4 };
    let result = simulate(&policy, &requests(&[(1, 30)]), &Arrivals::AtOnce, &second, limits);
    assert!(matches!(result, Err(SimError::StepLimit { .. })), "{result:?}");
    // Steps that take no time also finish.
    let nothing = |_: &[RankStep<'_>]| 0.0;
    let outcome = simulate(&policy, &requests(&[(9, 30)]), &Arrivals::AtOnce, &nothing, Limits::default());
    assert_eq!(lasts(&outcome.expect("served")), [0.0]);
}

#[test]
fn a_queue_that_grows_is_named() {
    // Four slots and 5 tokens each: about four requests in five to six seconds.
    let policy = vllm(64, 4, 1 << 20);
    let lengths = vec![(8, 5); 400];
    let at = |per_s| Arrivals::Rate { per_s, burstiness: 1.0, seed: 5 };
    let calm = run(&policy, &lengths, &at(0.4)).expect("served");
    assert_eq!(calm.saturation, None);
    let swamped = run(&policy, &lengths, &at(1.6)).expect("served");
    let saturation = swamped.saturation.expect("named");
    assert!((saturation.offered_per_s / 1.6 - 1.0).abs() < 0.2, "{saturation:?}");
    assert!((saturation.served_per_s - 0.8).abs() < 0.1, "{saturation:?}");
    assert!(saturation.backlog > 100, "{saturation:?}");
    assert_eq!(run(&policy, &lengths, &Arrivals::AtOnce).expect("served").saturation, None);
}

#[test]
fn the_timeline_stays_short_with_many_requests() {
    let lengths = vec![(100, 1); 100_000];
    let limits = Limits { steps: 1_000_000, moments: 100 };
    let policy = vllm(8192, 512, 1 << 20);
    let outcome = simulate(&policy, &requests(&lengths), &Arrivals::AtOnce, &second, limits).expect("served");
    // 81.92 prompts a step.
    assert_eq!(outcome.counts.steps, 10_000_000_u64.div_ceil(8192));
    assert!((100..=200).contains(&outcome.timeline.len()), "{}", outcome.timeline.len());
    assert!(outcome.gaps.as_slice().is_empty());
}

#[test]
fn a_prompt_longer_than_memory_leaves_room_is_cut_to_it() {
    // SGLang computes what fits beside the decoding sequence, and goes on when that has ended.
    let retract = Preempt::Retract { conservativeness: 0.0 };
    let policy = Policy { preempt: retract, ..sglang(64, 4, 64) };
    let outcome = run(&policy, &[(20, 30), (40, 2)], &Arrivals::AtOnce).expect("served");
    assert!(outcome.requests[1].first > outcome.requests[0].first);
}
