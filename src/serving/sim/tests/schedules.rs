//! Four requests at once under each engine's rules, step by step.

use super::*;

const FOUR: [(u32, u32); 4] = [(5, 3), (6, 2), (3, 1), (2, 2)];

#[test]
fn vllm_decodes_first_and_fills_the_budget_with_prompts() {
    let (steps, outcome) = record(&vllm(8, 4, 1 << 20), &FOUR, &Arrivals::AtOnce);
    // 8 tokens a step: 5 of the first prompt and 3 of the second; then one token is the first's decode, and
    // 3 + 3 + 1 tokens of prompts fill the step; and so on.
    assert_eq!(steps, ["5+0,3+0|0/0", "3+3,3+0,1+0|1/6", "1+1|2/14", "|1/3"]);
    assert_eq!(firsts(&outcome), [1.0, 2.0, 2.0, 3.0]);
    assert_eq!(lasts(&outcome), [3.0, 3.0, 2.0, 4.0]);
    assert_eq!(outcome.counts, Counts { steps: 4, prompt_steps: 3, ..Counts::default() });
}

#[test]
fn sglang_prefills_until_nothing_waits() {
    let (steps, outcome) = record(&sglang(8, 4, 1 << 20), &FOUR, &Arrivals::AtOnce);
    // The cut prompt goes on first; decode waits for both prefill steps.
    assert_eq!(steps, ["5+0,3+0|0/0", "3+3,3+0,2+0|0/0", "|3/16", "|1/7"]);
    assert_eq!(firsts(&outcome), [1.0, 2.0, 2.0, 2.0]);
    assert_eq!(lasts(&outcome), [4.0, 3.0, 2.0, 3.0]);
    assert_eq!(outcome.gaps.as_slice()[0], Gap { seconds: 2.0, count: 1 });
}

#[test]
fn trtllm_takes_whole_prompts_in_order() {
    let (steps, outcome) = record(&trtllm(8, 4, 1 << 20), &FOUR, &Arrivals::AtOnce);
    // 6 tokens do not fit beside 5, and the 3 behind them may not overtake.
    assert_eq!(steps, ["5+0|0/0", "6+0|1/6", "3+0,2+0|2/14", "|1/3"]);
    assert_eq!(firsts(&outcome), [1.0, 2.0, 3.0, 3.0]);
    assert_eq!(lasts(&outcome), [3.0, 3.0, 3.0, 4.0]);
}

#[test]
fn slots_bound_what_runs() {
    let two = Policy { max_seqs: 2, ..vllm(8, 2, 1 << 20) };
    let (steps, outcome) = record(&two, &FOUR, &Arrivals::AtOnce);
    // The third starts only when a slot is free, after the third step, and so does the fourth.
    assert_eq!(outcome.queued, 6.0);
    assert_eq!(steps, ["5+0,3+0|0/0", "3+3|1/6", "|2/14", "3+0,2+0|0/0", "|1/3"]);
}

#[test]
fn a_client_sends_its_next_request_when_the_last_one_ends() {
    let (steps, outcome) =
        record(&vllm(8, 4, 1 << 20), &[(4, 2), (4, 4), (4, 1)], &Arrivals::Closed { clients: 2 });
    assert_eq!(steps, ["4+0,4+0|0/0", "|2/10", "4+0|1/6", "|1/7"]);
    let arrivals: Vec<f64> = outcome.requests.iter().map(|served| served.arrival).collect();
    assert_eq!(arrivals, [0.0, 0.0, 2.0]);
    assert_eq!(lasts(&outcome), [2.0, 4.0, 3.0]);
    assert_eq!(outcome.saturation, None);
}

/// One is due a second. The first keeps the only slot of the client for 4 s, so the others are sent late, and their times start then.
#[test]
fn a_client_holds_back_what_would_exceed_its_limit() {
    let due = Box::new(Arrivals::Times(vec![0.0, 1.0, 2.0, 30.0]));
    let arrivals = Arrivals::AtMost { in_flight: 1, due };
    let (steps, outcome) = record(&vllm(8, 4, 1 << 20), &[(4, 4), (4, 2), (4, 1), (4, 1)], &arrivals);
    assert_eq!(steps, ["4+0|0/0", "|1/5", "|1/6", "|1/7", "4+0|0/0", "|1/5", "4+0|0/0", "4+0|0/0"]);
    let arrivals: Vec<f64> = outcome.requests.iter().map(|served| served.arrival).collect();
    assert_eq!(arrivals, [0.0, 4.0, 6.0, 30.0]);
    assert_eq!(lasts(&outcome), [4.0, 6.0, 7.0, 31.0]);
}

/// As many are due as the server can hold, but too few may be in flight to keep up.
#[test]
fn a_client_that_falls_behind_its_rate_is_told_from_one_that_keeps_up() {
    let run = |in_flight: u32, per_s: f64| {
        let due = Box::new(Arrivals::Times((0..200).map(|request| f64::from(request) / per_s).collect()));
        let arrivals = Arrivals::AtMost { in_flight, due };
        record(&vllm(64, 8, 1 << 20), &[(4, 4); 200], &arrivals).1
    };
    // A request takes four steps of 1 s.
    let behind = run(2, 1.0);
    let saturation = behind.saturation.expect("half of them are sent");
    assert!((saturation.offered_per_s - 1.0).abs() < 0.02, "{saturation:?}");
    assert!((saturation.served_per_s - 0.5).abs() < 0.02, "{saturation:?}");
    assert!(behind.requests.iter().all(|served| served.ttft() < 2.0), "waiting at the client is not in it");
    assert_eq!(run(8, 1.0).saturation, None);
    let without = Arrivals::Times((0..200).map(f64::from).collect());
    let free = record(&vllm(64, 8, 1 << 20), &[(4, 4); 200], &without).1;
    assert_eq!(run(8, 1.0).requests, free.requests);
}

#[test]
fn clients_of_a_ramp_begin_one_after_the_other() {
    let ramp = Arrivals::Ramp { clients: 2, seconds: 9.0 };
    let (_, outcome) = record(&vllm(8, 4, 1 << 20), &[(4, 2); 5], &ramp);
    // The first client sends its second and third request before the other begins, in the middle of the third.
    let arrivals: Vec<f64> = outcome.requests.iter().map(|served| served.arrival).collect();
    assert_eq!(arrivals, [0.0, 2.0, 4.0, 4.5, 6.0]);
}

#[test]
fn the_delay_of_admission_adds_to_what_the_client_sees() {
    let slow = Policy { admission_delay: 0.5, ..vllm(8, 4, 1 << 20) };
    let (_, outcome) = record(&slow, &[(4, 2), (4, 1)], &Arrivals::Closed { clients: 1 });
    assert_eq!(firsts(&outcome), [1.5, 4.0]);
    assert_eq!(lasts(&outcome), [2.5, 4.0]);
    assert!((outcome.requests[1].arrival - 2.5).abs() < 1e-12);
}

/// A short prompt is tokenised sooner than a long one that arrived before it.
#[test]
fn each_request_is_tokenised_in_its_own_time() {
    let slow = Policy { admission_per_token: 0.125, ..vllm(8, 4, 1 << 20) };
    let (_, outcome) = record(&slow, &[(8, 1), (2, 1)], &Arrivals::AtOnce);
    assert_eq!(firsts(&outcome), [2.25, 1.25]);
}

#[test]
fn tokens_wait_for_others_to_be_sent() {
    // Four tokens a step take 1.6 s to send, a step 1 s: each step's wait 0.6 s longer, and on average 1.5 go first.
    let slow = Policy { stream_interval: 0.4, stream_queues: true, ..vllm(16, 4, 1 << 20) };
    let (steps, outcome) = record(&slow, &[(4, 3); 4], &Arrivals::AtOnce);
    assert_eq!(steps.len(), 3);
    assert_eq!(firsts(&outcome), [2.0; 4]);
    assert!(lasts(&outcome).iter().all(|last| (last - 5.2).abs() < 1e-12), "{outcome:?}");
    // A client asks again when its last token has arrived, and is heard when the others have been sent, at 5.8 s.
    let (_, outcome) = record(&slow, &[(4, 3); 8], &Arrivals::Closed { clients: 4 });
    let second = &outcome.requests[4..];
    assert!(second.iter().all(|served| (served.arrival - 5.2).abs() < 1e-12));
    assert!(second.iter().all(|served| (served.first - 7.8).abs() < 1e-12), "{second:?}");
    // Without a limit, each step's tokens are sent from its end.
    let unlimited = Policy { stream_queues: false, ..slow };
    let (_, outcome) = record(&unlimited, &[(4, 3); 4], &Arrivals::AtOnce);
    assert_eq!((firsts(&outcome), lasts(&outcome)), (vec![2.0; 4], vec![4.0; 4]));
}

#[test]
fn requests_wait_for_the_tokens_before_them_only() {
    let slow = Policy { stream_interval: 0.5, admission_delay: 0.5, ..vllm(16, 4, 1 << 20) };
    // The first token is sent until 2 s, the one of the step in flight from 2.5 s. Heard at 2 s, the request takes part in the
    // step that begins at 2.5 s, and its token is the second of that step.
    let arrivals = Arrivals::Times(vec![0.0, 1.75]);
    let (_, outcome) = record(&slow, &[(4, 9), (4, 1)], &arrivals);
    assert_eq!(firsts(&outcome), [2.0, 4.25]);
}

#[test]
fn the_receive_interval_delays_what_arrives_during_decode() {
    let arrivals = Arrivals::Times(vec![0.0, 1.5]);
    let lengths = [(4, 10), (4, 2)];
    // Read after the step that ends at 2 s.
    let (_, at_once) = record(&sglang(8, 4, 1 << 20), &lengths, &arrivals);
    assert_eq!(firsts(&at_once), [1.0, 3.0]);
    // The prefill step ends at 1 s and the count begins anew; it reaches 3 at 4 s.
    let lazy = Policy { receive_interval: 3, ..sglang(8, 4, 1 << 20) };
    let (_, late) = record(&lazy, &lengths, &arrivals);
    assert_eq!(firsts(&late), [1.0, 5.0]);
    // An idle scheduler reads at once.
    let idle = Policy { receive_interval: 1000, ..sglang(8, 4, 1 << 20) };
    let (_, outcome) = record(&idle, &[(4, 2), (4, 1)], &Arrivals::Times(vec![0.0, 7.0]));
    assert_eq!(firsts(&outcome), [1.0, 8.0]);
}

#[test]
fn batch_waiting_gathers_prompts() {
    let wait = Some(BatchWait { tokens: 6, iterations: 2 });
    let policy = Policy { batch_wait: wait, ..trtllm(8, 4, 1 << 20) };
    // 3 prompt tokens and one decode token are below 6: held at 1 s and 2 s, let go at 3 s.
    let (_, held) = record(&policy, &[(4, 10), (3, 2)], &Arrivals::Times(vec![0.0, 0.5]));
    assert_eq!(firsts(&held), [1.0, 4.0]);
    // With a second prompt at 2 s they are 7.
    let (_, enough) = record(&policy, &[(4, 10), (3, 2), (3, 2)], &Arrivals::Times(vec![0.0, 0.5, 1.5]));
    assert_eq!(firsts(&enough), [1.0, 3.0, 3.0]);
}

#[test]
fn ranks_step_together_and_wait_for_each_other() {
    let two = Policy { ranks: 2, ..trtllm(8, 4, 1 << 20) };
    let lengths = [(4, 10), (4, 10), (3, 2)];
    let arrivals = Arrivals::Times(vec![0.0, 0.0, 0.5]);
    let (steps, outcome) = record(&two, &lengths, &arrivals);
    assert_eq!(steps[..2], ["4+0|0/0 & 4+0|0/0", "3+0|1/5 & |1/5"]);
    assert_eq!(firsts(&outcome), [1.0, 1.0, 2.0]);
    // Only one rank has a prompt at 1 s and 2 s; at 3 s it has waited for long enough.
    let wait = Some(BalanceWait { iterations: 3, gather: 0 });
    let (_, outcome) = record(&Policy { balance_wait: wait, ..two.clone() }, &lengths, &arrivals);
    assert_eq!(firsts(&outcome), [1.0, 1.0, 4.0]);
    // With one more at 2 s both have one; they may then wait for others.
    let lengths = [(4, 10), (4, 10), (3, 2), (3, 2)];
    let arrivals = Arrivals::Times(vec![0.0, 0.0, 0.5, 1.5]);
    for gather in [0, 2] {
        let wait = Some(BalanceWait { iterations: 9, gather });
        let (_, outcome) = record(&Policy { balance_wait: wait, ..two.clone() }, &lengths, &arrivals);
        assert_eq!(firsts(&outcome)[2..], [3.0 + f64::from(gather); 2]);
    }
}
