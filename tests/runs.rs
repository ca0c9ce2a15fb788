//! Simulated runs of a setup.

mod support;

use rooflight::config::catalog::catalog;
use rooflight::config::{
    Bin, Drafts, Field, Lengths, Load, ModelChoice, Scenario, Setup, Slos, Workload, check,
};
use rooflight::serving::report::{Headline, Report};
use rooflight::serving::run::{Run, Sweep};
use rooflight::serving::{finish, plan};

use support::{flat, runner};

const ENGINES: [&str; 3] = ["vllm", "sglang", "trtllm"];

fn setup(engine: &str, isl: u32, osl: u32, load: Load, slos: Slos) -> Setup {
    let scenario = Scenario {
        model: ModelChoice::Catalog("qwen3-8b".into()),
        engine: engine.into(),
        workload: Workload { isl: Lengths::Fixed(isl), osl, load, slos, ..Workload::default() },
        ..Scenario::default()
    };
    let (setup, issues) = check(&scenario, catalog());
    setup.unwrap_or_else(|| panic!("{issues:?}"))
}

fn run(setup: &Setup) -> Run {
    runner(setup).run(setup.workload.load).expect("it can be served")
}

fn report(setup: &Setup) -> Report {
    let (plan, rows) = plan(setup).expect("the catalog has every figure");
    finish(&plan, &flat(&rows)).expect("every question is answered")
}

fn headline(setup: &Setup) -> Headline {
    report(setup).headline.expect("it fits")
}

#[test]
fn an_api_server_that_limits_the_load_is_named() {
    let warned = |load| {
        let issues = report(&setup("vllm", 8, 1, load, Slos::default())).issues;
        issues.iter().any(|issue| issue.field == Field::Engine)
    };
    assert!(!warned(Load::Concurrency(1)) && warned(Load::Concurrency(256)));
}

#[test]
fn a_run_has_the_requests_its_load_says() {
    let requests = |load| run(&setup("vllm", 512, 64, load, Slos::default())).requests;
    assert_eq!(requests(Load::Concurrency(1)), 100, "so many at least");
    assert_eq!(requests(Load::Concurrency(32)), 320);
    assert_eq!(requests(Load::Rate(3.0)), 1000);
    let many = setup("vllm", 16, 1, Load::Concurrency(8_000), Slos::default());
    assert_eq!(run(&many).requests, 50_000, "so many at most");
}

#[test]
fn lengths_vary_as_asked_and_keep_their_mean() {
    let fixed = setup("vllm", 512, 64, Load::Rate(2.0), Slos::default());
    let spread = run(&fixed.under(|workload| workload.spread = 0.5));
    let fixed = run(&fixed);
    assert!((spread.metrics.output_per_s / fixed.metrics.output_per_s - 1.0).abs() < 0.03);
    let range = |run: &Run| run.metrics.e2e.p99 / run.metrics.e2e.p50;
    assert!(
        range(&spread) > 1.2 && range(&spread) > range(&fixed),
        "{} and {}",
        range(&spread),
        range(&fixed)
    );
}

#[test]
fn other_distributions_keep_their_mean_too() {
    let fixed = setup("vllm", 512, 64, Load::Rate(2.0), Slos::default());
    let bin = |prompt, output, weight| Bin { prompt, output, weight };
    let histogram = vec![bin(256, 32, 2), bin(1024, 128, 1)];
    for varied in [
        fixed.under(|workload| workload.log_spread = [0.5; 2]),
        fixed.under(|workload| workload.histogram = histogram),
    ] {
        let (varied, fixed) = (run(&varied).metrics, run(&fixed).metrics);
        assert!((varied.output_per_s / fixed.output_per_s - 1.0).abs() < 0.05);
        assert!(varied.e2e.p99 / varied.e2e.p50 > 1.5, "{:?}", varied.e2e);
    }
}

#[test]
fn bursts_wait_longer_for_their_first_token() {
    let ttft = |burstiness| {
        let asked = setup("vllm", 2048, 128, Load::Rate(6.0), Slos::default());
        run(&asked.under(|workload| workload.burstiness = burstiness)).metrics.ttft.p90
    };
    let (bursts, poisson, even) = (ttft(0.2), ttft(1.0), ttft(20.0));
    assert!(bursts > 1.2 * poisson && poisson > even, "{bursts} {poisson} {even}");
}

#[test]
fn cached_prompts_come_sooner_and_accepted_drafts_faster() {
    for engine in ENGINES {
        for load in [Load::Concurrency(8), Load::Rate(1.0), Load::Batch(8)] {
            let plain = setup(engine, 8192, 128, load, Slos::default());
            let cached = plain.under(|workload| workload.cached_share = 0.5);
            let drafts = plain.under(|workload| workload.drafts = Drafts { drafted: 3, accepted: 1.8 });
            let (before, sooner, faster) = (headline(&plain), headline(&cached), headline(&drafts));
            assert!(sooner.ttft < before.ttft * 0.75, "{engine} {load:?}");
            assert!(faster.tpot < before.tpot.map(|tpot| tpot * 0.6), "{engine} {load:?}");
        }
    }
}

#[test]
fn replicas_share_the_load_and_add_up() {
    let one = setup("sglang", 512, 64, Load::Concurrency(16), Slos::default());
    let four = Setup { replicas: 4, ..one.under(|workload| workload.load = Load::Concurrency(64)) };
    let (one, four) = (run(&one), run(&four));
    assert!((four.metrics.ttft.mean / one.metrics.ttft.mean - 1.0).abs() < 1e-3);
    assert!((four.metrics.output_per_s / one.metrics.output_per_s - 4.0).abs() < 1e-2);
}

#[test]
fn too_high_a_rate_is_saturation_and_keeps_no_limit() {
    let slos = Slos { ttft_ms: Some(1e6), ..Slos::default() };
    let flooded = run(&setup("vllm", 1024, 128, Load::Rate(500.0), slos));
    let saturation = flooded.saturation.expect("far too many");
    // What is said to be served is served, and a fifth more is not.
    let at = |share: f64| setup("vllm", 1024, 128, Load::Rate(saturation.served_per_s * share), slos);
    assert_eq!(run(&at(0.9)).saturation, None);
    let slightly = run(&at(1.04)).saturation;
    assert!(slightly.is_some(), "a thousand requests do not show so small an overload by themselves");
    let beyond = run(&at(1.2)).saturation.expect("too many");
    assert!(
        (beyond.served_per_s / saturation.served_per_s - 1.0).abs() < 1e-12,
        "one capacity, whatever the rate"
    );
    assert_eq!(flooded.meets_limits(), Some(false));
    assert_eq!(run(&setup("vllm", 1024, 128, Load::Rate(1.0), slos)).meets_limits(), Some(true));
    assert_eq!(run(&setup("vllm", 1024, 128, Load::Rate(1.0), Slos::default())).meets_limits(), None);
}

#[test]
fn a_model_too_large_in_eight_bits_is_offered_in_four() {
    let mut setup = setup("trtllm", 1000, 100, Load::Concurrency(8), Slos::default());
    setup.model = catalog().model("c4ai-command-r-plus").expect("in the catalog").clone();
    setup.gpu = catalog().gpu("a10").expect("in the catalog").clone();
    setup.parallel.tp = 8;
    let found = report(&setup).issues;
    assert!(found.iter().any(|issue| issue.text.contains("INT4")), "{found:?}");
}

#[test]
fn the_largest_load_is_just_within_its_limits() {
    let slos = Slos { tpot_ms: Some(12.0), ..Slos::default() };
    for load in [Load::Concurrency(16), Load::Rate(4.0)] {
        let runner = runner(&setup("vllm", 1024, 128, load, slos));
        let mut sweep = Sweep::of(&runner, None);
        while sweep.advance(&runner).expect("it can be served") {}
        let most = sweep.largest().expect("the limit can be kept");
        let at = |factor: f64| match load {
            Load::Concurrency(_) => Load::Concurrency((most * factor).round() as u32),
            _ => Load::Rate(most * factor),
        };
        // Clients begin one after another there; a load test would start them at once.
        let keeps = |factor| runner.trial(1, at(factor)).expect("it can be served").meets_limits();
        assert_eq!((keeps(1.0), keeps(1.1)), (Some(true), Some(false)), "{load:?}: {most}");
        let stated = sweep.largest_as_stated().expect("the limit can be kept");
        let keeps = |factor| {
            run(&runner.setup().under(|workload| workload.load = at(factor * stated / most))).meets_limits()
        };
        assert_eq!((keeps(1.0), keeps(1.1)), (Some(true), Some(false)), "as stated, {load:?}: {stated}");
        assert!(stated <= most, "{load:?}: {stated} at once, {most} apart");
    }
}

#[test]
fn a_load_that_never_fits_is_an_issue_with_a_remedy() {
    let asked = setup("vllm", 30_000, 64, Load::Concurrency(2), Slos::default())
        .under(|workload| workload.osl = 400_000);
    let (plan, rows) = plan(&asked).expect("the catalog has every figure");
    let report = finish(&plan, &flat(&rows)).expect("every row is answered");
    let issue = report.issues.iter().find(|issue| issue.is_error()).expect("too long");
    assert!(report.headline.is_none() && issue.text.contains("Does not fit"), "{}", issue.text);
}
