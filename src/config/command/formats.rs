//! The formats that a command states: of weights and of the KV cache.

use super::apply::CommandReader;
use super::flags::Flag;
use crate::config::names::has_scaled_cache;
use crate::config::{Dtype, Field, Issue, Scenario};

impl CommandReader {
    pub fn kv(&mut self, flag: &Flag) {
        match flag.value.as_deref() {
            Some(value) if value.starts_with("fp8") => self.kv = Some(Dtype::Fp8),
            Some("bf16" | "bfloat16" | "fp16" | "float16" | "half") => self.kv = Some(Dtype::Bf16),
            Some("auto") => self.kv = None,
            _ => self.unknown(flag),
        }
    }

    /// The KV cache's format: as given or, failing that, as vLLM (0.14 and later), SGLang and TensorRT-LLM choose it:
    /// the one that the checkpoint has scales for.
    pub fn cache(&mut self, scenario: &mut Scenario, published: &str) {
        let is_scaled = has_scaled_cache(published, scenario.weights_format());
        scenario.kv = self.kv.unwrap_or(if is_scaled { Dtype::Fp8 } else { Dtype::Bf16 });
        self.issues.retain(|issue| issue.field != Field::Kv);
        if is_scaled && self.kv.is_none() {
            let text = "the KV cache is in FP8, for which the checkpoint has scales: engines use them unless told otherwise";
            self.issues.push(Issue::note(Field::Kv, text));
        }
    }

    /// Naming the checkpoint's own format changes nothing; FP8 from a 16-bit checkpoint is quantised at start-up.
    pub fn quantised(&mut self, scenario: &mut Scenario) {
        let Some(flag) = self.quantization.take() else { return };
        match (scenario.weights_format(), flag.value.as_deref()) {
            (Some(Dtype::Bf16), Some("fp8" | "w8a8_fp8")) => scenario.weights = Some(Dtype::Fp8),
            (Some(Dtype::Bf16), _) => self.unknown(&flag),
            (Some(published), Some(named)) if !names(named, published) => self.unknown(&flag),
            _ => {}
        }
    }
}

/// Whether a value of `--quantization` may name the format of these weights, as loaders of several formats may.
fn names(loader: &str, weights: Dtype) -> bool {
    match loader {
        "fp8" => matches!(weights, Dtype::Fp8 | Dtype::Fp8Block),
        "awq" | "gptq" | "awq_marlin" | "gptq_marlin" => weights == Dtype::Int4,
        "modelopt_fp4" | "nvfp4" => weights == Dtype::Nvfp4,
        "mxfp4" => matches!(weights, Dtype::Mxfp4 | Dtype::Mxfp4Mxfp8),
        "compressed-tensors" | "modelopt" | "quark" | "auto-round" | "gguf" | "bitsandbytes" => true,
        _ => false,
    }
}
