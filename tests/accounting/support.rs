//! Models that not every engine serves, or not like any other.

use rooflight::config::catalog::catalog;
use rooflight::config::{Field, Support, Version, check};

use super::{BF16, model, served};

/// What is said against a model on an engine.
fn refusal(id: &str, engine: &'static str) -> Option<String> {
    let (_, issues) = check(&served(id).on(engine).scenario(100), catalog());
    let of_engine = issues.into_iter().find(|issue| issue.field == Field::Engine && issue.is_error());
    of_engine.map(|issue| issue.text)
}

#[test]
fn engines_without_a_model_are_named_with_those_that_have_it() {
    let text = refusal("llama-3.2-11b-vision-instruct", "vllm");
    let said = text.unwrap_or_default();
    for fact in
        ["vLLM 0.24.0", "meta-llama/Llama-3.2-11B-Vision-Instruct", "0.10.2", "SGLang or TensorRT-LLM"]
    {
        assert!(said.contains(fact), "{said}");
    }
    let text = refusal("phi-3-small-128k-instruct", "trtllm");
    let said = text.unwrap_or_default();
    assert!(said.contains("microsoft/Phi-3-small-128k-instruct") && said.ends_with(" SGLang"), "{said}");
    for (id, engine) in [
        ("llama-3.2-11b-vision-instruct", "sglang"),
        ("llama-3.2-11b-vision-instruct", "trtllm"),
        ("phi-3-small-128k-instruct", "sglang"),
        ("llama-3.1-8b", "vllm"),
    ] {
        assert_eq!(refusal(id, engine), None, "{id} on {engine}");
    }
}

#[test]
fn steps_without_a_graph_are_noted() {
    let said = |id: &str| {
        let (_, issues) = check(&served(id).on("sglang").scenario(100), catalog());
        issues.iter().any(|issue| issue.text.contains("kernel by kernel") && !issue.is_error())
    };
    assert!(said("llama-3.2-11b-vision-instruct") && !said("llama-3.1-8b"));
}

#[test]
fn older_versions_may_serve_what_later_ones_do_not() {
    let mut vllm = catalog().engine("vllm").expect("in the catalog").clone();
    for (version, serves) in [("0.8.4", true), ("0.10.2", true), ("0.11.0", false), ("nightly", false)] {
        vllm.version = Version::from(version);
        let full = vllm.support(model("llama-3.2-11b-vision-instruct")) == Support::Full;
        assert_eq!(full, serves, "{version}");
    }
}

#[test]
fn layers_for_images_take_memory_where_they_are_loaded() {
    let layer = 2.0 * 4096.0 * (4096.0 + 1024.0) + 3.0 * 4096.0 * 14336.0 + 2.0 * 4096.0;
    let tables = 2.0 * 128_256.0 * 4096.0;
    // Cross-attention normalises queries and keys; encoder and projector.
    let images = 8.0 * (layer + 2.0 * 128.0) + 894_465_280.0;
    let one = || served("llama-3.2-11b-vision-instruct");
    one().on("sglang").weighs((32.0 * layer + tables + images) * BF16);
    one().on("trtllm").weighs((32.0 * layer + tables) * BF16);
    one().on("trtllm").keeps(1000, 1000.0 * 40.0 * 2.0 * 8.0 * 128.0 * BF16);
}
