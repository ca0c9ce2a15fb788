//! Properties that hold for any policy, load and cost.

use super::*;
use crate::units::random::SplitMix64;

/// A policy, requests and arrivals drawn from `seed`; memory is often tight.
fn scenario(seed: u64) -> (Policy, Vec<Request>, Arrivals) {
    let mut random = SplitMix64::new(seed);
    let mut pick = |low, high| random.between(low, high);
    let kinds = [Batching::MixedChunks, Batching::PrefillFirst, Batching::InFlight];
    let batching = kinds[pick(0, 2) as usize];
    let preempts = [
        Preempt::Recompute,
        Preempt::Never,
        Preempt::LookAhead,
        Preempt::Retract { conservativeness: f64::from(pick(0, 10)) / 10.0 },
    ];
    let separate = batching == Batching::PrefillFirst;
    let drafted = pick(0, 3).saturating_sub(1);
    let accepted = if drafted > 0 { f64::from(drafted * pick(0, 10)) / 10.0 } else { 0.0 };
    let ranks = [1, 1, 1, 3][pick(0, 3) as usize];
    let balance =
        (!separate && pick(0, 1) == 0).then(|| BalanceWait { iterations: pick(1, 20), gather: pick(0, 3) });
    let wait = (!separate && ranks == 1 && pick(0, 2) == 0)
        .then(|| BatchWait { tokens: pick(1, 100), iterations: pick(0, 20) });
    let policy = Policy {
        batching,
        token_budget: pick(40, 120),
        max_prefill_tokens: (pick(0, 1) == 0).then(|| pick(20, 100)),
        // Not drawn, so that the scenarios of existing seeds stay the same.
        mixed_chunk: separate && seed.is_multiple_of(3),
        ahead: seed % 2 == 1,
        chunked: pick(0, 2) > 0,
        max_seqs: pick(1, 24),
        receive_interval: pick(1, 12),
        batch_wait: wait,
        balance_wait: balance,
        ranks,
        stages: [1, 1, 2, 4][pick(0, 3) as usize],
        kv_tokens: u64::from(pick(90, 400)),
        kv_block: [1, 4, 16][pick(0, 2) as usize],
        context_tokens: None,
        preempt: preempts[pick(0, 3) as usize],
        admits_by_chunk: seed.is_multiple_of(5),
        graph_sizes: Vec::new(),
        history_cached: 1.0,
        host: HostCache::default(),
        cached_share: [0.0, 0.5][pick(0, 1) as usize],
        drafts: Drafts { drafted, accepted },
        admission_delay: f64::from(pick(0, 1)) * 0.01,
        admission_per_token: f64::from(pick(0, 1)) * 1e-5,
        admission_interval: f64::from(pick(0, 1)) * 0.005,
        admission_together: pick(0, 1) == 1,
        // Times between tokens leave that queue out.
        stream_interval: 0.0,
        stream_queues: false,
    };
    let count = pick(1, 60) as usize;
    let requests = (0..count).map(|_| Request::new(pick(1, 38), pick(1, 35))).collect();
    let arrivals = match pick(0, 2) {
        0 => Arrivals::Closed { clients: pick(1, 20) },
        1 => Arrivals::AtOnce,
        _ => Arrivals::Rate { per_s: 20.0, burstiness: 0.7, seed },
    };
    (policy, requests, arrivals)
}

/// Checks every step against the policy and takes some time.
struct Checked<'a> {
    policy: &'a Policy,
    prompt_tokens: RefCell<u64>,
}

impl StepCost for Checked<'_> {
    fn seconds(&self, ranks: &[RankStep<'_>]) -> f64 {
        assert_eq!(ranks.len(), self.policy.ranks as usize);
        let (mut prompts, mut decoding) = (0, 0);
        for rank in ranks {
            let new: u32 = rank.chunks.iter().map(|chunk| chunk.new).sum();
            let mixed = self.policy.batching != Batching::PrefillFirst || self.policy.mixed_chunk && new > 0;
            let decode = if mixed { rank.decoding * (1 + rank.drafted) } else { 0 };
            assert!(new + decode <= self.policy.token_budget, "{rank:?}");
            assert!(mixed || new == 0 || rank.decoding == 0, "{rank:?}");
            assert!(rank.chunks.iter().all(|chunk| chunk.new > 0));
            assert!(rank.decoding <= self.policy.max_seqs);
            let held: u32 = rank.chunks.iter().map(|chunk| chunk.new + chunk.past).sum();
            assert!(u64::from(held) + rank.decoding_kv <= self.policy.kv_tokens, "{rank:?}");
            prompts += new;
            decoding += rank.decoding;
        }
        assert!(prompts + decoding > 0, "a step without work");
        *self.prompt_tokens.borrow_mut() += u64::from(prompts);
        0.005 + 0.0003 * f64::from(prompts) + 0.0001 * f64::from(decoding)
    }
}

#[test]
fn every_policy_serves_all_requests_within_its_rules() {
    // Of the first 400,000, seed 13,838 had two batches take memory from each other endlessly.
    for seed in (0..4000).chain([13_838]) {
        let (policy, requests, arrivals) = scenario(seed);
        let cost = Checked { policy: &policy, prompt_tokens: RefCell::new(0) };
        let limits = Limits { steps: 200_000, moments: 1 << 20 };
        let outcome = match simulate(&policy, &requests, &arrivals, &cost, limits) {
            Ok(outcome) => outcome,
            Err(error) => panic!("seed {seed}: {error}\n{policy:?}\n{arrivals:?}"),
        };
        let capacity = policy.kv_tokens * u64::from(policy.ranks);
        for moment in &outcome.timeline {
            assert!(moment.kv_tokens <= capacity, "seed {seed}: {moment:?}");
            assert!(moment.running <= policy.max_seqs * policy.ranks, "seed {seed}: {moment:?}");
        }
        let slots = f64::from(policy.max_seqs * policy.ranks);
        assert!(outcome.held_slots <= slots * outcome.duration() * (1.0 + 1e-9), "seed {seed}");
        let stays: f64 = outcome.requests.iter().map(FinishedRequest::e2e).sum();
        assert!(outcome.held_slots + outcome.queued <= stays + 1e-6, "seed {seed}: {stays}");
        let mut from_requests = 0.0;
        for (served, request) in outcome.requests.iter().zip(&requests) {
            assert_eq!((served.prompt, served.output), (request.prompt, request.output));
            assert!(served.arrival < served.first && served.first <= served.last, "seed {seed}: {served:?}");
            assert_eq!(served.output == 1, served.first >= served.last, "seed {seed}: {served:?}");
            from_requests += served.last - served.first;
        }
        let gaps = outcome.gaps.as_slice();
        let from_gaps: f64 = gaps.iter().map(|gap| gap.seconds * gap.count as f64).sum();
        assert!((from_gaps - from_requests).abs() < 1e-6, "seed {seed}: {from_gaps} and {from_requests}");
        let outputs: u64 = requests.iter().map(|request| u64::from(request.output)).sum();
        let counted = gaps.iter().map(|gap| gap.count).sum::<u64>() + requests.len() as u64;
        match policy.drafts.drafted {
            0 => assert_eq!(counted, outputs, "seed {seed}: every token comes once"),
            _ => assert!(counted <= outputs, "seed {seed}"),
        }
        if outcome.counts.preemptions == 0 {
            let computed: u64 = requests
                .iter()
                .map(|request| u64::from(request.prompt - policy.cached(request.prompt, request.prompt, 0)))
                .sum();
            assert_eq!(*cost.prompt_tokens.borrow(), computed, "seed {seed}: every prompt is computed once");
        }
        assert!(policy.preempt != Preempt::Never || outcome.counts.preemptions == 0);
    }
}

#[test]
fn runs_are_deterministic() {
    for seed in 0..50 {
        let (policy, requests, arrivals) = scenario(seed);
        let run = || {
            let cost = |ranks: &[RankStep<'_>]| 0.01 + 0.001 * f64::from(ranks[0].decoding);
            simulate(&policy, &requests, &arrivals, &cost, Limits::default())
        };
        assert_eq!(run(), run());
    }
}

#[test]
fn the_decode_shortcut_equals_scheduling_each_step() {
    for seed in 0..3000 {
        let (policy, requests, arrivals) = scenario(seed);
        if policy.batching == Batching::PrefillFirst || policy.ranks > 1 {
            continue;
        }
        let cost = |ranks: &[RankStep<'_>]| {
            0.01 + 0.001 * f64::from(ranks[0].decoding) + 1e-5 * ranks[0].decoding_kv as f64
        };
        let run = |balance_wait| {
            let policy = Policy { balance_wait, ..policy.clone() };
            let outcome = simulate(&policy, &requests, &arrivals, &cost, Limits::default())?;
            // The queue is added up over fewer parts.
            let [queued, held_slots] = [outcome.queued, outcome.held_slots].map(|of| (of * 1e6).round());
            Ok::<_, SimError>(Outcome { queued, held_slots, ..outcome })
        };
        // One rank has nothing to balance: the only effect is that no steps are taken together.
        assert_eq!(run(None), run(Some(BalanceWait { iterations: 1, gather: 0 })), "seed {seed}: {policy:?}");
    }
}

#[test]
fn long_sequences_take_the_time_of_each_step_together() {
    for seed in 0..60 {
        let (policy, _, arrivals) = scenario(seed);
        if policy.batching == Batching::PrefillFirst {
            continue;
        }
        let mut random = SplitMix64::new(seed);
        let mut request = || Request::new(random.between(200, 4000), random.between(1, 600));
        let requests: Vec<Request> = (0..120).map(|_| request()).collect();
        let policy =
            Policy { ranks: 1, stages: 1, kv_tokens: 60_000, token_budget: 4096, chunked: true, ..policy };
        let cost = |ranks: &[RankStep<'_>]| {
            let prompts: u32 = ranks[0].chunks.iter().map(|chunk| chunk.new).sum();
            let attention = 1e-6 * (ranks[0].decoding_kv as f64).powf(0.9);
            0.005 + 1e-5 * f64::from(prompts) + 1e-4 * f64::from(ranks[0].decoding) + attention
        };
        let run = |balance_wait| {
            let policy = Policy { balance_wait, ..policy.clone() };
            let outcome = simulate(&policy, &requests, &arrivals, &cost, Limits::default()).expect("served");
            (metrics(&outcome).expect("requests"), outcome)
        };
        // As above.
        let each = Some(BalanceWait { iterations: 1, gather: 0 });
        let ((together, outcome), (single, of_each)) = (run(None), run(each));
        let near = |one: f64, other: f64, within: f64| (one / other - 1.0).abs() < within;
        let gaps = |outcome: &Outcome| outcome.gaps.as_slice().iter().map(|gap| gap.count).sum::<u64>();
        assert_eq!(gaps(&outcome), gaps(&of_each), "seed {seed}");
        assert!(outcome.gaps.as_slice().len() < of_each.gaps.as_slice().len(), "seed {seed}");
        assert!(near(together.e2e.mean, single.e2e.mean, 1e-3), "seed {seed}");
        assert!(near(together.ttft.mean, single.ttft.mean, 1e-2), "seed {seed}");
        assert!(near(together.duration, single.duration, 1e-3), "seed {seed}");
        let [one, other] = [&together, &single].map(|metrics| metrics.itl.expect("outputs"));
        assert!(near(one.mean, other.mean, 1e-3) && near(one.p99, other.p99, 1e-2), "seed {seed}");
    }
}

#[test]
fn littles_law_holds_in_the_closed_loop() {
    for seed in 0..60 {
        let (policy, _, _) = scenario(seed);
        let lengths: Vec<Request> = (0..200u32).map(|index| Request::new(30, 5 + index % 20)).collect();
        let cost = Checked { policy: &policy, prompt_tokens: RefCell::new(0) };
        let arrivals = Arrivals::Closed { clients: 12 };
        let outcome = simulate(&policy, &lengths, &arrivals, &cost, Limits::default()).expect("served");
        // Until the last request is sent every client has exactly one in the system.
        let sent = outcome.requests.iter().map(|served| served.arrival).fold(0.0, f64::max);
        let inside = |served: &FinishedRequest| served.last.min(sent) - served.arrival.min(sent);
        let in_flight = outcome.requests.iter().map(inside).sum::<f64>() / sent;
        assert!((in_flight - 12.0).abs() < 1e-6, "seed {seed}: {in_flight}");
        let all = metrics(&outcome).expect("requests");
        assert!((all.requests_per_s * all.e2e.mean / all.in_flight - 1.0).abs() < 1e-9);
    }
}

#[test]
fn disaggregated_requests_are_served_whatever_the_pools() {
    for seed in (0..800).chain([2430]) {
        let (front, requests, arrivals) = scenario(seed);
        let (back, _, _) = scenario(seed + 1_000_000);
        let cost = |ranks: &[RankStep<'_>]| {
            let of_rank =
                |rank: &RankStep| 0.001 + 0.0001 * (rank.chunks.len() as f64 + f64::from(rank.decoding));
            ranks.iter().map(of_rank).sum()
        };
        let pool = |policy| Pool { policy, cost: &cost, replicas: 1 + (seed % 3) as u32 };
        let transfer = Transfer {
            seconds: 0.001,
            seconds_per_token: 0.0001,
            by_chunk: seed % 5 == 0,
            first_token: [FirstToken::Prefill, FirstToken::Slot, FirstToken::Step][seed as usize % 3],
        };
        let run = simulate_disaggregated(
            pool(&front),
            pool(&back),
            transfer,
            &requests,
            &arrivals,
            Limits { steps: 200_000, moments: 16 },
        );
        let outcome = run.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{front:?}\n{back:?}"));
        assert!(
            outcome
                .requests
                .iter()
                .all(|served| served.arrival < served.first && served.first <= served.last)
        );
        let outputs: u64 = requests.iter().map(|request| u64::from(request.output) - 1).sum();
        let gaps: u64 = outcome.gaps.as_slice().iter().map(|gap| gap.count).sum();
        assert!(
            gaps == outputs || back.drafts.drafted > 0 && gaps < outputs,
            "seed {seed}: {gaps}, {outputs}"
        );
    }
}
