//! Sessions of several turns.

use super::*;

fn sessions(turns: u32, think_s: f64, begin: Arrivals) -> Arrivals {
    Arrivals::Sessions { turns, think_s, begin: Box::new(begin) }
}

/// A policy with prefix caching, in blocks of four tokens.
fn keeping(kv_tokens: u64) -> Policy {
    Policy { kv_block: 4, history_cached: 1.0, ..vllm(64, 4, kv_tokens) }
}

/// Two turns: 8 + 4, then 4 more tokens and 2 of answer.
const TWO: [(u32, u32); 2] = [(8, 4), (16, 2)];

#[test]
fn a_turn_computes_what_is_new_and_the_rest_of_a_block() {
    let (steps, outcome) = record(&keeping(1 << 10), &TWO, &sessions(2, 2.5, Arrivals::AtOnce));
    // Of 12 tokens the last is not written: 11 are two blocks.
    assert_eq!(steps, ["8+0|0/0", "|1/9", "|1/10", "|1/11", "8+8|0/0", "|1/17"]);
    assert_eq!(outcome.requests[1].arrival, outcome.requests[0].last + 2.5);
    let off = Policy { history_cached: 0.0, ..keeping(1 << 10) };
    assert_eq!(record(&off, &TWO, &sessions(2, 2.5, Arrivals::AtOnce)).0[4], "16+0|0/0");
}

#[test]
fn evicted_prefixes_are_recomputed() {
    // The third request takes all but one of six blocks while the session thinks.
    let lengths = [TWO[0], TWO[1], (18, 1), (4, 1)];
    let arrivals = sessions(2, 8.0, Arrivals::Times(vec![0.0, 5.0]));
    let (steps, _) = record(&keeping(24), &lengths, &arrivals);
    assert!(steps.contains(&"18+0|0/0".to_owned()) && steps.contains(&"12+4|0/0".to_owned()), "{steps:?}");
}

#[test]
fn evicted_prefixes_are_read_from_the_host() {
    // As above, but the host has room for both sessions: reading the block that was evicted takes 1.5 s.
    let lengths = [TWO[0], TWO[1], (18, 1), (4, 1)];
    let arrivals = sessions(2, 8.0, Arrivals::Times(vec![0.0, 5.0]));
    let host = HostCache { blocks: 8, seconds_per_block: 1.5 };
    let (steps, outcome) = record(&Policy { host, ..keeping(24) }, &lengths, &arrivals);
    assert!(steps.contains(&"8+8|0/0".to_owned()), "{steps:?}");
    let (_, without) = record(&keeping(24), &lengths, &arrivals);
    assert_eq!(firsts(&outcome)[1], firsts(&without)[1] + 1.5);
    // With room for one block it holds the last session only.
    let host = HostCache { blocks: 1, seconds_per_block: 1.5 };
    assert_eq!(firsts(&record(&Policy { host, ..keeping(24) }, &lengths, &arrivals).1), firsts(&without));
}

#[test]
fn others_go_on_while_the_host_is_read() {
    // The second session fills the GPU just before the second turn of the first, and its own second turn goes on meanwhile.
    let lengths = [TWO[0], TWO[1], (20, 1), (1, 1)];
    let arrivals = sessions(2, 8.0, Arrivals::Times(vec![0.0, 11.5]));
    let host = HostCache { blocks: 8, seconds_per_block: 3.0 };
    let (steps, outcome) = record(&Policy { host, ..keeping(24) }, &lengths, &arrivals);
    assert_eq!(steps[4..6], ["20+0|0/0", "8+8|0/0"], "{steps:?}");
    assert!(firsts(&outcome)[2] < firsts(&outcome)[1]);
}

#[test]
fn a_prompt_begins_once_and_again_where_its_session_was_lost() {
    let begun = |policy: &Policy, lengths: &[(u32, u32)], arrivals: &Arrivals| {
        let total = RefCell::new(0);
        let cost = |ranks: &[RankStep<'_>]| {
            *total.borrow_mut() += ranks.iter().map(|rank| rank.begun).sum::<u32>();
            1.0
        };
        simulate(policy, &requests(lengths), arrivals, &cost, Limits::default()).expect("it can be served");
        total.into_inner()
    };
    // In chunks of four tokens.
    assert_eq!(begun(&vllm(4, 2, 1 << 10), &[(10, 3), (9, 2)], &Arrivals::AtOnce), 2);
    let two = sessions(2, 2.5, Arrivals::AtOnce);
    assert_eq!(begun(&keeping(1 << 10), &TWO, &two), 1);
    assert_eq!(begun(&Policy { history_cached: 0.0, ..keeping(1 << 10) }, &TWO, &two), 2);
    // The third request takes all but one of the blocks while the session thinks, or all of them.
    let evicting = sessions(2, 8.0, Arrivals::Times(vec![0.0, 5.0]));
    let then = |third| begun(&keeping(24), &[TWO[0], TWO[1], third, (4, 1)], &evicting);
    assert_eq!([then((18, 1)), then((22, 1))], [2, 3]);
    // The host still has all of it.
    let host = Policy { host: HostCache { blocks: 16, seconds_per_block: 0.1 }, ..keeping(24) };
    assert_eq!(begun(&host, &[TWO[0], TWO[1], (22, 1), (4, 1)], &evicting), 2);
}

#[test]
fn turns_of_a_session_never_overlap_and_all_are_served() {
    for seed in 0..200u64 {
        let mut random = crate::units::random::SplitMix64::new(seed);
        let (turns, count) = (random.between(1, 5), random.between(1, 12));
        let begin = match seed % 3 {
            0 => Arrivals::Closed { clients: random.between(1, 5) },
            1 => Arrivals::Ramp { clients: 3, seconds: 9.0 },
            _ => Arrivals::Rate { per_s: 0.3, burstiness: 1.0, seed },
        };
        let think_s = f64::from(random.between(0, 3));
        let mut lengths = Vec::new();
        for _ in 0..count {
            let mut prompt = random.between(1, 20);
            for _ in 0..turns {
                let output = random.between(1, 6);
                lengths.push((prompt, output));
                prompt += output + random.between(1, 8);
            }
        }
        let tight = u64::from(random.between(100, 400));
        let host = HostCache { blocks: u64::from(random.between(0, 120)), seconds_per_block: 0.3 };
        let (batching, preempt) = [
            (Batching::MixedChunks, Preempt::Recompute),
            (Batching::PrefillFirst, Preempt::Retract { conservativeness: 1.0 }),
            (Batching::InFlight, Preempt::Never),
        ][random.between(0, 2) as usize];
        let stages = random.between(1, 3);
        let ranks = 1 + (seed % 2) as u32;
        let policy = Policy { ranks, stages, batching, preempt, host, ..keeping(tight) };
        let (_, outcome) = record(&policy, &lengths, &sessions(turns, think_s, begin));
        for session in outcome.requests.chunks(turns as usize) {
            for pair in session.windows(2) {
                assert!((pair[1].arrival - pair[0].last - think_s).abs() < 1e-9, "seed {seed}: {pair:?}");
            }
        }
    }
}

#[test]
fn sessions_without_turns_are_errors() {
    for arrivals in [
        sessions(0, 0.0, Arrivals::AtOnce),
        sessions(2, -1.0, Arrivals::AtOnce),
        sessions(2, f64::NAN, Arrivals::AtOnce),
        sessions(3, 0.0, Arrivals::AtOnce),
    ] {
        let result =
            simulate(&keeping(1 << 10), &requests(&TWO), &arrivals, &Recorder::default(), Limits::default());
        assert!(matches!(result, Err(SimError::Arrivals(_))), "{arrivals:?}");
    }
}
