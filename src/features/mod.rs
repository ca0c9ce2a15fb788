//! Feature vectors of kernel calls: what the learned models read. Versioned per family.

use serde::{Deserialize, Serialize};

/// A family of kernels that one model covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    Gemm,
    AttentionPrefill,
    AttentionDecode,
}

impl Family {
    pub const ALL: [Self; 3] = [Self::Gemm, Self::AttentionPrefill, Self::AttentionDecode];

    /// The stable id: the model's file name and the key of reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::Gemm => "gemm",
            Self::AttentionPrefill => "attention_prefill",
            Self::AttentionDecode => "attention_decode",
        }
    }
}
