//! Memory, pipelines, drafts, graphs and disaggregation, step by step.

use super::*;

#[test]
fn vllm_preempts_the_latest_request_and_recomputes_it() {
    let tight = Policy { kv_block: 1, ..vllm(8, 4, 12) };
    let (steps, outcome) = record(&tight, &[(4, 6), (4, 6)], &Arrivals::AtOnce);
    // 8, 10 and 12 tokens are held after three steps. The second gives way with 3 tokens made; its 4 + 3
    // tokens fit again when the first has ended, and the step that computes them makes the fourth.
    let expected = ["4+0,4+0|0/0", "|2/10", "|2/12", "|1/7", "|1/8", "|1/9", "7+0|0/0", "|1/8", "|1/9"];
    assert_eq!(steps, expected);
    assert_eq!(lasts(&outcome), [6.0, 9.0]);
    assert_eq!(outcome.counts.preemptions, 1);
    let longest = outcome.gaps.as_slice().iter().find(|gap| gap.seconds > 1.0);
    assert_eq!(longest, Some(&Gap { seconds: 4.0, count: 1 }));
}

#[test]
fn vllm_starts_a_prompt_only_if_all_of_it_fits() {
    let whole = Policy { kv_block: 1, ..vllm(8, 4, 24) };
    let (steps, outcome) = record(&whole, &[(8, 6), (16, 1)], &Arrivals::AtOnce);
    assert_eq!(steps[..2], ["8+0|0/0", "|1/9"]);
    assert_eq!(steps[5..], ["|1/13", "8+0|0/0", "8+8|0/0"]);
    assert_eq!(outcome.counts.preemptions, 0);
    // Before 0.19 its chunks were computed in vain until the first request ended.
    let by_chunk = Policy { admits_by_chunk: true, ..whole };
    let (steps, outcome) = record(&by_chunk, &[(8, 6), (16, 1)], &Arrivals::AtOnce);
    assert_eq!(steps[1..4], ["7+0|1/9", "7+7|1/10", "|1/11"]);
    assert!(outcome.counts.preemptions > 0);
}

#[test]
fn preempted_requests_reuse_what_remains_in_the_prefix_cache() {
    let tight = Policy { kv_block: 1, history_cached: 1.0, ..vllm(8, 4, 12) };
    let (steps, outcome) = record(&tight, &[(4, 6), (4, 6)], &Arrivals::AtOnce);
    // Of its six tokens three are left when the first has ended.
    assert_eq!(steps[5..], ["|1/9", "4+3|0/0", "|1/8", "|1/9"]);
    assert_eq!(lasts(&outcome), [6.0, 9.0]);
}

#[test]
fn trtllm_starts_only_requests_that_will_fit_until_they_end() {
    let tight = Policy { kv_block: 1, ..trtllm(8, 4, 19) };
    let (steps, outcome) = record(&tight, &[(4, 6), (4, 6)], &Arrivals::AtOnce);
    assert_eq!(steps[..2], ["4+0|0/0", "|1/5"]);
    assert_eq!(firsts(&outcome), [1.0, 7.0]);
    let roomy = Policy { kv_block: 1, ..trtllm(8, 4, 20) };
    assert_eq!(firsts(&record(&roomy, &[(4, 6), (4, 6)], &Arrivals::AtOnce).1), [1.0, 1.0]);
}

#[test]
fn sglang_retracts_those_with_the_least_output() {
    let retract = Preempt::Retract { conservativeness: 0.0 };
    let tight = Policy { preempt: retract, ..sglang(16, 4, 24) };
    // The second starts at 1 s: 4 + 10 + 1 tokens fit into 20. Both gain a token a step from 2 s; 24 are held
    // at 10 s. Both have made 9 tokens, so the later is retracted. It waits until the first ends at 15 s, as
    // 13 + 1 + 1 tokens never fit before; then its 13 tokens are computed and it has all ten.
    let (steps, outcome) = record(&tight, &[(4, 14), (4, 10)], &Arrivals::Times(vec![0.0, 0.5]));
    assert_eq!(outcome.counts.preemptions, 1);
    assert_eq!(lasts(&outcome), [15.0, 16.0]);
    assert_eq!(steps[15], "13+0|0/0");
    // Knowing the lengths, it would not have started.
    let wise = sglang(16, 4, 24);
    let (_, outcome) = record(&wise, &[(4, 14), (4, 10)], &Arrivals::Times(vec![0.0, 0.5]));
    assert_eq!(outcome.counts.preemptions, 0);
    assert!(outcome.requests[1].first > 3.0);
}

#[test]
fn sglang_ends_a_prefill_batch_at_its_cap() {
    let capped = Policy { max_prefill_tokens: Some(5), ..sglang(16, 8, 1 << 20) };
    let (steps, _) = record(&capped, &[(3, 1), (3, 1), (3, 1)], &Arrivals::AtOnce);
    assert_eq!(steps, ["3+0,3+0|0/0", "3+0|0/0"]);
}

#[test]
fn sglang_decodes_beside_mixed_chunks() {
    let mixed = Policy { mixed_chunk: true, max_prefill_tokens: Some(5), ..sglang(16, 8, 1 << 20) };
    let arrivals = Arrivals::Times(vec![0.0, 0.5, 0.5]);
    let (steps, outcome) = record(&mixed, &[(4, 4), (4, 1), (4, 1)], &arrivals);
    // The token that decodes counts in the cap, so the third prompt waits.
    assert_eq!(steps, ["4+0|0/0", "4+0|1/5", "4+0|1/6", "|1/7"]);
    assert_eq!(lasts(&outcome), [4.0, 2.0, 3.0]);
}

#[test]
fn a_step_decided_ahead_misses_later_arrivals() {
    let ahead = Policy { ahead: true, ..vllm(8, 4, 1 << 20) };
    let arrivals = Arrivals::Times(vec![0.0, 0.5, 7.5]);
    let (steps, outcome) = record(&ahead, &[(4, 4), (4, 1), (4, 1)], &arrivals);
    assert_eq!(steps, ["4+0|0/0", "|1/5", "4+0|1/6", "|1/7", "4+0|0/0"]);
    // The last finds an idle scheduler, which decides at once.
    assert_eq!(firsts(&outcome), [1.0, 3.0, 8.5]);
}

#[test]
fn pipeline_stages_keep_as_many_batches_in_flight() {
    let two = Policy { stages: 2, ..vllm(8, 4, 1 << 20) };
    let (steps, outcome) = record(&two, &[(8, 2), (8, 2)], &Arrivals::AtOnce);
    // A stage takes half a second: the second batch starts at 0.5 s and ends at 1.5 s.
    assert_eq!(steps, ["8+0|0/0", "8+0|0/0", "|1/9", "|1/9"]);
    assert_eq!(firsts(&outcome), [1.0, 1.5]);
    assert_eq!(lasts(&outcome), [2.0, 2.5]);
}

#[test]
fn chunks_of_a_prompt_follow_each_other_through_the_stages() {
    for policy in [vllm(8, 4, 1 << 20), sglang(8, 4, 1 << 20)] {
        let four = Policy { stages: 4, ..policy };
        let (steps, outcome) = record(&four, &[(24, 2)], &Arrivals::AtOnce);
        assert_eq!(steps, ["8+0|0/0", "8+8|0/0", "8+16|0/0", "|1/25"]);
        // The third chunk starts once two have left the first stage.
        assert_eq!((firsts(&outcome), lasts(&outcome)), (vec![1.5], vec![2.5]));
    }
}

#[test]
fn accepted_drafts_come_at_once() {
    let drafts = Drafts { drafted: 2, accepted: 1.0 };
    let policy = Policy { drafts, ..vllm(8, 4, 1 << 20) };
    let (steps, outcome) = record(&policy, &[(5, 5), (5, 2)], &Arrivals::AtOnce);
    // A decode step takes 3 tokens of the budget and makes 2; what is too much at the end is dropped.
    assert_eq!(steps, ["5+0,3+0|0/0", "2+3|1/6", "|2/14"]);
    assert_eq!(lasts(&outcome), [3.0, 3.0]);
}

#[test]
fn cached_prompt_tokens_are_not_computed() {
    let cached = Policy { cached_share: 0.55, kv_block: 10, ..vllm(80, 4, 1 << 20) };
    assert_eq!(record(&cached, &[(100, 1)], &Arrivals::AtOnce).0, ["50+50|0/0"]);
    // The last token is always computed, and with it its block.
    let all = Policy { cached_share: 1.0, kv_block: 10, ..vllm(80, 4, 1 << 20) };
    assert_eq!(record(&all, &[(100, 1)], &Arrivals::AtOnce).0, ["10+90|0/0"]);
}

#[test]
fn requests_that_wait_for_the_event_loop_are_handed_on_together() {
    let policy = |together| Policy {
        admission_delay: 0.5,
        admission_interval: 0.25,
        admission_together: together,
        ..vllm(64, 8, 1 << 20)
    };
    // The first is alone; the others come while it is worked on, and wait for one another.
    let arrivals = Arrivals::Times(vec![0.0, 0.0625, 0.125, 0.25, 8.0]);
    let first = |together| firsts(&record(&policy(together), &[(4, 1); 5], &arrivals).1);
    assert_eq!(first(true), [1.5, 2.5, 2.5, 2.5, 9.5]);
    assert_eq!(first(false), [1.5, 2.5, 2.5, 2.5, 9.5]);
    // Handed on alone, a short prompt that came later still does not overtake a long one; in a group, all wait for the longest.
    let long_first = |second| {
        let policy = Policy { admission_per_token: 0.125, ..policy(true) };
        firsts(&record(&policy, &[(16, 1), (4, 1)], &Arrivals::Times(vec![0.0, second])).1)
    };
    assert_eq!([long_first(0.5), long_first(0.0)], [[3.5, 3.5]; 2]);
    let slow = |together| Policy { admission_interval: 1.0, ..policy(together) };
    let at_once = |together| firsts(&record(&slow(together), &[(4, 1); 3], &Arrivals::AtOnce).1);
    assert_eq!(at_once(true), [3.5, 3.5, 3.5], "the last is taken after two seconds");
    assert_eq!(at_once(false), [1.5, 2.5, 3.5]);
}

#[test]
fn decode_steps_are_padded_to_graph_sizes() {
    let padded = Policy { graph_sizes: vec![1, 2, 4], ..vllm(64, 8, 1 << 20) };
    let (steps, _) = record(&padded, &[(4, 2), (4, 2), (4, 3)], &Arrivals::AtOnce);
    assert_eq!(steps, ["4+0,4+0,4+0|0/0", "|4/15", "|1/6"]);
    let (steps, _) = record(&padded, &[(4, 2); 5], &Arrivals::AtOnce);
    assert_eq!(steps[1], "|5/25", "beyond the largest graph");
}

#[test]
fn prefill_and_decode_on_replicas_of_their_own() {
    let (policy, lengths) = (vllm(16, 8, 1 << 20), requests(&[(10, 3), (10, 1), (10, 3)]));
    let prefill = |_: &[RankStep<'_>]| 1.0;
    let decode = |_: &[RankStep<'_>]| 0.125;
    let run = |replicas, first_token| {
        let transfer = Transfer { seconds: 0.25, seconds_per_token: 0.025, by_chunk: false, first_token };
        let prefill =
            Pool { policy: &Policy { token_budget: 10, ..policy.clone() }, cost: &prefill, replicas };
        let decode = Pool { policy: &policy, cost: &decode, replicas: 1 };
        simulate_disaggregated(prefill, decode, transfer, &lengths, &Arrivals::AtOnce, Limits::default())
            .expect("it can be served")
    };
    // One prompt a step; its KV cache travels for half a second.
    let one = run(1, FirstToken::Prefill);
    assert_eq!(firsts(&one), [1.0, 2.0, 3.0]);
    assert_eq!(lasts(&one), [1.75, 2.0, 3.75]);
    assert_eq!(one.gaps.as_slice()[0], Gap { seconds: 0.625, count: 1 });
    // Two replicas take two at once, and the third goes to one of them.
    assert_eq!(firsts(&run(2, FirstToken::Prefill)), [1.0, 1.0, 2.0]);
    assert_eq!(firsts(&run(1, FirstToken::Slot)), [1.5, 2.0, 3.5]);
}

#[test]
fn a_turn_never_arrives_before_its_answer_whatever_the_waiting_time() {
    let begin = Box::new(Arrivals::Closed { clients: 1 });
    let arrivals = Arrivals::Sessions { turns: 2, think_s: 3.0, begin };
    let (_, mut outcome) = record(&vllm(8, 4, 64), &[(4, 6), (4, 6)], &arrivals);
    outcome.wait(2.0, arrivals.pause());
    let [first, second] = &outcome.requests[..] else { panic!("two turns") };
    assert!((second.arrival - first.last - 3.0).abs() < 1e-9, "{first:?} {second:?}");
}
