//! Simulated runs of a setup, and the closed form beside them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rooflight::config::catalog::catalog;
use rooflight::config::{Bin, Drafts, Lengths, Load, ModelChoice, Scenario, Setup, Slos, Workload, check};
use rooflight::efficiency::{Answer, Efficiencies, FamilyRows, Rows};
use rooflight::kernels::Family;
use rooflight::serving::report::Headline;
use rooflight::serving::run::{Run, RunPlan, Runner, Sweep, requests};
use rooflight::serving::sim::{Arrivals, Limits, Metrics, metrics, simulate};
use rooflight::serving::table::TablePlan;
use rooflight::serving::{finish, memory_of, plan, replica};

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

/// The same efficiency for every row; host times count, as with learned ones.
fn flat(rows: &Rows) -> Efficiencies {
    let answer = Answer { ln_efficiency: -0.3, ln_bound: None, outside: false };
    let of_family = |(&family, rows): (&Family, &FamilyRows)| (family, vec![answer; rows.count()]);
    let answers = rows.families().iter().map(of_family).collect();
    Efficiencies::Learned(rows.answered("test", &answers, &BTreeMap::new()).expect("every row is answered"))
}

fn runner(setup: &Setup) -> Runner {
    let plan = RunPlan::new(setup).expect("the catalog has every figure");
    let answers = flat(plan.rows());
    plan.finish(&answers).expect("every row is answered")
}

fn run(setup: &Setup) -> Run {
    runner(setup).run(setup.load).expect("it can be served")
}

fn form(setup: &Setup) -> Headline {
    let (plan, rows) = plan(setup).expect("the catalog has every figure");
    finish(&plan, &flat(&rows)).and_then(|report| report.headline).expect("it fits")
}

/// A long run of requests whose lengths vary by a tenth to either side: with lengths all alike clients would stay
/// in step, and the closed form is of clients that do not.
fn varied(setup: &Setup, count: usize, arrivals: &Arrivals) -> Metrics {
    let policy = replica::policy(setup, &memory_of(setup).expect("the catalog has every figure"));
    let setup = &Setup { spread: 0.1, ..setup.clone() };
    let (prompt, output) = setup.longest();
    let extent = replica::extent(setup, policy.max_seqs, prompt, output);
    let physics = catalog().constants.physics().expect("complete");
    let plan = TablePlan::new(setup, &physics, &extent).expect("the catalog has every figure");
    let table = plan.finish(&flat(plan.rows())).expect("every row is answered");
    let requests = requests(setup, setup.load, count, 1);
    let cost = table.under(&setup.engine.host);
    let outcome = simulate(&policy, &requests, arrivals, &cost, Limits::default()).expect("it can be served");
    metrics(&outcome).expect("requests were served")
}

/// Prompts of which the cache holds a share, and drafts; often neither.
fn helped() -> impl Strategy<Value = (f64, Drafts)> {
    let drafts = |drafted, accepted| Drafts { drafted, accepted };
    let drafts =
        prop::sample::select(vec![Drafts::default(), drafts(1, 0.7), drafts(3, 1.8), drafts(4, 4.0)]);
    (prop::sample::select(vec![0.0, 0.3, 0.8]), drafts)
}

/// Output tokens of a request that decodes in so many steps. Prompts cluster more than the closed form knows where
/// outputs end after a few steps.
fn output(steps: u32, drafts: Drafts) -> u32 {
    const MOST: f64 = 640.0;
    (f64::from(steps) * (1.0 + drafts.accepted)).min(MOST) as u32
}

proptest! {
    // Each case plans a table of its own.
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn the_closed_form_is_the_simulation_of_a_loop(
        engine in prop::sample::select(&ENGINES[..]),
        isl in 128u32..4096, steps in 64u32..512, clients in 1u32..96, (cached_share, drafts) in helped(),
    ) {
        let osl = output(steps, drafts);
        let asked = setup(engine, isl, osl, Load::Concurrency(clients), Slos::default());
        let asked = Setup { cached_share, drafts, ..asked };
        let form = form(&asked);
        let found = varied(&asked, clients as usize * 40, &Arrivals::Closed { clients });
        let tpot = form.tpot.expect("several tokens").0 / found.tpot.expect("several tokens").mean;
        let output = form.output_per_s / found.output_per_s;
        prop_assert!((tpot - 1.0).abs() < 0.05, "TPOT: {tpot}");
        prop_assert!((output - 1.0).abs() < 0.05, "output: {output}");
    }

    #[test]
    fn the_closed_form_is_the_simulation_of_arrivals(
        engine in prop::sample::select(&ENGINES[..]),
        isl in 128u32..4096, steps in 128u32..512, share in 0.05f64..0.4, (cached_share, drafts) in helped(),
    ) {
        let osl = output(steps, drafts);
        // What 64 clients reach is a rate below capacity.
        let busy = setup(engine, isl, osl, Load::Concurrency(64), Slos::default());
        let busy = Setup { cached_share, drafts, ..busy };
        let per_s = form(&busy).requests_per_s * share;
        let asked = Setup { load: Load::Rate(per_s), ..busy };
        let form = form(&asked);
        let arrivals = Arrivals::Rate { per_s, burstiness: 1.0, seed: 5 };
        let found = varied(&asked, 4000, &arrivals);
        let tpot = form.tpot.expect("several tokens").0 / found.tpot.expect("several tokens").mean;
        prop_assert!((tpot - 1.0).abs() < 0.05, "TPOT: {tpot}");
        prop_assert!((form.output_per_s / found.output_per_s - 1.0).abs() < 0.05);
        let ttft = form.ttft.0 / found.ttft.mean;
        prop_assert!((ttft - 1.0).abs() < 0.15, "TTFT: {ttft}");
    }
}

#[test]
fn a_run_has_the_requests_its_load_says() {
    let requests = |load| run(&setup("vllm", 512, 64, load, Slos::default())).requests;
    assert_eq!(requests(Load::Concurrency(1)), 100, "so many at least");
    assert_eq!(requests(Load::Concurrency(32)), 320);
    assert_eq!(requests(Load::Rate(3.0)), 1000);
    assert_eq!(requests(Load::Batch(7)), 7);
    let many = setup("vllm", 16, 1, Load::Concurrency(8_000), Slos::default());
    assert_eq!(run(&many).requests, 50_000, "so many at most");
}

#[test]
fn lengths_vary_as_asked_and_keep_their_mean() {
    let fixed = setup("vllm", 512, 64, Load::Rate(2.0), Slos::default());
    let spread = run(&Setup { spread: 0.5, ..fixed.clone() });
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
    for varied in [Setup { log_spread: [0.5; 2], ..fixed.clone() }, Setup { histogram, ..fixed.clone() }] {
        let (varied, fixed) = (run(&varied).metrics, run(&fixed).metrics);
        assert!((varied.output_per_s / fixed.output_per_s - 1.0).abs() < 0.05);
        assert!(varied.e2e.p99 / varied.e2e.p50 > 1.5, "{:?}", varied.e2e);
    }
}

#[test]
fn bursts_wait_longer_for_their_first_token() {
    let ttft = |burstiness| {
        let asked = setup("vllm", 2048, 128, Load::Rate(6.0), Slos::default());
        run(&Setup { burstiness, ..asked }).metrics.ttft.p90
    };
    let (bursts, poisson, even) = (ttft(0.2), ttft(1.0), ttft(20.0));
    assert!(bursts > 1.2 * poisson && poisson > even, "{bursts} {poisson} {even}");
}

#[test]
fn cached_prompts_come_sooner_and_accepted_drafts_faster() {
    for engine in ENGINES {
        for load in [Load::Concurrency(8), Load::Rate(1.0), Load::Batch(8)] {
            let plain = setup(engine, 2048, 128, load, Slos::default());
            let cached = Setup { cached_share: 0.5, ..plain.clone() };
            let drafts = Setup { drafts: Drafts { drafted: 3, accepted: 1.8 }, ..plain.clone() };
            let (form_of, run_of) = (|setup: &Setup| form(setup), |setup: &Setup| run(setup).metrics);
            let (before, sooner, faster) = (form_of(&plain), form_of(&cached), form_of(&drafts));
            assert!(sooner.ttft < before.ttft * 0.75, "{engine} {load:?}");
            assert!(faster.tpot < before.tpot.map(|tpot| tpot * 0.6), "{engine} {load:?}");
            let (before, sooner, faster) = (run_of(&plain), run_of(&cached), run_of(&drafts));
            assert!(sooner.ttft.mean < before.ttft.mean * 0.75, "{engine} {load:?}");
            let tpot = |metrics: &Metrics| metrics.tpot.expect("several tokens").mean;
            assert!(tpot(&faster) < tpot(&before) * 0.6, "{engine} {load:?}");
        }
    }
}

#[test]
fn replicas_share_the_load_and_add_up() {
    let one = setup("sglang", 512, 64, Load::Concurrency(16), Slos::default());
    let four = Setup { replicas: 4, load: Load::Concurrency(64), ..one.clone() };
    let (one, four) = (run(&one), run(&four));
    assert!((four.metrics.ttft.mean / one.metrics.ttft.mean - 1.0).abs() < 1e-3);
    assert!((four.metrics.output_per_s / one.metrics.output_per_s - 4.0).abs() < 1e-2);
}

#[test]
fn too_high_a_rate_is_saturation_and_keeps_no_limit() {
    let slos = Slos { ttft_ms: Some(1e6), tpot_ms: None };
    let flooded = run(&setup("vllm", 1024, 128, Load::Rate(500.0), slos));
    let saturation = flooded.saturation.expect("far too many");
    // What is said to be served is served, and a fifth more is not.
    let at = |share: f64| setup("vllm", 1024, 128, Load::Rate(saturation.served_per_s * share), slos);
    assert_eq!(run(&at(0.9)).saturation, None);
    let beyond = run(&at(1.2)).saturation.expect("too many");
    assert!(
        (beyond.served_per_s / saturation.served_per_s - 1.0).abs() < 1e-12,
        "one capacity, whatever the rate"
    );
    assert_eq!(flooded.keeps(), Some(false));
    assert_eq!(run(&setup("vllm", 1024, 128, Load::Rate(1.0), slos)).keeps(), Some(true));
    assert_eq!(run(&setup("vllm", 1024, 128, Load::Rate(1.0), Slos::default())).keeps(), None);
}

#[test]
fn the_largest_load_is_just_within_its_limits() {
    let slos = Slos { ttft_ms: None, tpot_ms: Some(12.0) };
    for load in [Load::Concurrency(16), Load::Rate(4.0)] {
        let runner = runner(&setup("vllm", 1024, 128, load, slos));
        let mut sweep = Sweep::of(&runner, None);
        while sweep.advance(&runner).expect("it can be served") {}
        let most = sweep.largest().expect("the limit can be kept");
        let at = |factor: f64| match load {
            Load::Concurrency(_) => Load::Concurrency((most * factor).round() as u32),
            _ => Load::Rate(most * factor),
        };
        let keeps = |factor| runner.run(at(factor)).expect("it can be served").keeps();
        assert_eq!((keeps(1.0), keeps(1.1)), (Some(true), Some(false)), "{load:?}: {most}");
    }
}

#[test]
fn what_never_fits_is_an_issue_that_says_what_to_change() {
    let asked = setup("vllm", 30_000, 64, Load::Concurrency(2), Slos::default());
    let issue = runner(&Setup { osl: 400_000, ..asked }).run(Load::Concurrency(2)).expect_err("too long");
    assert!(issue.text.contains("shorten"), "{}", issue.text);
}

/// Under attention data parallelism ranks hold their own sequences and step together.
#[test]
fn the_closed_form_deals_clients_to_ranks() {
    // Where prompts go first, who meets whom in a step is only taken on average.
    for (engine, most) in [("vllm", 0.05), ("sglang", 0.07)] {
        for clients in [8, 64, 256] {
            let scenario = Scenario {
                model: ModelChoice::Catalog("deepseek-r1".into()),
                engine: engine.into(),
                gpu: "h200-sxm".into(),
                dp: 8,
                ep: 8,
                workload: Workload {
                    isl: Lengths::Fixed(1024),
                    osl: 256,
                    load: Load::Concurrency(clients),
                    ..Workload::default()
                },
                ..Scenario::default()
            };
            let (asked, issues) = check(&scenario, catalog());
            let asked = asked.unwrap_or_else(|| panic!("{issues:?}"));
            let form = form(&asked);
            let found = varied(&asked, clients as usize * 40, &Arrivals::Closed { clients });
            let (ours, real) = (form.tpot.expect("many tokens").0, found.tpot.expect("many tokens").mean);
            assert!((ours / real - 1.0).abs() < most, "{engine} {clients}: {ours} against {real}");
        }
    }
}
