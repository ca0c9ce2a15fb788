//! Facts about each fused-MoE kernel.

use crate::config::Dtype;
use crate::config::kernels::{Caller, ExpertCode, ExpertKernel};

impl ExpertKernel {
    /// Bytes per weight as the kernel reads it: SGLang's Triton kernels widen MXFP4 at load time.
    pub fn weight_bytes(self, weights: Dtype) -> f64 {
        match (self.caller, self.code, weights) {
            (Caller::Sglang, ExpertCode::Triton, Dtype::Mxfp4) => Dtype::Bf16.bytes(),
            _ => weights.bytes(),
        }
    }

    /// Whether pairs with other ranks' experts are carried along as empty rows.
    pub fn carries_all_pairs(self) -> bool {
        self.code == ExpertCode::Triton
    }

    /// Whether a block of rows is computed for each expert of the rank, also for those that no token visits. No such call
    /// was measured.
    pub fn computes_all_blocks(self) -> bool {
        self.code == ExpertCode::DeepGemm && self.caller == Caller::Vllm
    }

    /// Whether its time is a closed form instead of learned.
    pub fn has_closed_form(self) -> bool {
        self.computes_all_blocks() || self.code == ExpertCode::Aiter
    }

    /// Whether its time over `ranks` of EP includes the choice of experts: all were measured from the router's logits on
    /// (aiconfigurator's `collect_moe.py` of TensorRT-LLM, vLLM 0.24 and SGLang), except SGLang's Triton kernels with EP, which
    /// were given a finished choice.
    pub fn chooses(self, ranks: u64) -> bool {
        let is_given = self.caller == Caller::Sglang && self.code == ExpertCode::Triton && ranks > 1;
        !is_given && !self.has_closed_form()
    }

    /// Whether the GEMMs are sm80 code, which later tensor cores run below their own rate.
    pub fn synchronous(self) -> bool {
        self.code == ExpertCode::Marlin
    }

    /// FlashInfer's CUTLASS kernels without tuning: several times slower on Hopper.
    pub fn untuned(self) -> bool {
        self.code == ExpertCode::Cutlass && self.caller != Caller::Trtllm
    }
}
