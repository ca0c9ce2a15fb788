//! Kernels and blocks of latent attention, named as in the measured tables and the engine catalog.
//!
//! Names that differ only in KV cache format map to one kernel: the format is a separate input.

use super::{Form, constants};
use crate::config::{Arch, Dtype};
use crate::kernels::{Caller, Phase};

/// What an engine launches for latent attention on one GPU architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatentKernel {
    /// TensorRT-LLM's own, whatever it dispatches to.
    Trtllm,
    /// FlashAttention-3 over the latents, as SGLang launches it; an FP8 cache is widened first.
    SglangFa3,
    /// TensorRT-LLM's kernels for sm100, as SGLang launches them.
    SglangTrtllm,
    /// SGLang's Triton kernels, over the latents.
    SglangTriton,
    /// vLLM's prefill: FlashAttention over expanded keys.
    VllmExpanded,
    /// vLLM's FP8 prefill: TensorRT-LLM's ragged kernels over expanded keys.
    VllmRagged,
    /// vLLM over the latents on sm100: FlashInfer.
    VllmFlashInfer,
    /// vLLM over the latents on Hopper: FlashMLA, or FlashAttention-3 for a bf16 cache.
    VllmFlashMla,
    /// vLLM over the latents elsewhere.
    VllmTriton,
    /// vLLM's sparse blocks.
    VllmSparse,
    /// SGLang's sparse blocks with nothing to select: all keys, expanded.
    SglangDense,
    /// SGLang's sparse blocks over the selected tokens.
    SglangSparse,
}

impl LatentKernel {
    /// By its name in tables and catalog; `None` for kernels without a learned model.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "default" => Self::Trtllm,
            "flash_attention" => Self::SglangFa3,
            "trtllm_mla" => Self::SglangTrtllm,
            "triton" => Self::SglangTriton,
            "FLASH_ATTN" => Self::VllmExpanded,
            "TRTLLM_RAGGED" => Self::VllmRagged,
            "FLASHINFER_MLA" => Self::VllmFlashInfer,
            "FLASHMLA" | "FLASH_ATTN_MLA" => Self::VllmFlashMla,
            "TRITON_MLA" | "vllm_triton_mla" => Self::VllmTriton,
            "FLASHINFER_MLA_SPARSE" | "FLASHMLA_SPARSE" => Self::VllmSparse,
            _ if name.starts_with("sglang_dsa_dense_mha") => Self::SglangDense,
            _ if name.starts_with("sglang_dsa_") => Self::SglangSparse,
            _ => return None,
        })
    }

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
}

/// Whether the kernel attends to latents in prefill too.
pub fn absorbs_prompts(kernel: &str) -> bool {
    LatentKernel::from_name(kernel).is_some_and(|kernel| kernel.form(Phase::Prefill) == Form::Absorbed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_expanded_and_single_tokens_absorbed() {
        let of = |name, phase| LatentKernel::from_name(name).expect("known").form(phase);
        assert_eq!(of("default", Phase::Prefill), Form::Expanded);
        assert_eq!(of("default", Phase::Decode), Form::Absorbed);
        // Measured at a third of the multiply-adds of expanded keys.
        assert_eq!(of("flash_attention", Phase::Prefill), Form::Absorbed);
        assert_eq!(of("sglang_dsa_dense_mha_fa3", Phase::Prefill), Form::Expanded);
        assert_eq!(of("sglang_dsa_indexer_trtllm", Phase::Prefill), Form::Absorbed);
    }

    #[test]
    fn unknown_names_stay_unknown() {
        assert_eq!(LatentKernel::from_name(""), None);
        assert_eq!(LatentKernel::from_name("fa3"), None);
    }
}
