//! Fused-MoE kernels, named as in the measured tables and the engine catalog.

use crate::config::{Arch, Dtype};
use crate::kernels::Caller;

/// A kernel and the engine's wrapper around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpertKernel {
    pub code: Code,
    pub caller: Caller,
    pub wrapper: Wrapper,
}

/// The code of the GEMMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The engines' own Triton kernels.
    Triton,
    /// OpenAI's `triton_kernels` for MXFP4.
    OpenAiTriton,
    /// TensorRT-LLM's CUTLASS kernels, its own or from FlashInfer.
    Cutlass,
    /// TensorRT-LLM's generated sm100 kernels, its own or from FlashInfer.
    Generated,
    /// DeepGEMM's grouped GEMMs.
    DeepGemm,
    /// Marlin's weight-only GEMMs.
    Marlin,
}

/// The code around the GEMMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapper {
    Plain,
    /// TensorRT-LLM's low-latency path: the weighted sum is left to the next kernel.
    LowLatency,
    /// vLLM's modular experts: routing, quantisation and sum separate from the generated kernel.
    Modular,
}

impl ExpertKernel {
    /// By its name in tables and catalog; `None` for kernels without a learned model. TensorRT-LLM's plain
    /// `moe_torch_flow` is its default backend's kernel for the format and architecture.
    pub fn from_name(name: &str, arch: Arch, weights: Dtype) -> Option<Self> {
        // SiTU activation was measured as SiLU: the GEMMs are the same.
        let name = name.strip_suffix("_situ_as_silu").unwrap_or(name);
        if let Some(name) = name.strip_prefix("vllm_") {
            return Self::of_vllm(name);
        }
        let (caller, code) = match name {
            "sglang_fused_moe_triton" => (Caller::Sglang, Code::Triton),
            "sglang_marlin_moe" => (Caller::Sglang, Code::Marlin),
            "sglang_flashinfer_cutlass_moe" => (Caller::Sglang, Code::Cutlass),
            "sglang_flashinfer_trtllm_moe" | "sglang_mxfp4_flashinfer_trtllm_moe" => {
                (Caller::Sglang, Code::Generated)
            }
            "moe_torch_flow_cutlass" | "moe_torch_flow_nongated" => (Caller::Trtllm, Code::Cutlass),
            "moe_torch_flow_min_latency" => (Caller::Trtllm, Code::Generated),
            "moe_torch_flow_triton_fp8_block" => (Caller::Trtllm, Code::Triton),
            "moe_torch_flow" => match (arch, weights) {
                (Arch::Blackwell, _) => (Caller::Trtllm, Code::Generated),
                (Arch::Hopper, Dtype::Mxfp4) => (Caller::Trtllm, Code::OpenAiTriton),
                _ => (Caller::Trtllm, Code::Cutlass),
            },
            "deepgemm" => (Caller::Trtllm, Code::DeepGemm),
            _ => return None,
        };
        let wrapper = if name.ends_with("_min_latency") { Wrapper::LowLatency } else { Wrapper::Plain };
        Some(Self { code, caller, wrapper })
    }

    /// vLLM's names hold the quantisation method, the backend and the class of the experts.
    fn of_vllm(name: &str) -> Option<Self> {
        let code = match name {
            "fused_moe" => Code::Triton,
            _ if name.contains("_oaitriton") => Code::OpenAiTriton,
            _ if name.ends_with("_tritonexperts") => Code::Triton,
            _ if name.ends_with("_marlinexperts") => Code::Marlin,
            _ if name.contains("_flashinfer_cutlass_") => Code::Cutlass,
            _ if name.contains("_flashinfer_trtllm_") => Code::Generated,
            _ => return None,
        };
        let modular = code == Code::Generated && name.ends_with("expertsmodular");
        let wrapper = if modular { Wrapper::Modular } else { Wrapper::Plain };
        Some(Self { code, caller: Caller::Vllm, wrapper })
    }

    /// Bytes per weight as the kernel reads it: SGLang's Triton kernels widen MXFP4 at load time.
    pub fn weight_bytes(self, weights: Dtype) -> f64 {
        match (self.caller, self.code, weights) {
            (Caller::Sglang, Code::Triton, Dtype::Mxfp4) => Dtype::Bf16.bytes(),
            _ => weights.bytes(),
        }
    }

    /// Whether pairs with other ranks' experts are carried along as empty rows.
    pub fn carries_all_pairs(self) -> bool {
        self.code == Code::Triton
    }

    /// Whether the GEMMs are sm80 code, which later tensor cores run below their own rate.
    pub fn synchronous(self) -> bool {
        self.code == Code::Marlin
    }

    /// FlashInfer's CUTLASS kernels without tuning: several times slower on Hopper.
    pub fn untuned(self) -> bool {
        self.code == Code::Cutlass && self.caller != Caller::Trtllm
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;

    #[test]
    fn every_kernel_of_the_catalog_is_learned() {
        for engine in &catalog().engines.engines {
            for choice in &engine.kernels {
                for moe in &choice.moe {
                    let kernel = ExpertKernel::from_name(&moe.kernel, choice.arch, moe.weights);
                    assert!(kernel.is_some(), "{} {choice:?}", engine.id);
                }
            }
        }
    }

    #[test]
    fn names_of_the_tables() {
        let of = |name, arch| ExpertKernel::from_name(name, arch, Dtype::Mxfp4).map(|kernel| kernel.code);
        assert_eq!(of("moe_torch_flow", Arch::Blackwell), Some(Code::Generated));
        assert_eq!(of("moe_torch_flow", Arch::Hopper), Some(Code::OpenAiTriton));
        assert_eq!(of("moe_torch_flow", Arch::Ampere), Some(Code::Cutlass));
        assert_eq!(of("sglang_marlin_moe_situ_as_silu", Arch::Ada), Some(Code::Marlin));
        assert_eq!(of("vllm_xpu_moe", Arch::Ada), None);
        assert_eq!(of("no_such_kernel", Arch::Ada), None);
    }

    #[test]
    fn names_of_vllm() {
        let of = |name| ExpertKernel::from_name(name, Arch::Blackwell, Dtype::Fp8Block);
        let kernel = |code, wrapper| Some(ExpertKernel { code, caller: Caller::Vllm, wrapper });
        assert_eq!(
            of("vllm_fp8moe_flashinfer_trtllm_trtllmfp8expertsmodular"),
            kernel(Code::Generated, Wrapper::Modular)
        );
        assert_eq!(
            of("vllm_unquantizedfusedmoe_flashinfer_trtllm_trtllmbf16experts"),
            kernel(Code::Generated, Wrapper::Plain)
        );
        assert_eq!(
            of("vllm_gptossmxfp4moe_triton_oaitritonmxfp4expertsmonolithic"),
            kernel(Code::OpenAiTriton, Wrapper::Plain)
        );
        assert_eq!(
            of("vllm_unquantizedfusedmoe_flashinfer_cutlass_flashinferexperts"),
            kernel(Code::Cutlass, Wrapper::Plain)
        );
    }
}
