//! Resolves published names in a scenario.

use super::{has_scaled_cache, resolve};
use crate::config::{Dtype, Field, Issue, ModelChoice, Scenario, catalog};

/// Advice about checkpoints with scales for the KV cache.
pub const SCALED_CACHE: &str =
    "this checkpoint comes with scales for an FP8 KV cache, which engines then use by default: choose FP8";

/// Replaces the names of engine and model by their catalog ids, and sets the format of the model's name if none is given.
pub fn settle(scenario: &mut Scenario) -> Vec<Issue> {
    if let Some(engine) = catalog().engine_named(&scenario.engine) {
        scenario.engine.clone_from(&engine.id);
    }
    let ModelChoice::Catalog(name) = scenario.model.clone() else { return Vec::new() };
    if catalog().refused_model(&name).is_some() {
        return Vec::new();
    }
    let mut issues = Vec::new();
    if catalog().model(&name).is_none() {
        let resolved = match resolve(&name) {
            Ok(resolved) => resolved,
            Err(reason) => return vec![Issue::error(Field::Model, reason).with_given(name)],
        };
        issues = resolved.issues;
        // An explicit format takes precedence over the name's.
        match scenario.weights {
            Some(_) => issues.retain(|issue| issue.field != Field::Weights),
            None => scenario.weights = resolved.weights,
        }
        scenario.model = ModelChoice::Catalog(resolved.model.id.clone());
    }
    if scenario.kv != Dtype::Fp8 && has_scaled_cache(&name, scenario.weights_format()) {
        issues.push(Issue::note(Field::Kv, SCALED_CACHE));
    }
    issues
}

#[cfg(test)]
mod tests {
    use super::SCALED_CACHE;
    use crate::config::link::{self, Link};

    fn link_of(text: &str) -> (String, Vec<String>) {
        let (link, issues) = Link::read(text);
        let texts = issues.into_iter().map(|issue| issue.text).collect();
        (link.map(|link| link.encode()).unwrap_or_default(), texts)
    }

    #[test]
    fn links_and_json_take_published_names() {
        let (link, issues) = link_of("v=1&m=nvidia/DeepSeek-R1-0528-FP4-V2&tp=8");
        assert_eq!(link, "v=1&m=deepseek-r1&tp=8&w=nvfp4");
        assert!(issues[0].contains("deepseek-ai/DeepSeek-R1"), "{issues:?}");
        assert_eq!(issues[1..], [SCALED_CACHE]);
        assert_eq!(link_of("m=amd/Llama-3.1-405B-Instruct-FP8-KV").1[1..], [SCALED_CACHE]);
        assert_eq!(link_of("m=amd/Llama-3.1-405B-Instruct-FP8-KV&kv=fp8").1.len(), 1);
        let own = "m=qwen3-32b-fp8-static-pertensor";
        assert_eq!(link_of(own).1, [SCALED_CACHE]);
        assert_eq!(link_of("m=Qwen/Qwen3-32B-FP8-Static-PerTensor").1, [SCALED_CACHE]);
        for without in [&format!("{own}&kv=fp8"), &format!("{own}&w=bf16"), "m=deepseek-v4-flash-nvfp4"] {
            assert!(link_of(without).1.is_empty(), "{without}");
        }
        let (json, _) =
            link_of(r#"{"model": "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "weights": "bf16"}"#);
        assert_eq!(json, "v=1&w=bf16");
        let (compared, _) = link_of("m=Qwen/Qwen3-8B&vs=m~Qwen/Qwen3-14B-AWQ");
        assert_eq!(compared, "v=1&m=qwen3-8b&vs=v~1~m~qwen3-14b~w~int4");
        let (unknown, issues) = link_of("m=Qwen/Qwen3-5B");
        assert!(unknown.contains("Qwen3-5B") && issues[0].contains("no model `Qwen/Qwen3-5B`"), "{issues:?}");
        assert_eq!(link_of(r#"{"engine": "TensorRT-LLM"}"#).0, "v=1&e=trtllm");
        let (command, _) = link_of("vllm serve Qwen/Qwen3-8B -tp 2");
        assert_eq!(command, "v=1&m=qwen3-8b&tp=2");
    }

    /// The page has no naming rules: it leaves names to the worker.
    #[test]
    fn decoding_alone_leaves_names() {
        let (link, issues) = link::decode("m=Qwen/Qwen3-8B-AWQ");
        assert_eq!((link.scenario.model.id(), issues.len()), ("Qwen/Qwen3-8B-AWQ", 0));
    }
}
