//! The engine whose code launches a kernel.

/// Engines whose launches were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    Vllm,
    Sglang,
    Trtllm,
}

impl Caller {
    /// By the engine's catalog id.
    pub fn of(engine: &str) -> Option<Self> {
        match engine {
            "vllm" => Some(Self::Vllm),
            "sglang" => Some(Self::Sglang),
            "trtllm" => Some(Self::Trtllm),
            _ => None,
        }
    }
}
