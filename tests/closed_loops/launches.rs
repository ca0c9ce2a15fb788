//! Launches worked out by hand from what the scripts say.

use rooflight::config::Dtype;
use rooflight::evidence::cases::ServedCase;
use rooflight::evidence::launch::{self, Graphs, LaunchLayout, LaunchSettings, Origin};
use rooflight::serving::sim::{BalanceWait, BatchWait};

fn launch(case: &ServedCase) -> LaunchSettings {
    launch::launch(case).unwrap()
}

/// A case of `model precision gpu engine`, its day and image, and `[gpus, tp, ep, attention DP]` as labelled.
fn case(what: &str, day: &str, image: &str, labels: [u32; 4], load: [u32; 3]) -> ServedCase {
    let words: Vec<&str> = what.split(' ').collect();
    ServedCase {
        id: "a".to_owned(),
        source: "aiconfigurator/inferencex_csv".to_owned(),
        model: words[0].to_owned(),
        precision: words[1].to_owned(),
        gpu: words[2].to_owned(),
        engine: words[3].to_owned(),
        measured_on: Some(day.to_owned()),
        image: (!image.is_empty()).then(|| format!("registry/of:{image}")),
        gpus: labels[0],
        tp: labels[1],
        pp: 1,
        ep: labels[2],
        dp_attention: labels[3],
        isl: load[0],
        osl: load[1],
        concurrency: load[2],
        length_range: Some([0.8, 1.0]),
        ..ServedCase::default()
    }
}

const DSR1_TRT: &str = "deepseek-ai/DeepSeek-R1 nvfp4 b200 trtllm";

#[derive(serde::Deserialize)]
struct Plan {
    scripts: Vec<Script>,
}

#[derive(serde::Deserialize)]
struct Script {
    models: Vec<String>,
    precisions: Vec<String>,
    gpu: String,
    engine: String,
    from: String,
    until: Option<String>,
    #[serde(default)]
    images: Vec<String>,
    assumed: Option<String>,
}

#[test]
fn every_script_is_found() {
    let Plan { scripts } = serde_json::from_str(include_str!("../../training/launch_plan.json")).unwrap();
    assert_eq!(scripts.iter().filter(|script| script.assumed.is_none()).count(), 68);
    for script in &scripts {
        assert!(script.until.as_ref().is_none_or(|until| *until > script.from));
        for (model, precision) in script.models.iter().zip(script.precisions.iter().cycle()) {
            let what = format!("a/{model} {precision} {} {}", script.gpu, script.engine);
            let image = script.images.first().cloned().unwrap_or_default();
            for (labels, clients) in [([8, 8, 1, 1], 16), ([4, 4, 4, 1], 1), ([2, 1, 2, 2], 4096)] {
                let found = launch(&case(&what, &script.from, &image, labels, [1024, 1024, clients]));
                let origin = if script.assumed.is_some() { Origin::Assumed } else { Origin::Recorded };
                assert_eq!(found.origin, origin, "{what} {}", script.from);
            }
        }
    }
}

#[test]
fn deepseek_on_tensorrt_llm_took_one_prompt_a_step_before_january() {
    let run = case(DSR1_TRT, "2025-12-15", "1.1.0rc2.post2", [4, 4, 4, 1], [1024, 1024, 64]);
    let old = launch(&run);
    assert_eq!(old.token_budget, 1152);
    assert!(!old.chunked);
    assert_eq!(old.memory_share, Some(0.8));
    assert_eq!((old.kv(Dtype::Nvfp4), old.moe.as_deref()), (Dtype::Fp8, Some("trtllm")));
    assert_eq!(old.requests(64), 640);
    let long = launch(&case(DSR1_TRT, "2025-12-15", "1.1.0rc2.post2", [4, 4, 4, 1], [8192, 1024, 64]));
    assert_eq!(long.token_budget, 8320);
    let new = launch(&case(DSR1_TRT, "2026-02-06", "1.2.0rc6.post3", [4, 4, 4, 1], [1024, 1024, 64]));
    assert!(old.matched() && new.matched());
    assert_eq!(new.token_budget, 8192);
    assert_eq!(new.graph_batch, Some(64));
}

#[test]
fn labels_that_multiply_degrees_twice_are_read_back() {
    let day = ("2026-02-03", "1.2.0rc6.post2");
    let inflated = launch(&case(DSR1_TRT, day.0, day.1, [64, 1, 8, 64], [1024, 1024, 256]));
    let plain = launch(&case(DSR1_TRT, day.0, day.1, [8, 1, 8, 8], [1024, 1024, 256]));
    assert_eq!(inflated.layout, LaunchLayout { gpus: 8, tp: 1, ep: 8, attention_dp: 8 });
    assert_eq!(plain.layout, inflated.layout);
    let uneven = launch(&case(DSR1_TRT, day.0, day.1, [8, 1, 4, 8], [1024, 1024, 256]));
    assert_eq!(uneven.layout, LaunchLayout { gpus: 8, tp: 1, ep: 4, attention_dp: 8 });
    assert_eq!((plain.doubts.len(), inflated.doubts.len()), (0, 1));
    assert_eq!(plain.balance_wait, Some(BalanceWait { iterations: 60, gather: 0 }));
    assert_eq!((plain.moe.as_deref(), plain.graph_batch), (Some("cutlass"), Some(64)));

    let h100 = "MiniMaxAI/MiniMax-M2.5 fp8 h100-sxm vllm";
    let inflated = launch(&case(h100, "2026-03-28", "v0.18.0", [16, 4, 16, 4], [1024, 1024, 64]));
    let plain = launch(&case(h100, "2026-03-27", "v0.18.0", [4, 4, 4, 1], [1024, 1024, 64]));
    assert_eq!(inflated.layout, LaunchLayout { gpus: 4, tp: 4, ep: 4, attention_dp: 1 });
    assert_eq!(plain.layout, inflated.layout);
    assert_eq!((plain.max_seqs, plain.graphs), (Some(256), Graphs::Piecewise));

    // Only the NVFP4 script obeys attention DP.
    let layout = |precision: &str| {
        let what = format!("MiniMaxAI/MiniMax-M2.5 {precision} b200 vllm");
        launch(&case(&what, "2026-04-22", "v0.19.0-cu130", [4, 2, 4, 2], [1024, 1024, 512])).layout
    };
    assert_eq!(layout("fp8"), LaunchLayout { gpus: 2, tp: 2, ep: 2, attention_dp: 1 });
    assert_eq!(layout("nvfp4"), LaunchLayout { gpus: 2, tp: 1, ep: 2, attention_dp: 2 });
}

#[test]
fn expert_labels_are_corrected() {
    let h200 = "MiniMaxAI/MiniMax-M2.5 fp8 h200-sxm vllm";
    let found = launch(&case(h200, "2026-03-27", "v0.18.0", [8, 8, 1, 1], [1024, 1024, 8]));
    assert_eq!(found.layout, LaunchLayout { gpus: 8, tp: 8, ep: 8, attention_dp: 1 });
    assert!(found.doubts.iter().any(|doubt| doubt == "labelled EP 1, but the script ran EP 8"));
    assert!(!found.prefix_cache);
    let early = launch(&case(h200, "2026-03-01", "v0.16.0", [4, 4, 1, 1], [1024, 1024, 8]));
    assert_eq!(early.layout.ep, 1);
    assert!(early.prefix_cache);
    // Before the sweeps named it, the script decided by itself.
    let october =
        |clients| launch(&case(DSR1_TRT, "2025-11-02", "", [8, 8, 1, 1], [8192, 1024, clients])).layout;
    assert_eq!(october(32), LaunchLayout { gpus: 8, tp: 8, ep: 1, attention_dp: 1 });
    assert_eq!(october(64), LaunchLayout { gpus: 8, tp: 1, ep: 8, attention_dp: 8 });
}

#[test]
fn sglang_looks_at_new_requests_now_and_then() {
    let found = |what: &str, day: &str, image: &str, gpus: u32, isl: u32, clients: u32| {
        launch(&case(what, day, image, [gpus, gpus, 1, 1], [isl, 1024, clients]))
    };
    let dsr1 = |clients| {
        found("deepseek-ai/DeepSeek-R1 nvfp4 b200 sglang", "2026-03-25", "v0.5.9-cu130", 4, 1024, clients)
    };
    assert_eq!(dsr1(16).receive_interval, 30);
    assert_eq!(dsr1(8).receive_interval, 10);
    assert_eq!(dsr1(8).token_budget, 16384);
    assert_eq!(dsr1(8).layout.ep, 4);
    let fp8 =
        |gpus| found("deepseek-ai/DeepSeek-V3 fp8 b200 sglang", "2026-03-25", "v0.5.9-cu130", gpus, 8192, 32);
    assert_eq!((fp8(8).receive_interval, fp8(4).receive_interval), (30, 10));
    assert_eq!((fp8(8).memory_share, fp8(4).memory_share), (Some(0.82), Some(0.95)));
    assert_eq!((fp8(8).max_seqs, fp8(4).max_seqs), (Some(128), Some(32)));
    let h200 =
        found("deepseek-ai/DeepSeek-R1 fp8 h200-sxm sglang", "2026-03-25", "v0.5.9-cu130", 8, 1024, 64);
    assert_eq!((h200.receive_interval, h200.max_seqs), (1, Some(512)));
    assert_eq!((h200.kv(Dtype::Fp8Block), h200.attention.as_deref()), (Dtype::Bf16, Some("flashinfer")));
    let glm = found("zai-org/GLM-5 fp8 h200-sxm sglang", "2026-04-01", "glm5-hopper", 8, 1024, 64);
    assert_eq!((glm.token_budget, glm.max_seqs), (8192, None));
    assert_eq!(glm.graph_batch, Some(512));
    let risky =
        found("deepseek-ai/DeepSeek-V3 fp8 b300 sglang", "2026-04-17", "v0.5.10.post1-cu130", 8, 1024, 4);
    assert!(risky.doubts[0].contains("tokenises") && risky.excluded.is_none());
    assert_eq!((risky.prompt_stretch, h200.prompt_stretch), (5.0, 1.0));
    let stretched = "prompts five times as long as drawn: with transformers 5, a server counted 35,921 tokens where its client \
                     drew 7,140 (InferenceX pull request 937)";
    assert_eq!(risky.inferred, [stretched]);
    assert!(h200.inferred.is_empty());
    let cold = |day, image| {
        let what = "deepseek-ai/DeepSeek-R1 nvfp4 b200 sglang";
        found(what, day, image, 4, 1024, 32).cold_start.map(|start| start.tokens)
    };
    assert_eq!((cold("2025-11-10", "v0.5.5"), cold("2026-03-25", "v0.5.9-cu130")), (Some(16384), None));
    let qwen = |clients| {
        let what = "Qwen/Qwen3.5-397B-A17B fp8 b200 sglang";
        found(what, "2026-03-20", "v0.5.9-cu130", 4, 1024, clients).max_seqs
    };
    // The recipe with multi-token prediction, whose cap follows the clients.
    assert_eq!((qwen(64), qwen(256)), (Some(64), Some(256)));
}

#[test]
fn docker_nodes_sent_fifty_prompts_a_client() {
    let requests = |day: &str, osl: u32| {
        let what = "deepseek-ai/DeepSeek-V3 fp8 b200 sglang";
        let found = launch(&case(what, day, "", [8, 8, 8, 1], [1024, osl, 16]));
        (found.requests(16), found.doubts.iter().any(|doubt| doubt.contains("number of prompts")))
    };
    assert_eq!(requests("2025-11-18", 1024), (800, false));
    assert_eq!(requests("2025-11-18", 8192), (320, false));
    assert_eq!(requests("2025-10-20", 1024), (800, true));
    assert_eq!(requests("2026-01-10", 1024), (800, true));
    assert_eq!(requests("2026-01-25", 1024), (160, false));
}

#[test]
fn llama_on_tensorrt_llm_waits_for_company() {
    let wait = |gpus: u32, isl: u32| {
        let what = "meta-llama/Meta-Llama-3.1-70B fp8 b200 trtllm";
        let found = launch(&case(what, "2025-10-29", "", [gpus, gpus, 1, 1], [isl, 1024, 64]));
        assert_eq!((found.token_budget, found.max_seqs), (16384, Some(2048)));
        found.batch_wait()
    };
    assert_eq!(wait(4, 1024), Some(BatchWait { tokens: 14746, iterations: 20 }));
    assert_eq!(wait(8, 1024), None);
    assert_eq!(wait(4, 8192), None);
    let what = "deepseek-ai/DeepSeek-R1 fp8 b200 trtllm";
    let dsr1 = launch(&case(what, "2026-02-05", "1.2.0rc6.post3", [8, 8, 1, 1], [1024, 1024, 64]));
    assert_eq!(dsr1.batch_wait(), Some(BatchWait { tokens: 6554, iterations: 40 }));
    assert_eq!((dsr1.graphs, dsr1.memory_share), (Graphs::FullAndPiecewise, Some(0.8)));
}

#[test]
fn vllm_budgets_follow_the_prompt_from_april() {
    let b200 = "MiniMaxAI/MiniMax-M2.5 fp8 b200 vllm";
    let budget = |isl| {
        // The day of the change: the image tells which side.
        let found = launch(&case(b200, "2026-04-03", "v0.19.0-cu130", [4, 4, 1, 1], [isl, 1024, 16]));
        assert_eq!((found.kv(Dtype::Fp8), found.kv_block_tokens), (Dtype::Fp8, Some(32)));
        assert_eq!((found.max_seqs, found.graph_batch), (Some(1024), Some(2048)));
        assert_eq!(found.layout.ep, 1);
        found.token_budget
    };
    assert_eq!((budget(1024), budget(8192)), (2048, 16384));
    let before = launch(&case(b200, "2026-04-03", "v0.17.0-cu130", [4, 4, 1, 1], [1024, 1024, 16]));
    assert_eq!((before.token_budget, before.layout.ep), (8192, 4));
    assert_eq!(before.graph_batch, Some(512));
    let kimi = "moonshotai/Kimi-K2.5 int4_wo h200-sxm vllm";
    let kimi = launch(&case(kimi, "2026-03-02", "v0.16.0", [8, 8, 1, 1], [1024, 1024, 16]));
    assert_eq!((kimi.max_seqs, kimi.graph_batch), (Some(16), Some(32)));
    assert_eq!((kimi.memory_share, kimi.kv(Dtype::Int4)), (Some(0.95), Dtype::Bf16));
}

#[test]
fn some_runs_are_excluded() {
    for (what, day, labels) in [
        ("deepseek-ai/DeepSeek-R1 fp8 gb200 trtllm", "2025-10-20", [8, 8, 8, 1]),
        ("openai/gpt-oss-120b mxfp4 gb200 trtllm", "2026-03-20", [4, 4, 1, 1]),
    ] {
        let launch = launch(&case(what, day, "", labels, [1024, 1024, 64]));
        assert!(launch.excluded.is_some_and(|why| why.contains("prefill and decode")));
    }
    let h100 = |day: &str, clients| {
        let what = "openai/gpt-oss-120b mxfp4 h100-sxm vllm";
        launch(&case(what, day, "", [8, 8, 1, 1], [1024, 1024, clients]))
    };
    assert!(h100("2025-12-05", 512).excluded.is_some());
    assert!(h100("2025-11-25", 512).excluded.is_some());
    assert!(h100("2025-12-20", 512).excluded.is_none());
    let slurm = h100("2025-11-25", 64);
    assert_eq!((slurm.excluded, slurm.doubts.len()), (None, 1));
    let mut dynamo = case(DSR1_TRT, "2026-03-17", "", [4, 4, 4, 1], [4000, 1000, 224]);
    dynamo.image = Some("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.9.0".to_owned());
    let dynamo = launch(&dynamo);
    assert!(dynamo.excluded.as_deref().is_some_and(|why| why.contains("Dynamo")));
    assert!(matches!(dynamo.origin, Origin::Defaults(_)));
}

#[test]
fn settings_without_a_script_are_the_engines_defaults() {
    let nightly = "nightly-5b8c30d62b754b575e043ce2fc0dcbf8a64f6306";
    let what = "MiniMaxAI/MiniMax-M2.5 nvfp4 b200 vllm";
    let early = launch(&case(what, "2026-04-03", nightly, [4, 4, 1, 1], [1024, 1024, 64]));
    assert_eq!(early.origin, Origin::Defaults("run on 2026-04-03, outside the recorded periods".to_owned()));
    assert_eq!((early.token_budget, early.max_seqs), (8192, Some(1024)));
    assert_eq!((early.memory_share, early.requests(64)), (Some(0.9), 640));
    let b300 = "Qwen/Qwen3.5-397B-A17B fp8 b300 sglang";
    let assumed = launch(&case(b300, "2026-04-03", "v0.5.9-cu130-amd64", [4, 4, 4, 1], [1024, 1024, 64]));
    assert_eq!((assumed.origin, assumed.receive_interval), (Origin::Assumed, 30));

    let mut own = case("Qwen/Qwen3-32B bf16 h100-sxm sglang", "", "", [2, 2, 1, 1], [1024, 128, 16]);
    own.source = "aiconfigurator/nvidia_internal_gap_analysis".to_owned();
    (own.measured_on, own.length_range) = (None, None);
    let found = launch(&own);
    assert!(matches!(found.origin, Origin::Defaults(_)));
    assert_eq!(found.length_range, None);
    assert_eq!((found.token_budget, found.memory_share), (8192, None));
    assert_eq!(found.doubts.len(), 2);
    own.engine_version = Some("0.5.1.post1".into());
    let older = launch(&own);
    assert_eq!((older.max_prefill_tokens, older.mixed_chunk), (Some(16384), false));
    own.engine_version = Some("0.5.6.post2".into());
    let newer = launch(&own);
    assert_eq!((newer.max_prefill_tokens, newer.mixed_chunk), (Some(2524), true));
    own.engine = "trtllm".to_owned();
    own.engine_version = Some("1.0.0rc3".into());
    let found = launch(&own);
    assert_eq!((found.token_budget, found.async_scheduling), (1152, false));
}

#[test]
fn copies_of_the_scripts_runs_are_launched_as_they_were() {
    let mut copy = case("moonshotai/Kimi-K2.5 nvfp4 b200 vllm", "", "", [8, 8, 1, 1], [1024, 1024, 4]);
    copy.source = "aiconfigurator/nvidia_internal_gap_analysis".to_owned();
    copy.engine_version = Some("0.17.0".into());
    (copy.measured_on, copy.length_range) = (None, None);
    let found = launch(&copy);
    assert_eq!(found.origin, Origin::Recorded);
    assert_eq!((found.length_range, found.requests(4)), (Some([0.8, 1.0]), 40));
    // The settings of March, not those of the later run with the same image.
    assert_eq!((found.token_budget, found.max_seqs), (8192, Some(4)));
    copy.model = "Qwen/Qwen3.5-397B-A17B".to_owned();
    (copy.precision, copy.engine) = ("bf16".to_owned(), "sglang".to_owned());
    copy.engine_version = Some("nightly-dev".into());
    assert_eq!(launch(&copy).receive_interval, 10);
}

#[test]
fn a_cache_left_to_the_engine_is_in_fp8_where_the_checkpoint_has_scales() {
    let kv = |what: &str, weights| {
        launch(&case(what, "2026-04-30", "", [8, 8, 1, 1], [1024, 1024, 16])).kv(weights)
    };
    assert_eq!(kv("a/b nvfp4 b200 trtllm", Dtype::Nvfp4), Dtype::Fp8);
    assert_eq!(kv("a/b fp8 b200 trtllm", Dtype::Fp8), Dtype::Fp8);
    assert_eq!(kv("a/b fp8 b200 trtllm", Dtype::Fp8Block), Dtype::Bf16);
    assert_eq!(kv("a/b bf16 b200 trtllm", Dtype::Bf16), Dtype::Bf16);
    assert_eq!(kv("a/b nvfp4 b200 sglang", Dtype::Nvfp4), Dtype::Bf16);
}
