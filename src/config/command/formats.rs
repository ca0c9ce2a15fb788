//! The formats that a command states: of weights and of the KV cache.

use super::apply::Rest;
use super::flags::Flag;
use crate::config::{Dtype, Scenario};

impl Rest {
    pub fn kv(&mut self, scenario: &mut Scenario, flag: &Flag) {
        match flag.value.as_deref() {
            Some(value) if value.starts_with("fp8") => scenario.kv = Dtype::Fp8,
            Some("auto" | "bf16" | "bfloat16" | "fp16" | "float16" | "half") => {}
            _ => self.unknown(flag),
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

/// Whether a value of `--quantization` may name the format of these weights. Loaders that read several formats
/// (`compressed-tensors`, `modelopt`) may.
fn names(loader: &str, weights: Dtype) -> bool {
    match loader {
        "fp8" => matches!(weights, Dtype::Fp8 | Dtype::Fp8Block),
        "awq" | "gptq" | "awq_marlin" | "gptq_marlin" => weights == Dtype::Int4,
        "mxfp4" => matches!(weights, Dtype::Mxfp4 | Dtype::Mxfp4Mxfp8),
        _ => true,
    }
}
