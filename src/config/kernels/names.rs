//! The kernels of each family, by the names that measured tables and the engines' records give them. The facts about
//! each, its counts and its features are in the family's module of `kernels`.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::{ExpertKernel, KernelName};
use crate::config::Arch;
use crate::config::ids::ids;

/// Engines whose launches were measured.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Caller {
    Vllm,
    Sglang,
    Trtllm,
}

ids!(Caller);

/// GEMM kernels by code and preceding launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GemmKernel {
    /// The vendor's library, 16 bits.
    Library,
    /// Per-token quantisation, then a scaled GEMM.
    ScaledFp8,
    /// TensorRT-LLM's per-tensor quantisation: several launches before the GEMM.
    TensorFp8,
    /// Block-scaled, TensorRT-LLM's own.
    BlockScaled,
    /// Block-scaled, by DeepGEMM on Hopper.
    DeepGemm,
    /// Block-scaled, by DeepGEMM on sm100, which also packs the scales.
    DeepGemmPacked,
    /// Block-scaled, by DeepGEMM with TensorRT-LLM's quantisation.
    TrtllmDeepGemm,
    /// FlashInfer's CuTe DSL FP4 GEMM, as SGLang and vLLM use it.
    CuteDsl,
    /// FlashInfer's CUTLASS FP4 GEMM.
    CutlassFp4,
    /// TensorRT-LLM's choice among its FP4 GEMMs.
    TrtllmFp4,
    /// TensorRT plugins that widen integer weights, or multiply 8-bit integers.
    Plugin,
}

impl GemmKernel {
    /// Whether it goes through FlashInfer on `arch`, whose Python takes longer than a plain launch.
    pub fn by_flashinfer(self, arch: Arch) -> bool {
        match self {
            Self::CuteDsl | Self::CutlassFp4 => true,
            Self::ScaledFp8 => arch == Arch::Blackwell,
            _ => false,
        }
    }
}

/// Attention kernels by code base, regardless of the engine that launches them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString)]
pub enum AttentionKernel {
    /// FlashInfer's FlashAttention-2, as SGLang launches it.
    #[strum(serialize = "flashinfer", serialize = "FlashInfer decode")]
    FlashInfer,
    /// FlashInfer's FlashAttention-2, as vLLM launches it.
    #[strum(serialize = "vllm_flashinfer_fidecode", serialize = "vllm_flashinfer_fiprefill")]
    VllmFlashInfer,
    /// FlashAttention-2, as vLLM launches it.
    #[strum(
        serialize = "vllm_flash_attn_fa2",
        serialize = "vllm_flash_attn",
        serialize = "vllm0.19 default attn",
        serialize = "FLASH_ATTENTION"
    )]
    Fa2,
    /// FlashAttention-3, as SGLang launches it.
    #[strum(serialize = "fa3", serialize = "FA3 prefill")]
    Fa3,
    /// FlashAttention-3 built for Ampere: reaches about half of the memory bandwidth, FlashAttention-2 four fifths.
    /// SGLang 0.5.10 on A100 names the backend only.
    #[strum(serialize = "flash_attention")]
    Fa3Ampere,
    /// FlashAttention-3, as vLLM launches it.
    #[strum(serialize = "vllm_flash_attn_fa3")]
    VllmFa3,
    /// TensorRT-LLM's kernels for sm100, as SGLang launches them.
    #[strum(serialize = "trtllm_mha")]
    TrtllmMha,
    /// TensorRT-LLM's kernels for sm100, as vLLM launches them.
    #[strum(serialize = "vllm_flashinfer_trtllmprefill", serialize = "vllm_flashinfer_trtllmdecode")]
    VllmTrtllm,
    /// TensorRT-LLM's own attention, with the rotary embedding fused.
    #[strum(serialize = "torch_flow")]
    Trtllm,
    /// FlashInfer, as TensorRT-LLM launches it.
    #[strum(serialize = "torch_flow_flashinfer")]
    TrtllmFlashInfer,
    /// FlashAttention's next version, as vLLM launches it for heads of 512.
    #[strum(serialize = "vllm_flash_attn_fa4")]
    VllmFa4,
    /// SGLang's Triton kernels.
    #[strum(serialize = "triton")]
    Triton,
    /// vLLM's Triton kernels.
    #[strum(serialize = "vllm_triton_attn")]
    VllmTriton,
}

/// What an engine launches for latent attention on one GPU architecture, a kernel or a whole block. Names that differ
/// only in KV cache format mean one kernel: the format is a separate input.
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

/// No kernel of this family with a learned model has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownKernel;

impl FromStr for LatentKernel {
    type Err = UnknownKernel;

    fn from_str(name: &str) -> Result<Self, UnknownKernel> {
        Ok(match name {
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
            _ => return Err(UnknownKernel),
        })
    }
}

/// The batched GEMMs that absorb the expansion of latent attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
pub enum BmmKernel {
    /// The library's batched GEMM.
    #[strum(serialize = "sglang_torch_bmm", serialize = "vllm_torch_bmm")]
    Library,
    /// TensorRT-LLM's batched GEMM, which also calls the library.
    #[strum(serialize = "trtllm_bmm_out")]
    Trtllm,
    /// TensorRT-LLM's batched GEMM on A100, for which versions name no kernel; BF16 only.
    #[strum(serialize = "default")]
    TrtllmUnnamed,
    /// FP8 with separate activation quantisation, as SGLang launches it.
    #[strum(serialize = "sglang_sgl_kernel_bmm_fp8")]
    SglangFp8,
    /// FP8 with block scales, quantisation included.
    #[strum(serialize = "trtllm_fp8_block_scaling_bmm_out")]
    TrtllmBlock,
    /// FP8 weights widened in advance: a bf16 GEMM.
    #[strum(serialize = "trtllm_bmm_out_dequant_bf16")]
    TrtllmWidened,
}

/// Convolutions and delta rules of linear attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
pub enum LinearKernel {
    /// The engine's own under a name that all engines use: in Triton those of vLLM and SGLang, in CUDA TensorRT-LLM's.
    #[strum(
        serialize = "causal_conv1d_fn",
        serialize = "causal_conv1d_update",
        serialize = "chunk_gated_delta_rule",
        serialize = "chunk_gated_delta_rule_triton",
        serialize = "fused_recurrent_gated_delta_rule",
        serialize = "fused_recurrent_gated_delta_rule_packed_decode"
    )]
    Own,
    /// FlashInfer's chunked rule, as vLLM launches it.
    #[strum(serialize = "chunk_gated_delta_rule_flashinfer")]
    FlashInfer,
    /// SGLang's earlier CUDA convolution: a thread block per channel and sequence, like TensorRT-LLM's.
    #[strum(serialize = "causal_conv1d_fn_cuda", serialize = "causal_conv1d_update_cuda")]
    Cuda,
}

/// Element-wise kernels that differ from the current ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
pub enum ElementwiseKernel {
    /// Kernels of 2023, before norms were fused and vectorised, as Vidur measured them in Sarathi-Serve. No engine of
    /// the catalog uses them; they show how GPUs compare.
    #[strum(serialize = "sarathi")]
    Earlier,
}

macro_rules! kernel_id {
    ($($family:ident($kernel:ident)),+ $(,)?) => {
        /// A kernel of any family.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum KernelId {
            $($family($kernel),)+
        }

        $(impl From<$kernel> for KernelId {
            fn from(kernel: $kernel) -> Self {
                Self::$family(kernel)
            }
        })+
    };
}

kernel_id!(
    Gemm(GemmKernel),
    Attention(AttentionKernel),
    Elementwise(ElementwiseKernel),
    Experts(ExpertKernel),
    Latent(LatentKernel),
    Bmm(BmmKernel),
    Linear(LinearKernel),
);

/// An engine's default kernels for latent, sparse and linear attention on one GPU architecture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantChoice {
    pub arch: Arch,
    /// The standalone latent attention kernel, for prefill and for decode.
    pub latent_prefill: KernelName<LatentKernel>,
    pub latent_decode: KernelName<LatentKernel>,
    /// The batched GEMMs of absorbed latent attention.
    pub bmm: KernelName<BmmKernel>,
    pub bmm_fp8: KernelName<BmmKernel>,
    /// Whole latent attention blocks.
    pub block_prefill: KernelName<LatentKernel>,
    pub block_decode: KernelName<LatentKernel>,
    /// Sparse blocks for prompts no longer than `topk`, and for all others.
    pub sparse_short: KernelName<LatentKernel>,
    pub sparse: KernelName<LatentKernel>,
    /// The gated delta rule.
    pub delta_prefill: KernelName<LinearKernel>,
    pub delta_decode: KernelName<LinearKernel>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn every_kernel_of_a_variant_is_known() {
        fn known<K: Copy>(named: &KernelName<K>) -> bool {
            named.is_empty() || named.id().is_some()
        }
        for engine in &catalog().engines.engines {
            for choice in &engine.variants {
                let latent = [&choice.latent_prefill, &choice.latent_decode, &choice.sparse];
                let blocks = [&choice.block_prefill, &choice.block_decode, &choice.sparse_short];
                let linear = [&choice.delta_prefill, &choice.delta_decode];
                let all = latent.into_iter().chain(blocks).all(known)
                    && [&choice.bmm, &choice.bmm_fp8].into_iter().all(known)
                    && linear.into_iter().all(known);
                assert!(all, "{} {choice:?}", engine.id);
            }
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        assert_eq!("".parse::<LatentKernel>(), Err(UnknownKernel));
        assert_eq!("fa3".parse::<LatentKernel>(), Err(UnknownKernel));
        assert!("mamba_chunk_scan".parse::<LinearKernel>().is_err());
    }
}
