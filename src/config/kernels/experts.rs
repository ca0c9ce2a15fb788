//! Fused-MoE kernels by name.

use std::str::FromStr;

use super::names::{Caller, UnknownKernel};
use crate::config::{Arch, Dtype};

/// A fused-MoE kernel and the engine's wrapper around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExpertKernel {
    pub code: ExpertCode,
    pub caller: Caller,
    pub wrapper: ExpertWrapper,
}

/// The code of the experts' GEMMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExpertCode {
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
    /// AMD's, from its library aiter.
    Aiter,
    /// TensorRT-LLM's default for the format and architecture: see [`ExpertKernel::on`].
    TrtllmDefault,
}

/// The code around the experts' GEMMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExpertWrapper {
    Plain,
    /// TensorRT-LLM's low-latency path: the weighted sum is left to the next kernel.
    LowLatency,
    /// vLLM's modular experts: routing, quantisation and sum separate from the generated kernel.
    Modular,
}

impl FromStr for ExpertKernel {
    type Err = UnknownKernel;

    fn from_str(name: &str) -> Result<Self, UnknownKernel> {
        // SiTU activation was measured as SiLU: the GEMMs are the same.
        let name = name.strip_suffix("_situ_as_silu").unwrap_or(name);
        if let Some(name) = name.strip_prefix("vllm_") {
            return Self::of_vllm(name);
        }
        let (caller, code) = match name {
            "sglang_fused_moe_triton" => (Caller::Sglang, ExpertCode::Triton),
            "sglang_aiter_moe" => (Caller::Sglang, ExpertCode::Aiter),
            "sglang_marlin_moe" => (Caller::Sglang, ExpertCode::Marlin),
            "sglang_flashinfer_cutlass_moe" => (Caller::Sglang, ExpertCode::Cutlass),
            "sglang_flashinfer_trtllm_moe" | "sglang_mxfp4_flashinfer_trtllm_moe" => {
                (Caller::Sglang, ExpertCode::Generated)
            }
            "moe_torch_flow" => (Caller::Trtllm, ExpertCode::TrtllmDefault),
            "moe_torch_flow_cutlass" | "moe_torch_flow_nongated" => (Caller::Trtllm, ExpertCode::Cutlass),
            "moe_torch_flow_min_latency" => (Caller::Trtllm, ExpertCode::Generated),
            "moe_torch_flow_triton_fp8_block" => (Caller::Trtllm, ExpertCode::Triton),
            "deepgemm" => (Caller::Trtllm, ExpertCode::DeepGemm),
            _ => return Err(UnknownKernel),
        };
        let low_latency = name.ends_with("_min_latency");
        let wrapper = if low_latency { ExpertWrapper::LowLatency } else { ExpertWrapper::Plain };
        Ok(Self { code, caller, wrapper })
    }
}

impl ExpertKernel {
    /// vLLM's names hold the quantisation method, the backend and the class of the experts.
    fn of_vllm(name: &str) -> Result<Self, UnknownKernel> {
        let code = match name {
            "fused_moe" => ExpertCode::Triton,
            _ if name.contains("_oaitriton") => ExpertCode::OpenAiTriton,
            _ if name.ends_with("_tritonexperts") => ExpertCode::Triton,
            _ if name.ends_with("_deepgemmexperts") => ExpertCode::DeepGemm,
            _ if name.ends_with("_marlinexperts") => ExpertCode::Marlin,
            _ if name.contains("_flashinfer_cutlass_") => ExpertCode::Cutlass,
            _ if name.contains("_flashinfer_trtllm_") => ExpertCode::Generated,
            _ => return Err(UnknownKernel),
        };
        let modular = code == ExpertCode::Generated && name.ends_with("expertsmodular");
        let wrapper = if modular { ExpertWrapper::Modular } else { ExpertWrapper::Plain };
        Ok(Self { code, caller: Caller::Vllm, wrapper })
    }

    /// The kernel for experts in `weights` on `arch`, with TensorRT-LLM's default resolved.
    pub fn on(self, arch: Arch, weights: Dtype) -> Self {
        let code = match (self.code, arch, weights) {
            (ExpertCode::TrtllmDefault, Arch::Blackwell, _) => ExpertCode::Generated,
            (ExpertCode::TrtllmDefault, Arch::Hopper, Dtype::Mxfp4) => ExpertCode::OpenAiTriton,
            (ExpertCode::TrtllmDefault, ..) => ExpertCode::Cutlass,
            (known, ..) => known,
        };
        Self { code, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_experts_follow_format_and_architecture() {
        let of = |name: &str, arch| {
            let kernel: Option<ExpertKernel> = name.parse().ok();
            kernel.map(|kernel| kernel.on(arch, Dtype::Mxfp4).code)
        };
        assert_eq!(of("moe_torch_flow", Arch::Blackwell), Some(ExpertCode::Generated));
        assert_eq!(of("moe_torch_flow", Arch::Hopper), Some(ExpertCode::OpenAiTriton));
        assert_eq!(of("moe_torch_flow", Arch::Ampere), Some(ExpertCode::Cutlass));
        assert_eq!(of("sglang_marlin_moe_situ_as_silu", Arch::Ada), Some(ExpertCode::Marlin));
        assert_eq!(of("vllm_xpu_moe", Arch::Ada), None);
        assert_eq!(of("no_such_kernel", Arch::Ada), None);
    }

    #[test]
    fn vllm_names_its_experts_by_method_backend_and_class() {
        let kernel = |code, wrapper| Ok(ExpertKernel { code, caller: Caller::Vllm, wrapper });
        for (name, code, wrapper) in [
            (
                "vllm_fp8moe_flashinfer_trtllm_trtllmfp8expertsmodular",
                ExpertCode::Generated,
                ExpertWrapper::Modular,
            ),
            (
                "vllm_unquantizedfusedmoe_flashinfer_trtllm_trtllmbf16experts",
                ExpertCode::Generated,
                ExpertWrapper::Plain,
            ),
            (
                "vllm_gptossmxfp4moe_triton_oaitritonmxfp4expertsmonolithic",
                ExpertCode::OpenAiTriton,
                ExpertWrapper::Plain,
            ),
            (
                "vllm_unquantizedfusedmoe_flashinfer_cutlass_flashinferexperts",
                ExpertCode::Cutlass,
                ExpertWrapper::Plain,
            ),
        ] {
            assert_eq!(name.parse(), kernel(code, wrapper), "{name}");
        }
    }
}
