//! Facts about each attention kernel.

use super::constants;
use crate::config::kernels::AttentionKernel;
use crate::config::{Arch, Dtype};

impl AttentionKernel {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_prefill_multiplies_in_fp8() {
        assert_eq!(AttentionKernel::Fa3.math(Dtype::Fp8, true), Dtype::Fp8);
        assert_eq!(AttentionKernel::Fa3.math(Dtype::Fp8, false), Dtype::Bf16);
        assert_eq!(AttentionKernel::Fa2.math(Dtype::Fp8, true), Dtype::Bf16);
        assert_eq!(AttentionKernel::Fa3.math(Dtype::Bf16, true), Dtype::Bf16);
    }
}
