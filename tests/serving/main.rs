//! Properties of plan and finish that hold for any efficiency.

mod pools;
mod random;

use std::collections::BTreeMap;

use rooflight::config::catalog::catalog;
use rooflight::config::{
    Dtype, Field, Lengths, Load, ModelChoice, Parallelism, Scenario, Setup, Severity, Workload, check,
};
use rooflight::efficiency::{Answer, Efficiencies, FamilyRows, Learned, Rows};
use rooflight::graph::Phase;
use rooflight::kernels::Family;
use rooflight::serving::{Report, answer, finish, plan};
use rooflight::units::count;

fn setup(scenario: &Scenario) -> Setup {
    let (setup, issues) = check(scenario, catalog());
    setup.unwrap_or_else(|| panic!("{issues:?}"))
}

fn scenario(model: &str, gpu: &str, engine: &str, isl: u32, osl: u32, load: Load) -> Scenario {
    Scenario {
        model: ModelChoice::Catalog(model.into()),
        gpu: gpu.into(),
        engine: engine.into(),
        workload: Workload { isl: Lengths::Fixed(isl), osl, load, ..Workload::default() },
        ..Scenario::default()
    }
}

/// The same efficiency for every row.
fn flat(rows: &Rows, ln_efficiency: f32) -> Efficiencies {
    let answer = Answer { ln_efficiency, ln_bound: None, outside: false };
    let of_family = |(&family, rows): (&Family, &FamilyRows)| (family, vec![answer; rows.count()]);
    let answers = rows.families().iter().map(of_family).collect();
    Efficiencies::Learned(rows.answered("test", &answers, &BTreeMap::new()).expect("every row is answered"))
}

fn report(scenario: &Scenario, ln_efficiency: f32) -> Report {
    let (plan, rows) = plan(&setup(scenario)).expect("the catalog has every figure");
    finish(&plan, &flat(&rows, ln_efficiency)).expect("every row is answered")
}

const ENGINES: [&str; 3] = ["vllm", "sglang", "trtllm"];

/// Requests at nearly the rate that a closed loop reaches meet much the same engine as that loop's clients.
#[test]
fn a_rate_is_served_as_the_loop_that_reaches_it() {
    for engine in ENGINES {
        let closed = scenario("qwen3-8b", "h100-sxm", engine, 1024, 256, Load::Concurrency(24));
        let closed = report(&closed, -0.3).headline.unwrap();
        let rate = closed.requests_per_s;
        let open = scenario("qwen3-8b", "h100-sxm", engine, 1024, 256, Load::Rate(rate));
        let open = report(&open, -0.3).headline.unwrap();
        assert!((open.requests_per_s / rate - 1.0).abs() < 0.05, "{engine}: {}", open.requests_per_s / rate);
        let apart = open.tpot.unwrap().0 / closed.tpot.unwrap().0;
        assert!((0.9..1.15).contains(&apart), "{engine}: {apart}");
    }
}

#[test]
fn arrivals_beyond_capacity_are_named_with_what_can_be_served() {
    let mut asked = scenario("qwen3-8b", "h100-sxm", "vllm", 1024, 256, Load::Rate(1000.0));
    let flooded = report(&asked, -0.3);
    let issue = flooded.issues.iter().find(|issue| issue.field == Field::Rate).expect("named");
    assert!(issue.text.contains("TTFT grows without bound"), "{}", issue.text);
    let saturation = flooded.run.and_then(|run| run.saturation).expect("far too many");
    assert!(issue.text.contains(&count(saturation.served_per_s)), "{}", issue.text);
    // The replicas it advises do serve that rate.
    let advised = issue.text.rsplit("or use ").next().and_then(|text| text.split(' ').next()).unwrap();
    asked.replicas = advised.parse().unwrap();
    assert_eq!(report(&asked, -0.3).run.unwrap().saturation, None, "{advised} replicas");
}

/// The capacity of all replicas is that of one times their number, and the cost of a load counts what arrives.
#[test]
fn capacity_and_cost_do_not_depend_on_how_long_a_run_lasts() {
    let capacity = |replicas: u32, rate: f64| {
        let asked = scenario("qwen3-8b", "h100-sxm", "vllm", 1024, 256, Load::Rate(rate));
        let report = report(&Scenario { replicas, ..asked }, -0.3);
        report.run.and_then(|run| run.saturation).expect("far too many").served_per_s
    };
    let (one, forty) = (capacity(1, 1000.0), capacity(40, 40_000.0));
    assert!((forty / one / 40.0 - 1.0).abs() < 0.01, "{one} and {forty}");
    let dollars = |requests: u32| {
        let mut asked = scenario("qwen3-8b", "h100-sxm", "vllm", 1024, 256, Load::Rate(4.0));
        asked.workload.requests = Some(requests);
        let report = report(&asked, -0.3);
        let (headline, run) = (report.headline.expect("fits"), report.run.expect("a run"));
        assert!((run.sustained_per_s - 4.0).abs() < 1e-9 && run.metrics.requests_per_s < 4.0);
        headline.dollars_per_million.expect("a price").0
    };
    assert!((dollars(50) / dollars(2000) - 1.0).abs() < 1e-9);
}

/// A load has one answer, whatever other loads the table of its steps was made for.
#[test]
fn the_headline_is_the_simulated_run() {
    let asked = scenario("qwen3-8b", "h100-sxm", "vllm", 1024, 256, Load::Concurrency(8));
    let few = report(&asked, -0.3).run.unwrap();
    let many = scenario("qwen3-8b", "h100-sxm", "vllm", 1024, 256, Load::Concurrency(200));
    let (plan, rows) = plan(&setup(&many)).unwrap();
    let (report, runner) = answer(&plan, &flat(&rows, -0.3)).unwrap();
    let (run, headline) = (report.run.unwrap(), report.headline.unwrap());
    assert_eq!(
        (headline.ttft.0, headline.requests_per_s),
        (run.metrics.ttft.mean, run.metrics.requests_per_s)
    );
    let other = runner.unwrap().run(Load::Concurrency(8)).unwrap().metrics;
    for (one, other) in [(few.metrics.ttft, other.ttft), (few.metrics.e2e, other.e2e)] {
        assert!((one.mean / other.mean - 1.0).abs() < 1e-9 && (one.p99 / other.p99 - 1.0).abs() < 1e-9);
    }
}

#[test]
fn llama_8b_on_one_h100_by_hand() {
    let asked = scenario("llama-3.1-8b", "h100-sxm", "sglang", 2048, 101, Load::Batch(1));
    let (plan, _) = plan(&setup(&asked)).unwrap();
    let report = finish(&plan, &Efficiencies::Roofline).unwrap();
    let headline = report.headline.unwrap();
    // Linear layers: 6.98e9 parameters, 2 FLOP each and token; attention: 4 * 128 * 32 per causal pair and
    // layer; the head for the last token alone. Dense BF16 peak 989.4 TFLOP/s.
    let linear = 2.0 * 6.979_321_856e9 * 2048.0;
    let attention = 32.0 * 4.0 * 128.0 * 32.0 * (2048.0 * 2049.0 / 2.0);
    let least = (linear + attention) / 989.4e12;
    assert!(headline.ttft.0 >= least * 0.999, "{} under {least}", headline.ttft.0);
    assert!(headline.ttft.0 < least * 1.10, "{} far over {least}", headline.ttft.0);
    // Decode: all weights but the embedding, and half the run's KV, over 3.352 TB/s.
    let weights = 2.0 * (6.979_321_856e9 + 4096.0 * 128_256.0);
    let kv = 131_072.0 * (2048.0 + 50.0);
    let least = (weights + kv) / 3.352_32e12;
    let tpot = headline.tpot.unwrap().0;
    assert!(tpot >= least * 0.999 && tpot < least * 1.15, "{tpot} against {least}");
}

/// The additional work of the busiest rank is not the model's.
#[test]
fn mfu_counts_a_balanced_share_of_the_experts() {
    let asked = scenario("qwen3-30b-a3b", "h200-sxm", "vllm", 4000, 8, Load::Concurrency(16));
    let asked = Scenario { parallel: Parallelism { tp: 8, ep: 8, ..Parallelism::NONE }, ..asked };
    let report = report(&asked, -0.3);
    let (pass, peak) = (&report.passes[0], setup(&asked).gpu.peak(Dtype::Bf16).unwrap());
    let busiest: f64 = pass.kernels.iter().map(|line| line.flops.0 * line.count as f64).sum();
    let experts = pass.kernels.iter().find(|line| line.name == "fused_moe").unwrap();
    // Each of 8 ranks has an eighth of 48 layers, 8 experts a token, of three matrices each.
    let balanced = 48.0 * 2.0 * pass.tokens as f64 * 3.0 * 2048.0 * 768.0;
    let all = busiest - experts.flops.0 * experts.count as f64 + balanced;
    assert!(busiest > 1.05 * all, "{busiest} {all}");
    let mfu = all / (pass.time.0 * peak.0);
    assert!((pass.mfu / mfu - 1.0).abs() < 1e-6, "{} is not {mfu}", pass.mfu);
}

#[test]
fn not_fitting_gives_a_reason_and_no_throughput() {
    for (model, gpu, load) in [
        ("llama-3.1-70b", "h100-sxm", Load::Concurrency(1)),
        ("llama-3.1-8b", "h100-sxm", Load::Batch(5000)),
        ("llama-3.1-8b", "l4", Load::Batch(200)),
    ] {
        let report = report(&scenario(model, gpu, "vllm", 2048, 256, load), 0.0);
        assert_eq!(report.headline, None, "{model} on {gpu}");
        assert!(report.passes.is_empty());
        let issue = report.issues.iter().find(|issue| issue.is_error()).expect("a reason");
        assert!(issue.text.starts_with("Does not fit"), "{}", issue.text);
    }
}

#[test]
fn a_small_share_of_memory_is_named_as_the_cause() {
    let mut asked = scenario("qwen3-32b", "h100-sxm", "vllm", 1024, 512, Load::Concurrency(16));
    (asked.parallel.tp, asked.overrides.memory_share) = (2, Some(0.4));
    let refused = report(&asked, 0.0);
    let said = refused.issues.iter().any(|issue| issue.text.contains("A memory share of 0."));
    assert!(said, "{:?}", refused.issues);
}

/// A request that waits for a slot holds no KV cache, and the GPUs of a rank hold the KV cache of its own requests.
#[test]
fn memory_parts_add_up_to_the_gpu_memory() {
    for engine in ENGINES {
        for (model, gpu, dp) in [("qwen3-8b", "h100-sxm", 1), ("deepseek-r1", "h200-sxm", 8)] {
            for load in [Load::Concurrency(16), Load::Concurrency(4000), Load::Rate(1.0), Load::Batch(4)] {
                let parallel = Parallelism { dp, ep: dp, ..Parallelism::NONE };
                let asked = Scenario { parallel, ..scenario(model, gpu, engine, 2048, 512, load) };
                let report = report(&asked, -0.3);
                let memory = report.memory;
                assert!(!report.passes.is_empty(), "{engine} {model} {load:?}: {:?}", report.issues);
                let fixed = memory.weights + memory.activations + memory.reserve;
                let whole = fixed + memory.kv_room + memory.unused();
                assert!((whole / memory.total - 1.0).abs() < 1e-9, "{engine} {model} {load:?}: {memory:?}");
                assert!(memory.kv_needed <= memory.kv_room, "{engine} {model} {load:?}: {memory:?}");
            }
        }
    }
}

/// Two replicas with half of a list each are as fast as one with that half, and serve twice as much.
#[test]
fn a_list_of_prompts_is_shared_out_over_the_replicas() {
    let asked = |prompts: &[u32], replicas| Scenario {
        replicas,
        workload: Workload {
            isl: Lengths::Each(prompts.to_vec()),
            osl: 64,
            load: Load::Batch(prompts.len() as u32),
            ..Workload::default()
        },
        ..Scenario::default()
    };
    let one = report(&asked(&[4096, 2048], 1), -0.3);
    let two = report(&asked(&[4096, 4096, 2048, 2048], 2), -0.3);
    assert_eq!(two.memory, one.memory);
    let (one, two) = (one.headline.unwrap(), two.headline.unwrap());
    assert_eq!((two.ttft, two.tpot, two.running), (one.ttft, one.tpot, one.running));
    assert!((two.requests_per_s / one.requests_per_s - 2.0).abs() < 1e-9);
}

/// The page and its worker each plan the setup.
#[test]
fn two_plans_of_a_setup_take_the_same_answers() {
    for model in ["llama-3.1-8b", "deepseek-r1", "nemotron-3-super-120b-a12b-fp8"] {
        let asked = scenario(model, "b200", "vllm", 512, 128, Load::Concurrency(8));
        let asked = Scenario { parallel: Parallelism { tp: 8, ..Parallelism::NONE }, ..asked };
        let (planned, rows) = plan(&setup(&asked)).unwrap();
        let answers = flat(&rows, -0.3);
        let (other, _) = plan(&setup(&asked)).unwrap();
        let report = finish(&planned, &answers).expect("its own answers");
        assert!(report.headline.is_some(), "{model}");
        assert_eq!(finish(&other, &answers), Some(report), "{model}");
    }
}

#[test]
fn a_plan_answered_with_other_rows_is_refused() {
    let asked = scenario("llama-3.1-8b", "h100-sxm", "vllm", 512, 128, Load::Concurrency(8));
    let (plan, rows) = plan(&setup(&asked)).unwrap();
    assert!(!rows.families().is_empty());
    assert_eq!(finish(&plan, &Efficiencies::Learned(Learned::default())), None);
}

/// Without CUDA graphs, or above the largest one, the host launches every kernel of a decode step.
#[test]
fn steps_without_a_cuda_graph_take_longer() {
    for engine in ENGINES {
        let tpot = |largest: Option<u32>| {
            let mut scenario = scenario("qwen3-30b-a3b", "h200-sxm", engine, 128, 256, Load::Concurrency(16));
            scenario.overrides.largest_graph = largest;
            report(&scenario, -0.3).headline.unwrap().tpot.unwrap().0
        };
        let [all, eight, none] = [None, Some(8), Some(0)].map(tpot);
        assert!(none > 1.5 * all && eight > 1.5 * all && eight <= none, "{engine}: {all}, {eight}, {none} s");
    }
}

/// Thirteen sequences replay the graph of sixteen: in a run, in a static batch, and in the step that is broken down.
#[test]
fn decode_steps_are_padded_alike_wherever_they_are_shown() {
    for engine in ENGINES {
        let of = |size: u32, load: fn(u32) -> Load| {
            report(&scenario("qwen3-30b-a3b", "h200-sxm", engine, 128, 256, load(size)), -0.3)
        };
        let step = |report: &Report| {
            let pass = report.pass(Phase::Decode).expect("it decodes");
            (pass.time.0, pass.sequences + pass.padding)
        };
        for load in [Load::Batch, Load::Concurrency] {
            let [thirteen, sixteen] = [13, 16].map(|size| of(size, load));
            let ((time, graph), (whole, _)) = (step(&thirteen), step(&sixteen));
            assert!(
                graph == 16 && (0.95..1.0).contains(&(time / whole)),
                "{engine}: {graph}, {time} of {whole} s"
            );
            let tpot = thirteen.headline.unwrap().tpot.unwrap().0;
            assert!((0.97..1.06).contains(&(tpot / time)), "{engine}: TPOT {tpot} s, a step {time} s");
        }
    }
}

/// What waits for memory loses it again and again, and what waits for a step's tokens is not the limit of sequences.
#[test]
fn a_full_cache_and_a_small_budget_say_what_they_cost() {
    let about = |tokens: Option<u32>, clients: u32| -> Vec<(Field, Severity)> {
        let mut asked = scenario("qwen3-32b", "h100-sxm", "vllm", 1024, 512, Load::Concurrency(clients));
        asked.overrides.token_budget = tokens;
        report(&asked, -0.3).issues.iter().map(|issue| (issue.field, issue.severity)).collect()
    };
    let full = about(None, 32);
    assert!(full.contains(&(Field::Concurrency, Severity::Note)), "{full:?}");
    assert!(!about(None, 4).contains(&(Field::Concurrency, Severity::Note)));
    let small = about(Some(16), 32);
    assert!(small.contains(&(Field::TokenBudget, Severity::Warning)), "{small:?}");
    assert!(small.iter().all(|(field, _)| *field != Field::MaxSeqs), "{small:?}");
}
