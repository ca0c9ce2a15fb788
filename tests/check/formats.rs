//! Formats of weights and KV cache, by GPU and engine.

use super::{checked, model, refusal};
use rooflight::config::{Dtype, Field, Issue, ModelChoice, Parallelism, Scenario};

#[test]
fn formats_are_suggested_that_the_gpu_multiplies() {
    let text = refusal(Field::Weights, |scenario| {
        (scenario.gpu, scenario.weights) = ("a100-sxm-80gb".into(), Some(Dtype::Mxfp4));
    });
    let (_, choice) = text.split_once("choose ").expect("a suggestion");
    for id in choice.replace(" or ", ", ").split(", ") {
        let (setup, issues) = checked(|scenario| {
            (scenario.gpu, scenario.weights) = ("a100-sxm-80gb".into(), Dtype::from_id(id));
        });
        assert!(setup.is_some(), "{id}: {issues:?}");
    }
}

#[test]
fn formats_follow_the_engine() {
    let refused = |gpu: &str, id: &str| {
        refusal(Field::Weights, |scenario| {
            (scenario.engine, scenario.gpu, scenario.model) = ("trtllm".into(), gpu.into(), model(id));
            scenario.weights = Some(Dtype::Int4);
            scenario.parallel = Parallelism { tp: 8, pp: 1, dp: 1, ep: 1 };
        })
    };
    let text = refused("rtx-pro-6000-server", "qwen3-32b");
    assert!(
        text.starts_with("TensorRT-LLM does not support INT4 (W4A16) weights of Qwen/Qwen3-32B on"),
        "{text}"
    );
    assert!(
        text.ends_with("choose `bf16`, `fp8`, `fp8_block`, `nvfp4` or `int8`, or another engine"),
        "{text}"
    );
    // Of experts on any GPU, of dense models on the others.
    assert!(refused("h100-sxm", "deepseek-r1").contains("does not support INT4 (W4A16)"));
    for gpu in ["h100-sxm", "b200"] {
        let (setup, issues) = checked(|scenario| {
            (scenario.engine, scenario.gpu, scenario.weights) =
                ("trtllm".into(), gpu.into(), Some(Dtype::Int4));
        });
        assert!(setup.is_some(), "{issues:?}");
    }
}

#[test]
fn formats_follow_the_gpu() {
    let text = refusal(Field::Weights, |scenario| {
        (scenario.engine, scenario.gpu) = ("trtllm".into(), "a100-sxm-80gb".into());
        scenario.weights = Some(Dtype::Fp8);
    });
    assert!(text.ends_with("on this GPU choose `bf16`, `int8` or `int4`"), "{text}");
    let text = refusal(Field::Weights, |scenario| scenario.weights = Some(Dtype::Nvfp4));
    assert!(text.starts_with("H100 SXM has no dense FP4 rate"), "{text}");
    // A dense model has no experts to hold in it.
    let text = refusal(Field::Weights, |scenario| scenario.weights = Some(Dtype::Mxfp4));
    assert!(text.contains("no kernels for MXFP4 weights of"), "{text}");
    let text = refusal(Field::Kv, |scenario| {
        scenario.gpu = "a100-sxm-80gb".into();
        scenario.kv = Dtype::Fp8;
    });
    assert!(text.contains("compute capability 8.9"), "{text}");
}

/// With Marlin kernels, which take 8-bit weights and 16-bit activations.
#[test]
fn eight_bit_checkpoints_are_served_on_ampere_in_sixteen_bits() {
    for (engine, weights) in [("vllm", Dtype::Fp8), ("sglang", Dtype::Fp8Block)] {
        let (setup, issues) = checked(|scenario| {
            (scenario.engine, scenario.gpu) = (engine.into(), "a100-sxm-80gb".into());
            (scenario.model, scenario.weights) = (model("llama-3.1-8b"), Some(weights));
        });
        let setup = setup.expect("served");
        assert_eq!((setup.weights, setup.formats.mlp), (weights, Dtype::Int8));
        assert!(setup.peak().is_ok(), "for the MFU");
        let said = issues.iter().find(|issue| issue.field == Field::Weights).expect("a warning");
        assert!(!said.is_error() && said.text.contains("W8A16"), "{said:?}");
    }
    let text = refusal(Field::Weights, |scenario| {
        (scenario.gpu, scenario.model) = ("a100-sxm-80gb".into(), model("qwen3-30b-a3b"));
        scenario.weights = Some(Dtype::Fp8);
    });
    assert!(text.contains("with kernels that were not measured"), "{text}");
}

/// gpt-oss on Ada is TensorRT-LLM's issue 6717.
#[test]
fn formats_without_kernels_in_an_engine_are_refused() {
    for (engine, gpu, id, weights) in [
        ("trtllm", "l40s", "gpt-oss-20b", Dtype::Mxfp4),
        ("trtllm", "l40s", "qwen3-30b-a3b", Dtype::Fp8Block),
        ("trtllm", "a100-sxm-80gb", "llama-3.1-8b", Dtype::W8a8),
        ("vllm", "b200", "llama-3.1-8b", Dtype::W8a8),
        ("sglang", "rtx-5090", "llama-3.1-8b", Dtype::W8a8),
    ] {
        let text = refusal(Field::Weights, |scenario| {
            (scenario.engine, scenario.gpu, scenario.model) = (engine.into(), gpu.into(), model(id));
            scenario.weights = Some(weights);
        });
        assert!(text.contains("does not support"), "{engine} on {gpu}: {text}");
    }
}

#[test]
fn amd_has_its_own_formats_and_engines() {
    let on = |gpu: &'static str, weights: Dtype| {
        move |scenario: &mut Scenario| {
            (scenario.gpu, scenario.weights) = (gpu.into(), Some(weights));
        }
    };
    let text = refusal(Field::Weights, on("mi300x", Dtype::Nvfp4));
    assert!(text.starts_with("MI300X has no dense FP4 rate"), "{text}");
    let text = refusal(Field::Weights, on("mi355x", Dtype::Nvfp4));
    assert!(text.contains("MXFP4 but not NVFP4"), "{text}");
    let experts = |gpu: &'static str| {
        move |scenario: &mut Scenario| {
            on(gpu, Dtype::Mxfp4Mxfp8)(scenario);
            scenario.model = model("gpt-oss-20b");
        }
    };
    let text = refusal(Field::Weights, experts("h200-sxm"));
    assert!(text.contains("MX formats"), "{text}");
    let text = refusal(Field::Weights, experts("mi300x"));
    assert!(text.contains("MX formats") && !text.contains("mxfp4_mxfp8"), "{text}");
    assert!(checked(experts("mi355x")).0.is_some());
    let text = refusal(Field::Engine, |scenario| {
        (scenario.gpu, scenario.engine) = ("mi300x".into(), "trtllm".into());
    });
    assert!(text.contains("TensorRT-LLM") && text.ends_with("vLLM or SGLang"), "{text}");
    let (setup, issues) = checked(on("mi300x", Dtype::Fp8));
    assert!(setup.is_some());
    assert!(issues.iter().any(|issue| issue.field == Field::Gpu && issue.text.contains("extrapolated")));
}

/// The usual remedy keeps all GPUs.
#[test]
fn blocks_that_no_shard_divides_ask_for_whole_experts() {
    let issues = checked(|scenario| {
        scenario.model = ModelChoice::Catalog("qwen3-235b-a22b-fp8".into());
        scenario.parallel.tp = 8;
    })
    .1;
    let found = issues.iter().find(|issue| Issue::is_error(issue)).expect("192 columns");
    assert!(found.field == Field::Tp && found.text.contains("use EP 8, "), "{}", found.text);
}
