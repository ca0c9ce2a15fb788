//! Published examples of the definitions, and the quantiles.

use super::*;
use crate::config::Slos;

fn outcome(requests: Vec<FinishedRequest>, gaps: Gaps) -> Outcome {
    let counts = Counts::default();
    Outcome {
        requests,
        each: 1.0,
        gaps,
        counts,
        timeline: Vec::new(),
        joules: 0.0,
        second_half: SecondHalf::default(),
        queued: 0.0,
        held_slots: 0.0,
        saturation: None,
    }
}

fn served(ttft: f64, output: u32, per_token: f64) -> FinishedRequest {
    let last = ttft + f64::from(output - 1) * per_token;
    FinishedRequest { arrival: 0.0, first: ttft, last, prompt: 100, output }
}

fn close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-4, "{value} is not {expected}");
}

#[test]
fn one_request_of_101_tokens() {
    let request = served(0.2, 101, 0.02);
    close(request.e2e(), 2.2);
    close(request.tpot().expect("it has several tokens"), 0.02);
    // What others call tokens per second per user, and TPOT with the first token counted.
    close(101.0 / request.e2e(), 45.909);
    close(request.e2e() / 101.0, 0.021_782);
}

#[test]
fn tpot_is_a_mean_over_requests_and_itl_one_over_gaps() {
    let mut gaps = Gaps::default();
    gaps.add(0.01, 10);
    gaps.add(0.02, 100);
    let all = metrics(&outcome(vec![served(0.1, 11, 0.01), served(0.1, 101, 0.02)], gaps)).expect("requests");
    close(all.tpot.expect("defined").mean, 0.015);
    close(all.itl.expect("defined").mean, 0.019_090_9);
    close(all.duration, 2.1);
    close(all.output_per_s, 112.0 / 2.1);
    close(all.total_per_s, 312.0 / 2.1);
    close(all.in_flight, (0.2 + 2.1) / 2.1);
}

#[test]
fn single_tokens_have_no_tpot() {
    let single = outcome(vec![served(0.1, 1, 0.0), served(0.3, 1, 0.0)], Gaps::default());
    let all = metrics(&single).expect("requests");
    assert_eq!((all.tpot, all.itl), (None, None));
    let mixed = outcome(vec![served(0.1, 1, 0.0), served(0.3, 3, 0.5)], Gaps::default());
    close(metrics(&mixed).and_then(|all| all.tpot).expect("one has it").mean, 0.5);
    assert_eq!(metrics(&outcome(Vec::new(), Gaps::default())), None);
}

#[test]
fn quantiles_are_numpys() {
    // numpy.percentile([1, 2, 3, 4, 10], [50, 90, 99]) = [3, 7.6, 9.76]
    let stats = Stats::of([10.0, 1.0, 3.0, 2.0, 4.0]).expect("values");
    close(stats.p50, 3.0);
    close(stats.p90, 7.6);
    close(stats.p99, 9.76);
    close(stats.mean, 4.0);
    // Weights stand for repetition.
    let (mut weighted, mut repeated) = (Vec::new(), Vec::new());
    for (seconds, count) in [(3.0, 7u64), (1.0, 30), (2.0, 1), (9.0, 2), (5.0, 0)] {
        weighted.push(Gap { seconds, count });
        repeated.extend(std::iter::repeat_n(seconds, count as usize));
    }
    assert_eq!(Stats::weighted(weighted), Stats::of(repeated));
}

#[test]
fn goodput_counts_requests_that_meet_every_limit() {
    let requests =
        vec![served(0.1, 11, 0.01), served(0.4, 11, 0.01), served(0.1, 11, 0.09), served(0.1, 1, 0.0)];
    let run = outcome(requests, Gaps::default());
    let slos = Slos { ttft_ms: Some(200.0), tpot_ms: Some(50.0), ..Slos::default() };
    close(goodput(&run, &slos), 2.0 / 1.0);
    close(goodput(&run, &Slos::default()), 4.0 / 1.0);
}

#[test]
fn a_limit_is_compared_with_the_same_quantile_that_is_shown() {
    let requests: Vec<FinishedRequest> =
        (1..=150).map(|index| served(f64::from(index) * 1e-3, 11, 0.01)).collect();
    let run = outcome(requests, Gaps::default());
    let p99 = metrics(&run).expect("requests").ttft.p99;
    let at = |limit: f64| {
        let slos = Slos { ttft_ms: Some(limit), percentile: Some(99.0), ..Slos::default() };
        limit_results(&run, &slos)[0].at
    };
    close(at(1000.0), p99);
    close(at(10.0), p99);
    // 149 of 150 are 99 %, 148 are not: the quantile between them is on the limit's side that the share is.
    assert!(at(149.0) <= 0.149 && at(148.4) >= 0.1484, "{} {}", at(149.0), at(148.4));
}
