//! Measures how long an answer takes natively: one scenario from setup to report, and the scheduler alone.

use criterion::{Criterion, criterion_group, criterion_main};
use rooflight::calibration::shipped;
use rooflight::config::catalog::catalog;
use rooflight::config::{Batching, Lengths, Load, Scenario, Setup, check};
use rooflight::efficiency::Efficiencies;
use rooflight::serving::run::requests;
use rooflight::serving::sim::{Arrivals, Limits, Policy, Preempt, RankStep, simulate};
use rooflight::serving::{finish, plan};

fn default_setup() -> Setup {
    check(&Scenario::default(), catalog()).0.expect("the default scenario is sound")
}

/// The steps of an answer that need no models.
fn roofline(criterion: &mut Criterion) {
    let setup = default_setup();
    criterion.bench_function("plan", |bencher| bencher.iter(|| plan(&setup)));
    let (planned, _) = plan(&setup).expect("the default scenario has a plan");
    criterion.bench_function("finish on the roofline", |bencher| {
        bencher.iter(|| finish(&planned, &Efficiencies::Roofline))
    });
}

/// 2,560 requests of about 900 tokens in and out from 256 clients, with steps whose time is known at no cost.
fn simulation(criterion: &mut Criterion) {
    let spread = default_setup()
        .under(|workload| (workload.isl, workload.osl, workload.spread) = (Lengths::Fixed(921), 921, 0.11));
    let requests = requests(&spread, Load::Concurrency(256), 2560, 0);
    let cost = |ranks: &[RankStep<'_>]| {
        let of_rank = |rank: &RankStep| {
            let prompts: u32 = rank.chunks.iter().map(|chunk| chunk.new).sum();
            0.005
                + 2e-5 * f64::from(prompts)
                + 1e-5 * f64::from(rank.decoding)
                + 1e-8 * rank.decoding_kv as f64
        };
        ranks.iter().map(of_rank).fold(0.0, f64::max)
    };
    let engines = [
        ("vLLM", Batching::MixedChunks, Preempt::Recompute),
        ("SGLang", Batching::PrefillFirst, Preempt::LookAhead),
        ("TensorRT-LLM", Batching::InFlight, Preempt::Never),
    ];
    for (name, batching, preempt) in engines {
        let policy = Policy { batching, preempt, ..Policy::new(8192, 256, 1 << 20) };
        criterion.bench_function(&format!("simulate {name}"), |bencher| {
            let arrivals = Arrivals::Closed { clients: 256 };
            bencher.iter(|| simulate(&policy, &requests, &arrivals, &cost, Limits::default()))
        });
    }
}

/// What measured runs say about a configuration that many of them resemble.
fn posterior(criterion: &mut Criterion) {
    let calibration = shipped();
    let at = &calibration.known[calibration.known.len() / 2].point;
    criterion
        .bench_function("posterior", |bencher| bencher.iter(|| calibration.posterior(at, &[], |_| true)));
}

/// A complete learned answer, with the weights loaded.
#[cfg(feature = "tools")]
fn learned(criterion: &mut Criterion) {
    use rooflight::evidence::models::open_models;
    use rooflight::serving::plan;

    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let models = open_models(&folder).expect("the shipped models load");
    let at_rate = default_setup().under(|workload| workload.load = Load::Rate(5.0));
    // Budget: 10 ms.
    for (name, setup) in [("learned answer", default_setup()), ("learned answer of 1,000 requests", at_rate)]
    {
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                let (planned, rows) = plan(&setup).expect("the default scenario has a plan");
                let efficiencies = models.answer(&rows).expect("the shipped models answer");
                finish(&planned, &Efficiencies::Learned(efficiencies))
            });
        });
    }
}

/// Budget: 1,000 layouts per second on two threads, so 5.5 s for these layouts on one.
#[cfg(feature = "tools")]
fn search(criterion: &mut Criterion) {
    use rooflight::evidence::models::shipped_models;
    use rooflight::find::{Request, Search};

    let models = shipped_models().expect("the shipped models load");
    let request = r#"{"model": "llama-3.3-70b-instruct", "rate": 20, "slo_ttft": 1000, "slo_tpot": 30,
        "vary": {"weights": ["bf16", "fp8", "nvfp4"]}, "plans": 3}"#;
    let request = Request::from_json(request).0.expect("a sound request");
    let mut group = criterion.benchmark_group("search");
    group.sample_size(10).bench_function("2,727 layouts on one thread", |bencher| {
        bencher.iter(|| {
            let mut search = Search::new(request.clone());
            let ask =
                |rows: &_| models.answer(rows).map(Efficiencies::Learned).map_err(|error| error.to_string());
            while search.step(&ask).expect("the shipped models answer") {}
            search.answer()
        });
    });
}

#[cfg(feature = "tools")]
criterion_group!(benches, posterior, roofline, simulation, learned, search);
#[cfg(not(feature = "tools"))]
criterion_group!(benches, posterior, roofline, simulation);
criterion_main!(benches);
