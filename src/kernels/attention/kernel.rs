//! Attention kernels, named as in the measured tables and the engine catalog.

use super::constants;
use crate::config::{Arch, Dtype, Gpu};
use crate::kernels::{Attention, Phase};

/// Kernels by code base, regardless of the engine that launches them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionKernel {
    /// FlashInfer's FlashAttention-2, as SGLang launches it.
    FlashInfer,
    /// FlashInfer's FlashAttention-2, as vLLM launches it.
    VllmFlashInfer,
    /// FlashAttention-2, as vLLM launches it.
    Fa2,
    /// FlashAttention-3, as SGLang launches it.
    Fa3,
    /// The same built for Ampere: reaches about half of the memory bandwidth, FlashAttention-2 four fifths.
    Fa3Ampere,
    /// FlashAttention-3, as vLLM launches it.
    VllmFa3,
    /// TensorRT-LLM's kernels for sm100, as SGLang launches them.
    TrtllmMha,
    /// TensorRT-LLM's kernels for sm100, as vLLM launches them.
    VllmTrtllm,
    /// TensorRT-LLM's own attention, with the rotary embedding fused.
    Trtllm,
    /// FlashInfer, as TensorRT-LLM launches it.
    TrtllmFlashInfer,
    /// FlashAttention's next version, as vLLM launches it for heads of 512.
    VllmFa4,
    /// SGLang's Triton kernels.
    Triton,
    /// vLLM's Triton kernels.
    VllmTriton,
}

impl AttentionKernel {
    /// By its name in tables and catalog; `None` for kernels without a learned model.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "flashinfer" | "FlashInfer decode" => Self::FlashInfer,
            // SGLang 0.5.10 on A100 names the backend only.
            "flash_attention" => Self::Fa3Ampere,
            "vllm_flashinfer_fidecode" | "vllm_flashinfer_fiprefill" => Self::VllmFlashInfer,
            "vllm_flash_attn_fa2" | "vllm_flash_attn" | "vllm0.19 default attn" | "FLASH_ATTENTION" => {
                Self::Fa2
            }
            "fa3" | "FA3 prefill" => Self::Fa3,
            "vllm_flash_attn_fa3" => Self::VllmFa3,
            "trtllm_mha" => Self::TrtllmMha,
            "vllm_flashinfer_trtllmprefill" | "vllm_flashinfer_trtllmdecode" => Self::VllmTrtllm,
            "torch_flow" => Self::Trtllm,
            "torch_flow_flashinfer" => Self::TrtllmFlashInfer,
            "vllm_flash_attn_fa4" => Self::VllmFa4,
            "triton" => Self::Triton,
            "vllm_triton_attn" => Self::VllmTriton,
            _ => return None,
        })
    }

    /// Whether prefill skips keys outside the sliding window. One measured kernel does not: with a window of 128 it
    /// takes as long as without.
    pub fn skips_hidden(self) -> bool {
        self != Self::Triton
    }

    /// Whether a decoding token's keys are split over several SMs. FlashAttention-2 does so only where it packs the
    /// `group` query heads of a KV head into one tile, and never with a window.
    pub fn splits(self, group: f64, windowed: bool) -> bool {
        self != Self::Fa2 || (group > 1.0 && !windowed)
    }

    /// Whether the query heads of a KV head share its keys in decode. TensorRT-LLM's kernel supports a `group` of
    /// up to 32; beyond that, every query head reads all keys and takes correspondingly longer.
    pub fn packs(self, group: f64) -> bool {
        self != Self::Trtllm || group <= constants().packed_group
    }

    /// Whether one thread block processes all keys of a KV head and sequence, however long: TensorRT-LLM's kernel
    /// for grouped queries over an FP8 cache, on GPUs without the data-centre tensor instructions.
    pub fn keeps_whole(self, group: f64, kv: Dtype, arch: Arch) -> bool {
        self == Self::Trtllm
            && group > 1.0
            && kv.math() == Dtype::Fp8
            && matches!(arch, Arch::Ada | Arch::BlackwellRtx)
    }

    /// Rows of the query tile in decode, however few are filled, if known from the source: `kBlockM` in
    /// FlashAttention-2's `run_mha_fwd_splitkv_dispatch`, and in FlashAttention-3's `tile_size_fwd_sm8x`.
    pub fn decode_rows(self) -> Option<f64> {
        match self {
            Self::Fa2 => Some(constants().fa2_decode_rows),
            Self::Fa3Ampere => Some(constants().fa3_ampere_decode_rows),
            _ => None,
        }
    }

    /// Whether a thread block has a single key buffer (`kStages` of `tile_size_fwd_sm8x`), so that loads and
    /// multiplication alternate.
    pub fn one_stage(self) -> bool {
        self == Self::Fa3Ampere
    }

    /// Fixed cycles of a decode thread block; FlashAttention-2's larger tiles take longer.
    pub fn block_cycles(self, group: f64, arch: Arch) -> f64 {
        match self {
            Self::Fa3 | Self::VllmFa3 | Self::Fa3Ampere => constants().fa3_block_cycles,
            Self::Trtllm if arch != Arch::Blackwell && group > 1.0 => constants().trtllm_group_block_cycles,
            _ => constants().block_cycles,
        }
    }

    /// The format of query-key products over a KV cache in `kv`, as engines set it up: with an FP8 cache, SGLang's
    /// and TensorRT-LLM's prefill uses FP8, all others widen to BF16.
    pub fn math(self, kv: Dtype, prefill: bool) -> Dtype {
        match self {
            Self::Fa3 | Self::TrtllmMha | Self::Trtllm if prefill && kv.math() == Dtype::Fp8 => Dtype::Fp8,
            _ => Dtype::Bf16,
        }
    }
}

/// The format of query-key products of `kernel` on `gpu`, as engines set it up.
pub fn math(attention: &Attention, gpu: &Gpu, kernel: &str) -> Dtype {
    let Some(kernel) = AttentionKernel::from_name(kernel) else { return Dtype::Bf16 };
    let wanted = kernel.math(attention.kv, attention.phase == Phase::Prefill);
    gpu.math_or_bf16(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;

    #[test]
    fn every_kernel_of_the_catalog_is_learned() {
        for engine in &catalog().engines.engines {
            for choice in &engine.kernels {
                assert!(AttentionKernel::from_name(&choice.attention_prefill).is_some(), "{choice:?}");
                assert!(AttentionKernel::from_name(&choice.attention_decode).is_some(), "{choice:?}");
            }
        }
    }

    #[test]
    fn only_some_prefill_multiplies_in_fp8() {
        assert_eq!(AttentionKernel::Fa3.math(Dtype::Fp8, true), Dtype::Fp8);
        assert_eq!(AttentionKernel::Fa3.math(Dtype::Fp8, false), Dtype::Bf16);
        assert_eq!(AttentionKernel::Fa2.math(Dtype::Fp8, true), Dtype::Bf16);
        assert_eq!(AttentionKernel::Fa3.math(Dtype::Bf16, true), Dtype::Bf16);
    }
}
