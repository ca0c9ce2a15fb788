//! What a system can serve, and runs in which more than that arrive.

use rooflight::config::{Lengths, Load};

use super::support::runner;
use super::{ENGINES, run, setup};

#[test]
fn capacity_is_what_a_long_overload_serves() {
    for engine in ENGINES {
        let setup = setup(engine, Load::Rate(1.0));
        let capacity = runner(&setup).capacity().expect("served");
        let overload = Load::Rate(1.2 * capacity);
        let long = setup.under(|workload| (workload.load, workload.requests) = (overload, Some(30_000)));
        let served = run(&long).metrics.requests_per_s;
        assert!((capacity / served - 1.0).abs() < 0.06, "{engine}: {capacity}, {served} for long");
    }
}

/// Long answers fill a server slowly, and are left over at the end of a short run.
#[test]
fn capacity_is_that_of_a_long_overload_if_lengths_differ() {
    for engine in ENGINES {
        let spread = |load: Load| {
            setup(engine, load).under(|workload| (workload.osl, workload.log_spread) = (256, [0.0, 1.2]))
        };
        let capacity = runner(&spread(Load::Rate(1.0))).capacity().expect("served");
        let long = spread(Load::Rate(1.3 * capacity)).under(|workload| workload.requests = Some(40_000));
        let served = run(&long).metrics.requests_per_s;
        assert!((capacity / served - 1.0).abs() < 0.12, "{engine}: {capacity}, {served} for long");
    }
}

#[test]
fn a_run_close_to_capacity_goes_on_until_it_settles() {
    for engine in ENGINES {
        let chat = |rate: f64| setup(engine, Load::Rate(rate)).under(|workload| workload.osl = 512);
        let capacity = runner(&chat(1.0)).capacity().expect("served");
        let own = chat(0.97 * capacity);
        let (close, far) = (run(&own), run(&chat(0.5 * capacity)));
        assert!(close.requests > far.requests, "{engine}: {} and {} requests", close.requests, far.requests);
        let long = run(&own.under(|workload| workload.requests = Some(30_000)));
        let [short, long] = [close, long].map(|run| run.metrics.tpot.expect("several tokens").mean);
        assert!((short / long - 1.0).abs() < 0.15, "{engine}: {short}, {long} for long");
    }
}

/// Too many prompts for the GPUs, or for the API server, fill no slots: their queue alone shows them.
#[test]
fn an_overload_that_holds_few_requests_is_found() {
    for (engine, rate, output) in [("vllm", 1.1, 2), ("trtllm", 1.1, 2), ("trtllm", 1.05, 32)] {
        let short = |rate: f64| {
            setup(engine, Load::Rate(rate)).under(|workload| {
                (workload.isl, workload.osl) = (Lengths::Fixed(if output == 2 { 4000 } else { 64 }), output);
            })
        };
        let capacity = runner(&short(1.0)).capacity().expect("served");
        let found = run(&short(rate * capacity)).saturation.expect("more arrive than are served");
        assert!((found.served_per_s / capacity - 1.0).abs() < 1e-9, "{engine}: {found:?} of {capacity}");
        assert_eq!(run(&short(0.8 * capacity)).saturation, None, "{engine}");
    }
}

/// A server of many slots takes thousands of requests before any has to wait.
#[test]
fn a_flood_never_looks_better_than_an_overload() {
    let waits = |factor: f64| {
        let setup = |rate: f64| {
            setup("vllm", Load::Rate(rate))
                .under(|workload| (workload.isl, workload.osl) = (Lengths::Fixed(16), 600))
        };
        let capacity = runner(&setup(1.0)).capacity().expect("served");
        run(&setup(factor * capacity)).metrics.ttft.mean
    };
    let [overload, flood] = [2.0, 4.0].map(waits);
    assert!(flood > 0.5 * overload, "{flood} and {overload} s");
}

/// A rate that leaves half of a server empty is served, whatever a full one would serve.
#[test]
fn a_run_that_settles_is_within_capacity() {
    let sessions = |rate: f64| {
        setup("vllm", Load::SessionRate(rate)).under(|workload| {
            (workload.isl, workload.osl, workload.turns.count) = (Lengths::Fixed(1000), 200, 4);
        })
    };
    let quiet = run(&sessions(2.0));
    assert!(quiet.saturation.is_none() && quiet.metrics.waiting < 5.0, "{:?}", quiet.saturation);
    let flooded = run(&sessions(40.0)).saturation.expect("far too many");
    assert!(flooded.served_per_s < flooded.offered_per_s, "{flooded:?}");
}

/// While sessions start, mostly their first turns are served, which have no history.
#[test]
fn sessions_beyond_capacity_are_served_at_one_rate() {
    let served = |per_s: f64| {
        let run = run(&setup("vllm", Load::SessionRate(per_s)));
        let served = run.saturation.expect("overloaded").served_per_s;
        let rate = run.metrics.requests_per_s;
        assert!((served / rate - 1.0).abs() < 0.25, "{per_s}: {served}, {rate} over the run");
        served
    };
    let [some, many] = [50.0, 1000.0].map(served);
    assert!((many / some - 1.0).abs() < 0.15, "{some}, {many}");
}
