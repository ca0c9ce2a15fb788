//! The kernels of a pass as they are listed.

#[path = "support/flat.rs"]
mod flat;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex_lite::Regex;
use rooflight::config::catalog::{catalog, kernels};
use rooflight::config::{Dtype, Field, Issue, ModelChoice, Parallelism, Scenario, Setup, check};
use rooflight::efficiency::Efficiencies;
use rooflight::graph::{Block, Phase};
use rooflight::latency::Provenance;
use rooflight::serving::report::PassReport;
use rooflight::serving::{finish, plan};
use rooflight::study::words::kernel;

use flat::flat;

/// Both passes of a model on eight GPUs, or on as few as divide it.
fn passes(id: &str) -> Vec<PassReport> {
    let degrees = ["vllm", "sglang"].into_iter().flat_map(|engine| [8, 4, 2, 1].map(|tp| (engine, tp)));
    let setup = degrees.into_iter().find_map(|(engine, tp)| {
        let scenario = Scenario {
            model: ModelChoice::Catalog(id.into()),
            gpu: "b300".into(),
            engine: engine.into(),
            parallel: Parallelism { tp, ..Parallelism::NONE },
            ..Scenario::default()
        };
        check(&scenario, catalog()).0
    });
    passes_of(&setup.unwrap_or_else(|| panic!("{id}")))
}

fn passes_of(setup: &Setup) -> Vec<PassReport> {
    let (plan, _) = plan(setup).expect("complete");
    finish(&plan, &Efficiencies::Roofline).expect("an answer").passes
}

fn decode(passes: Vec<PassReport>) -> PassReport {
    passes.into_iter().find(|pass| pass.phase == Phase::Decode).expect("a decode step")
}

/// Versions of SGLang before 0.5.10 project gates apart from queries, keys and values unless the checkpoint joins them
/// (Qwen3-Next), and copy all three for the delta rule.
#[test]
fn older_versions_launch_more_around_delta_rules() {
    let around = |model: &str, is_older: bool| -> Vec<&str> {
        let scenario = Scenario {
            model: ModelChoice::Catalog(model.into()),
            gpu: "b200".into(),
            engine: "sglang".into(),
            parallel: Parallelism { tp: 8, ..Parallelism::NONE },
            ..Scenario::default()
        };
        let mut setup = check(&scenario, catalog()).0.expect("sound");
        setup.engine.computes_older_delta_rules = is_older;
        let names = decode(passes_of(&setup)).kernels.into_iter().map(|line| line.name);
        names.filter(|name| name.starts_with("in_proj") || name.starts_with("copy")).collect()
    };
    let joined = ["in_proj_qkvz", "in_proj_ba"];
    let apart = ["in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a"];
    let copies = ["copy_q", "copy_k", "copy_v"];
    assert_eq!(around("qwen3.5-397b-a17b", false), joined);
    assert_eq!(around("qwen3.5-397b-a17b", true), [&apart[..], &copies].concat());
    assert_eq!(around("qwen3-next-80b-a3b-thinking", true), [&joined[..], &copies].concat());
}

/// When drafts are verified, the logits of each position say whether the draft is accepted.
#[test]
fn a_token_is_chosen_at_each_draft() {
    let head = |drafted| {
        let mut scenario = Scenario::default();
        scenario.workload.drafts.drafted = drafted;
        let setup = check(&scenario, catalog()).0.expect("sound");
        decode(passes_of(&setup))
            .kernels
            .into_iter()
            .find(|line| line.name == "lm_head")
            .expect("a head")
            .shape
    };
    assert_eq!((head(0), head(3)), ("16 × 128256 × 4096".into(), "64 × 128256 × 4096".into()));
}

/// A layer of DeepSeek-R1 drafts: over the 64 tokens of the step that are verified, then twice over one of each of the
/// 16 sequences, with a token chosen each time.
#[test]
fn the_layer_that_drafts_is_listed() {
    let drafting = |model: &str| {
        let mut scenario = Scenario { model: ModelChoice::Catalog(model.into()), ..Scenario::default() };
        (scenario.gpu, scenario.parallel.tp) = ("b200".into(), 8);
        scenario.workload.drafts.drafted = 3;
        let (setup, issues) = check(&scenario, catalog());
        let lines = decode(passes_of(&setup.expect("sound")))
            .kernels
            .into_iter()
            .filter(|line| line.block == Block::Drafting);
        let warned = issues.iter().any(|issue| issue.field == Field::Drafted);
        (lines.map(|line| (line.name, line.shape, line.count)).collect::<Vec<_>>(), warned)
    };
    let (lines, warned) = drafting("deepseek-r1");
    let of = |name: &str| -> Vec<(&str, u64)> {
        let found = lines.iter().filter(|line| line.0 == name);
        found.map(|line| (line.1.as_str(), line.2)).collect()
    };
    assert_eq!(of("joined_proj"), [("64 × 7168 × 14336", 1), ("16 × 7168 × 14336", 2)]);
    assert_eq!(of("lm_head"), [("16 × 16160 × 7168", 3)]);
    assert_eq!(of("fused_moe").iter().map(|line| line.1).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(of("mla_decode").iter().map(|line| line.1).sum::<u64>(), 3, "{lines:?}");
    assert!(!warned, "nothing is left out");
    // Llama has no such layer: what drafts for it is not known, and that is said.
    let (lines, warned) = drafting("llama-3.1-70b");
    assert!(lines.is_empty() && warned);
}

/// Lines that combine several groups of layers have the same time in each.
#[test]
fn the_lines_of_every_model_add_up() {
    for model in &catalog().models.models {
        for pass in passes(&model.id) {
            let lines = pass.kernels.iter().map(|line| line.time.0 * line.count as f64);
            let sum = lines.sum::<f64>() + pass.host.0;
            let total = pass.time.0;
            assert!((sum / total - 1.0).abs() < 1e-9, "{} {:?}: {sum} of {total}", model.id, pass.phase);
            // A sequence shorter than the selection keeps all keys: its scores are launched for nothing.
            let idle = |name: &str| name.starts_with("index_scores");
            let still = pass
                .kernels
                .iter()
                .find(|line| line.bytes.0 <= 0.0 && line.block != Block::Communication && !idle(line.name));
            assert!(still.is_none(), "{} {:?}: {still:?} moves nothing", model.id, pass.phase);
        }
    }
}

fn attentions(id: &str) -> Vec<(String, u64)> {
    let decode = decode(passes(id));
    let lines = decode.kernels.iter().filter(|line| line.name == "attention_decode");
    lines.map(|line| (line.shape.split(" × ").last().unwrap_or_default().to_owned(), line.count)).collect()
}

#[test]
fn kinds_of_attention_are_told_apart() {
    let of = |found: &[(&str, u64)]| -> Vec<(String, u64)> {
        found.iter().map(|&(shape, count)| (shape.to_owned(), count)).collect()
    };
    assert_eq!(attentions("gpt-oss-120b"), of(&[("64, window 128", 18), ("64", 18)]));
    let chosen = "512, top 512 of 1 key in 4";
    assert_eq!(
        attentions("deepseek-v4-flash"),
        of(&[("512, window 128", 2), (chosen, 21), ("512, 1 key in 128", 20)])
    );
    assert_eq!(attentions("minimax-m3"), of(&[("128", 3), ("128, window 2048", 57)]));
}

#[test]
fn a_reader_of_the_profile_finds_its_kernels() {
    let passes = passes("deepseek-v4-pro");
    let prompt = passes.iter().find(|pass| pass.phase == Phase::Prefill).expect("a prompt");
    let count = |name: &str| {
        prompt.kernels.iter().filter(|line| line.name == name).map(|line| line.count).sum::<u64>()
    };
    // 61 layers, two parts each; 30 choose among compressed keys.
    for (name, wanted) in [
        ("mhc_weights", 122),
        ("mhc_pre", 61),
        ("mhc_mlp_post", 61),
        ("qkv_a_proj", 61),
        ("compressor_proj", 61),
        ("index_compressor_proj", 30),
        ("index_scores_prefill", 30),
        ("attention_prefill", 61),
        ("o_a_proj", 61),
        ("o_b_proj", 61),
        ("fused_moe", 61),
    ] {
        assert_eq!(count(name), wanted, "{name}");
    }
}

/// Nothing is silently timed by its bytes: if no model covers the kernel of a layer, an issue says so.
#[test]
fn layers_without_a_measured_kernel_are_named() {
    // Small operators have closed forms.
    let is_layer = |name: &str| {
        ["proj", "fused_moe", "attention", "mla", "delta", "lm_head"].iter().any(|part| name.contains(part))
    };
    let mut named = 0;
    for (engine, gpu) in catalog().engines.engines.iter().flat_map(|engine| {
        let gpus = ["a100-sxm-80gb", "l40s", "h100-sxm", "b200", "rtx-pro-6000-server", "mi300x", "mi355x"];
        gpus.map(|gpu| (engine.id.clone(), gpu))
    }) {
        for model in ["llama-3.1-8b", "qwen3-30b-a3b", "deepseek-v3.2", "qwen3-next-80b-a3b-thinking"] {
            for weights in Dtype::ALL.iter().copied().map(Some).chain([None]) {
                let scenario = Scenario {
                    model: ModelChoice::Catalog(model.into()),
                    engine: engine.clone(),
                    gpu: gpu.into(),
                    parallel: Parallelism { tp: 8, ..Parallelism::NONE },
                    weights,
                    ..Scenario::default()
                };
                let (setup, issues) = check(&scenario, catalog());
                let Some((plan, rows)) = setup.and_then(|setup| plan(&setup).ok()) else { continue };
                let report = finish(&plan, &flat(&rows)).expect("an answer");
                let lines = report.passes.iter().flat_map(|pass| &pass.kernels);
                let guessed =
                    lines.filter(|line| line.provenance == Provenance::Fixed && is_layer(line.name));
                let names: Vec<&str> = guessed.map(|line| line.name).collect();
                let is_said = |issue: &Issue| {
                    issue.text.contains("were not measured") || issue.text.contains("are extrapolated")
                };
                let said = issues.iter().any(is_said);
                assert!(names.is_empty() || said, "{engine} {gpu} {model} {weights:?}: {names:?}");
                named += usize::from(said);
            }
        }
    }
    assert!(named > 0);
}

/// TensorRT-LLM's all-reduce is fused with the norm after it; with attention DP over all ranks there is none to fuse.
#[test]
fn a_norm_vanishes_only_into_an_all_reduce() {
    let norms = |dp: u32, tp: u32| {
        let scenario = Scenario {
            model: ModelChoice::Catalog("qwen3-30b-a3b".into()),
            engine: "trtllm".into(),
            parallel: Parallelism { tp, pp: 1, dp, ep: tp * dp },
            ..Scenario::default()
        };
        let (setup, issues) = check(&scenario, catalog());
        let (plan, _) = plan(&setup.unwrap_or_else(|| panic!("{issues:?}"))).expect("complete");
        let passes = finish(&plan, &Efficiencies::Roofline).expect("an answer").passes;
        let lines = passes.last().expect("a decode step").kernels.iter();
        let of = |name: &'static str| {
            lines.clone().filter(move |line| line.name == name).map(|line| line.count).sum::<u64>()
        };
        [of("input_norm"), of("post_norm"), of("final_norm")]
    };
    // 48 layers; the first norm follows the embedding, whose rows are summed too.
    assert_eq!(norms(1, 1), [48, 48, 1]);
    assert_eq!(norms(1, 4), [0, 0, 0]);
    assert_eq!(norms(4, 1), [48, 48, 1]);
}

/// Text alone skips what reads images, and SGLang has no CUDA graph of such steps.
#[test]
fn text_runs_the_layers_without_images() {
    let of = |id: &str| {
        let scenario = Scenario {
            model: ModelChoice::Catalog(id.into()),
            engine: "sglang".into(),
            ..Scenario::default()
        };
        let (plan, rows) = plan(&check(&scenario, catalog()).0.expect(id)).expect("complete");
        let report = finish(&plan, &flat(&rows)).expect("an answer");
        let decode = report.pass(Phase::Decode).expect("a decode step");
        let kernels: Vec<_> =
            decode.kernels.iter().map(|line| (line.name, line.count, line.flops.0)).collect();
        (kernels, decode.host, report.headline.and_then(|all| all.tpot).expect("several tokens"))
    };
    let (text, vision) = (of("llama-3.1-8b"), of("llama-3.2-11b-vision-instruct"));
    assert_eq!(text.0, vision.0);
    assert!(vision.1.0 > 5.0 * text.1.0 && vision.2.0 > 1.5 * text.2.0, "{text:?} {vision:?}");
}

/// Read off the code, because the catalog's models do not reach every branch.
#[test]
fn each_name_that_a_pass_writes_has_words_to_show() {
    let name = Regex::new(r#""([a-z][a-z0-9_]*)""#).expect("it parses");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/graph/pass");
    let files = fs::read_dir(folder).expect("it lists").map(|file| file.expect("it lists").path());
    let code: String = files.map(|path| fs::read_to_string(path).expect("it reads")).collect();
    let written: BTreeSet<&str> =
        name.captures_iter(&code).map(|found| found.get(1).expect("a name").as_str()).collect();
    let shown: BTreeSet<&str> = kernels().calls.keys().map(String::as_str).collect();
    assert_eq!(written, shown);
    assert!(shown.iter().all(|name| kernel(name) == kernels().calls[*name]));
}
