//! Facts about each kernel and block of latent attention.

use super::{Form, constants};
use crate::config::kernels::{Caller, LatentKernel};
use crate::config::{Arch, Dtype};
use crate::kernels::Phase;

impl LatentKernel {
    /// Whether the kernel reads expanded keys or latents in this phase.
    pub fn form(self, phase: Phase) -> Form {
        match (self, phase) {
            (_, Phase::Decode) => Form::Absorbed,
            (Self::SglangFa3 | Self::SglangTriton | Self::VllmFlashInfer, _)
            | (Self::VllmFlashMla | Self::VllmSparse | Self::SglangSparse, _) => Form::Absorbed,
            (Self::Trtllm | Self::SglangTrtllm | Self::SglangDense, _)
            | (Self::VllmExpanded | Self::VllmRagged | Self::VllmTriton, _) => Form::Expanded,
        }
    }

    /// The format of query-key products over a KV cache in `kv`: TensorRT-LLM's kernels use an FP8 cache directly,
    /// the others widen it.
    pub fn math(self, kv: Dtype) -> Dtype {
        match self {
            Self::Trtllm | Self::SglangTrtllm | Self::VllmRagged | Self::VllmFlashInfer
                if kv.math() == Dtype::Fp8 =>
            {
                Dtype::Fp8
            }
            _ => Dtype::Bf16,
        }
    }

    /// Cycles one SM takes for a sequence of `length` tokens if a decode kernel does not split it over several:
    /// TensorRT-LLM's, except on Hopper and data-centre Blackwell.
    pub fn serial_cycles(self, phase: Phase, arch: Arch, length: f64) -> f64 {
        let whole = self == Self::Trtllm && phase == Phase::Decode;
        match arch {
            Arch::Hopper | Arch::Blackwell => 0.0,
            _ if whole => length * constants().serial_cycles,
            _ => 0.0,
        }
    }

    /// The engine it belongs to.
    pub fn caller(self) -> Caller {
        match self {
            Self::Trtllm => Caller::Trtllm,
            Self::SglangFa3
            | Self::SglangTrtllm
            | Self::SglangTriton
            | Self::SglangDense
            | Self::SglangSparse => Caller::Sglang,
            _ => Caller::Vllm,
        }
    }

    /// Whether it attends to latents in prefill too.
    pub fn absorbs_prompts(self) -> bool {
        self.form(Phase::Prefill) == Form::Absorbed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_expanded_and_single_tokens_absorbed() {
        let of = |name: &str, phase| name.parse::<LatentKernel>().expect("known").form(phase);
        assert_eq!(of("default", Phase::Prefill), Form::Expanded);
        assert_eq!(of("default", Phase::Decode), Form::Absorbed);
        // Measured at a third of the multiply-adds of expanded keys.
        assert_eq!(of("flash_attention", Phase::Prefill), Form::Absorbed);
        assert_eq!(of("sglang_dsa_dense_mha_fa3", Phase::Prefill), Form::Expanded);
        assert_eq!(of("sglang_dsa_indexer_trtllm", Phase::Prefill), Form::Absorbed);
    }
}
