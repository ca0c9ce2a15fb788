//! Checks a scenario against the catalogs: what is accepted, and what is reported about the rest.

mod formats;
mod pools;
mod requests;
mod reset;

use rooflight::config::catalog::{Catalog, catalog};
use rooflight::config::{
    Dtype, Field, Issue, Lengths, Load, ModelChoice, Parallelism, Scenario, Setup, Severity, Usage, check,
};

fn checked(change: impl FnOnce(&mut Scenario)) -> (Option<Setup>, Vec<Issue>) {
    let mut scenario = Scenario::default();
    change(&mut scenario);
    check(&scenario, catalog())
}

/// The text of the only error, which is on `field` and leaves no setup.
#[track_caller]
fn refusal(field: Field, change: impl FnOnce(&mut Scenario)) -> String {
    let (setup, issues) = checked(change);
    let errors: Vec<&Issue> = issues.iter().filter(|issue| issue.is_error()).collect();
    assert!(setup.is_none(), "accepted");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].field, field, "{errors:?}");
    errors[0].text.clone()
}

fn model(id: &str) -> ModelChoice {
    ModelChoice::Catalog(id.into())
}

#[test]
fn a_gpu_without_kernels_is_all_that_is_wrong() {
    for id in ["t4", "v100-sxm-32gb"] {
        let text = refusal(Field::Gpu, |scenario| scenario.gpu = id.into());
        assert!(text.contains("no engine has known kernels"), "{text}");
    }
}

#[test]
fn acceptance_counts_only_with_drafts_and_is_asked_for() {
    let of = |drafted: u32, accepted: f64| {
        let (setup, issues) = checked(|scenario| {
            (scenario.workload.drafts.drafted, scenario.workload.drafts.accepted) = (drafted, accepted);
        });
        (
            setup.map(|setup| setup.workload.drafts.accepted),
            issues.iter().filter(|issue| issue.field == Field::Accepted).count(),
        )
    };
    assert_eq!(of(0, 2.5), (Some(0.0), 1));
    assert_eq!(of(4, 0.0), (Some(0.0), 1));
    assert_eq!(of(4, 2.5), (Some(2.5), 0));
    assert_eq!(of(2, 2.5), (None, 1));
}

#[test]
fn the_default_scenario_resolves_to_catalog_figures() {
    let (setup, issues) = checked(|_| ());
    assert_eq!(issues, []);
    let setup = setup.unwrap();
    assert_eq!(
        (setup.model.layers(), setup.weights, setup.workload.isl),
        (32, Dtype::Bf16, Lengths::Fixed(1024))
    );
    assert_eq!(
        Some(f64::from(setup.token_budget)),
        setup.engine.scheduler.limits_on(&setup.gpu, Usage::plain(1)).0.0
    );
    assert_eq!(Some(setup.sustained), setup.gpu.sustained_clock.0);
}

#[test]
fn overrides_take_the_place_of_catalog_figures() {
    let (setup, issues) = checked(|scenario| {
        scenario.overrides.token_budget = Some(512);
        scenario.overrides.memory_share = Some(0.8);
        scenario.overrides.price = Some(0.0);
    });
    assert_eq!(issues, []);
    let setup = setup.unwrap();
    // vLLM lowers its default of sequences to the budget.
    assert_eq!((setup.token_budget, setup.max_seqs), (512, 512));
    assert_eq!((setup.memory_share, setup.price), (0.8, Some(0.0)));
}

#[test]
fn unknown_ids_name_the_nearest() {
    let text = refusal(Field::Model, |scenario| scenario.model = model("llama3.1-8b"));
    assert!(text.contains("`llama3.1-8b`") && text.contains("did you mean llama-3.1-8b?"), "{text}");
    let text = refusal(Field::Gpu, |scenario| scenario.gpu = "H100".into());
    assert!(text.contains("`H100` may be h100-pcie, h100-nvl or h100-sxm"), "{text}");
    let text = refusal(Field::Gpu, |scenario| scenario.gpu = "h1o0-sxm".into());
    assert!(text.contains("did you mean h100-sxm?"), "{text}");
    let text = refusal(Field::Model, |scenario| scenario.model = model("nope"));
    assert!(text.contains("config.json"), "{text}");
    let text = refusal(Field::Gpu, |scenario| scenario.gpu = "zzz".into());
    assert!(text.contains("similar"), "{text}");
    let text = refusal(Field::Engine, |scenario| scenario.engine = "zzz".into());
    assert!(text.contains("`zzz`") && text.contains("vllm, sglang, trtllm"), "{text}");
}

#[test]
fn parallelism_has_to_divide() {
    let text = refusal(Field::Tp, |scenario| scenario.parallel.tp = 3);
    assert!(text.contains("power of two"), "{text}");
    let text = refusal(Field::Tp, |scenario| {
        (scenario.parallel.tp, scenario.model) = (4, model("qwen2.5-0.5b-instruct"))
    });
    assert!(text.contains("14 attention heads are not divisible by TP 4: set TP to at most 2"), "{text}");
    let text = refusal(Field::Tp, |scenario| (scenario.parallel.tp, scenario.model) = (4, model("phi-4")));
    assert!(text.contains("10 KV heads") && text.contains("by TP 4") && text.contains("at most 2"), "{text}");
    let text = refusal(Field::Pp, |scenario| (scenario.parallel.pp, scenario.gpu) = (40, "gb200".into()));
    assert!(text.ends_with("has only 32 layers: lower PP"), "{text}");
    refusal(Field::Pp, |scenario| scenario.parallel.pp = 0);
    refusal(Field::Gpus, |scenario| scenario.replicas = 0);
}

/// vLLM distributes experts over all GPUs or none, and each GPU of TensorRT-LLM's attention DP is a rank.
#[test]
fn layouts_that_an_engine_cannot_start_are_refused() {
    let of = |engine: &'static str, [tp, dp, ep]: [u32; 3]| {
        move |scenario: &mut Scenario| {
            (scenario.model, scenario.engine) = (model("qwen3-30b-a3b"), engine.into());
            scenario.parallel = Parallelism { tp, pp: 1, dp, ep };
        }
    };
    assert!(refusal(Field::Ep, of("vllm", [4, 1, 2])).contains("set EP to 4 or 1"));
    assert!(refusal(Field::Dp, of("trtllm", [2, 2, 4])).contains("set TP to 1 and DP to 4"));
    for (engine, degrees) in
        [("vllm", [4, 1, 4]), ("vllm", [2, 2, 4]), ("sglang", [4, 1, 2]), ("trtllm", [1, 4, 4])]
    {
        let (setup, issues) = checked(of(engine, degrees));
        assert!(setup.is_some(), "{engine} {degrees:?}: {issues:?}");
    }
}

#[test]
fn blocks_of_scales_are_not_cut() {
    let text = refusal(Field::Tp, |scenario| {
        (scenario.parallel.tp, scenario.model) = (8, model("qwen2.5-72b-instruct"));
        scenario.weights = Some(Dtype::Fp8Block);
    });
    assert!(text.contains("3696 MLP columns") && text.contains("128×128"), "{text}");
}

#[test]
fn kv_heads_are_cut_or_copied() {
    let (setup, issues) =
        checked(|scenario| (scenario.parallel.tp, scenario.model) = (4, model("qwen2.5-3b-instruct")));
    assert!(setup.is_some(), "2 KV heads on 4 GPUs: {issues:?}");
}

#[test]
fn other_makers_and_small_machines_say_what_they_lack() {
    let on = |gpu: &'static str, engine: &'static str, tp| {
        move |scenario: &mut Scenario| {
            (scenario.gpu, scenario.engine, scenario.parallel.tp) = (gpu.into(), engine.into(), tp);
        }
    };
    let text = refusal(Field::Engine, on("arc-pro-b60", "sglang", 1));
    assert!(text.contains("SGLang") && text.contains("Arc Pro B60") && text.ends_with(" vLLM"), "{text}");
    let said = |gpu, engine, tp| {
        let (setup, issues) = checked(on(gpu, engine, tp));
        assert!(setup.is_some(), "{gpu}: {issues:?}");
        issues.into_iter().map(|issue| issue.text).collect::<Vec<_>>().join("; ")
    };
    assert!(said("arc-pro-b60", "vllm", 1).contains("norms and experts are extrapolated"));
    // 121.69 GiB, of which the host holds 20.4: a share of 0.83 is the most.
    assert!(said("gb10", "vllm", 1).contains("set at most 0.83"));
    assert!(!said("gb10", "trtllm", 1).contains("set at most"));
    assert!(said("jetson-thor-t5000", "vllm", 1).contains("lower the memory share"));
    // Two of them over their network ports; Jetson has none for it.
    assert!(said("gb10", "vllm", 2).contains("each DGX Spark (GB10) is a node of its own"));
    assert!(refusal(Field::Tp, on("jetson-agx-orin-64gb", "vllm", 2)).contains("use at most 1"));
}

#[test]
fn lengths_have_to_fit_the_context() {
    let text = refusal(Field::Isl, |scenario| {
        scenario.model = model("qwen3-8b");
        scenario.workload.isl = Lengths::Fixed(40_000);
        scenario.workload.osl = 1_000;
    });
    // Thousands are grouped.
    let digits: String = text.split_whitespace().collect();
    assert!(digits.contains("41000tokens") && digits.contains("40960"), "{text}");
    refusal(Field::Osl, |scenario| scenario.workload.osl = 0);
    refusal(Field::Isl, |scenario| scenario.workload.isl = Lengths::Fixed(0));
}

#[test]
fn loads_are_bounded() {
    refusal(Field::Concurrency, |scenario| scenario.workload.load = Load::Concurrency(0));
    refusal(Field::Rate, |scenario| scenario.workload.load = Load::Rate(0.0));
    let text = refusal(Field::Rate, |scenario| scenario.workload.load = Load::Rate(f64::INFINITY));
    assert!(text.contains("between 0.001 and 1\u{202f}000\u{202f}000"), "{text}");
    refusal(Field::Spread, |scenario| scenario.workload.spread = 1.0);
    // 34 000 + 5 000 tokens would fit; a fifth more do not.
    refusal(Field::Isl, |scenario| {
        scenario.model = ModelChoice::Catalog("qwen3-8b".into());
        scenario.workload.isl = Lengths::Fixed(34_000);
        (scenario.workload.osl, scenario.workload.spread) = (5_000, 0.2);
    });
    refusal(Field::SloTtft, |scenario| scenario.workload.slos.ttft_ms = Some(0.0));
    refusal(Field::SloTpot, |scenario| scenario.workload.slos.tpot_ms = Some(f64::NAN));
    refusal(Field::Batch, |scenario| {
        scenario.workload.load = Load::Batch(100_001);
        scenario.workload.isl = Lengths::Fixed(1);
    });
    let text = refusal(Field::Batch, |scenario| scenario.workload.load = Load::Batch(100_000));
    assert!(text.contains("102\u{202f}400\u{202f}000 prompt tokens"), "{text}");
    let text = refusal(Field::Isl, |scenario| {
        scenario.workload.load = Load::Batch(3);
        scenario.workload.isl = Lengths::Each(vec![100, 200]);
    });
    assert!(text.contains("2 prompt lengths for a batch of 3"), "{text}");
}

#[test]
fn nan_and_infinity_are_refused() {
    for value in [f64::NAN, f64::INFINITY, -1.0] {
        refusal(Field::MemoryShare, |scenario| scenario.overrides.memory_share = Some(value));
        refusal(Field::Sustained, |scenario| scenario.overrides.sustained = Some(value));
        refusal(Field::Price, |scenario| scenario.overrides.price = Some(value));
    }
}

#[test]
fn a_whole_prompt_has_to_fit_the_step_of_an_engine_without_chunks() {
    refusal(Field::TokenBudget, |scenario| {
        scenario.engine = "trtllm".into();
        scenario.overrides.token_budget = Some(512);
    });
}

#[test]
fn a_power_cap_is_below_the_limit_and_leaves_a_clock() {
    let text = refusal(Field::PowerCap, |scenario| scenario.overrides.power_cap = Some(900.0));
    assert!(text.contains("the power limit of H100 SXM is 700 W"), "{text}");
    let text = refusal(Field::PowerCap, |scenario| scenario.overrides.power_cap = Some(130.0));
    assert!(text.contains("set at least 152 W"), "{text}");
    refusal(Field::PowerCap, |scenario| scenario.overrides.power_cap = Some(f64::NAN));
    refusal(Field::PowerOverhead, |scenario| scenario.overrides.power_overhead = Some(0.9));
}

#[test]
fn an_unmeasured_clock_has_a_warning() {
    let (setup, issues) = checked(|scenario| scenario.gpu = "rtx-6000-ada".into());
    assert_eq!(setup.map(|setup| setup.sustained), Some(0.72));
    assert_eq!((issues[0].field, issues[0].severity), (Field::Sustained, Severity::Warning));
}

#[test]
fn missing_figures_are_named() {
    let catalog: &Catalog = catalog();
    for gpu in &catalog.gpus.gpus {
        for engine in &catalog.engines.engines {
            let scenario = Scenario { gpu: gpu.id.clone(), engine: engine.id.clone(), ..Scenario::default() };
            let (setup, issues) = check(&scenario, catalog);
            println!("{:22} {:8} {}", gpu.id, engine.id, setup.is_some());
            assert_eq!(setup.is_none(), issues.iter().any(Issue::is_error));
        }
    }
    // Without kernels, other missing figures would only lead astray.
    let text = refusal_texts("v100-sxm-32gb");
    assert!(text.contains("known kernels") && !text.contains("BF16"), "{text}");
}

fn refusal_texts(gpu: &str) -> String {
    checked(|scenario| scenario.gpu = gpu.into()).1.into_iter().map(|issue| issue.text + "\n").collect()
}
