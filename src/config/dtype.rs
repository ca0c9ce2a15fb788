//! Number formats of weights, activations and the KV cache.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::ids::ids;

/// A number format as serving systems name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Dtype {
    #[default]
    Bf16,
    /// FP8 E4M3, one scale per tensor or token.
    Fp8,
    /// FP8 E4M3 with one f32 scale per 128x128 block of weights.
    Fp8Block,
    /// FP4 E2M1 with one FP8 scale per 16 weights.
    Nvfp4,
    /// FP4 E2M1 with one E8M0 scale per 32 weights.
    Mxfp4,
    /// MXFP4 weights, multiplied with activations quantised to FP8 with one E8M0 scale per 32.
    Mxfp4Mxfp8,
    /// 8-bit integer weights, 16-bit activations.
    Int8,
    /// 4-bit integer weights in groups of 128, 16-bit activations.
    Int4,
    /// 8-bit integer weights and activations, one scale per channel and token (SmoothQuant).
    W8a8,
}

ids!(Dtype);

impl Dtype {
    /// The format's name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "BF16",
            Self::Fp8 => "FP8",
            Self::Fp8Block => "FP8, 128×128 blocks",
            Self::Nvfp4 => "NVFP4",
            Self::Mxfp4 => "MXFP4",
            Self::Mxfp4Mxfp8 => "MXFP4, MXFP8 activations",
            Self::Int8 => "INT8 (W8A16)",
            Self::Int4 => "INT4 (W4A16)",
            Self::W8a8 => "INT8 (W8A8)",
        }
    }

    /// Whether NVIDIA's checkpoints in this format have scales for an FP8 KV cache.
    pub fn has_cache_scales(self) -> bool {
        matches!(self, Self::Fp8 | Self::Nvfp4)
    }

    /// Bytes of one element of a large tensor, scales included.
    pub fn bytes(self) -> f64 {
        match self {
            Self::Bf16 => 2.0,
            Self::Fp8 | Self::Int8 | Self::W8a8 => 1.0,
            Self::Fp8Block => 1.0 + 4.0 / (128.0 * 128.0),
            Self::Nvfp4 => 0.5 + 1.0 / 16.0,
            Self::Mxfp4 | Self::Mxfp4Mxfp8 => 0.5 + 1.0 / 32.0,
            Self::Int4 => 0.5 + 2.0 / 128.0,
        }
    }

    /// The format the tensor cores multiply in: weight-only formats are widened to bf16 first.
    pub fn math(self) -> Self {
        match self {
            Self::Bf16 | Self::Int8 | Self::Int4 | Self::Mxfp4 => Self::Bf16,
            Self::Fp8 | Self::Fp8Block | Self::Mxfp4Mxfp8 => Self::Fp8,
            Self::Nvfp4 => Self::Nvfp4,
            Self::W8a8 => Self::W8a8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_round_trip() {
        for &dtype in Dtype::ALL {
            assert_eq!(Dtype::from_id(dtype.id()), Some(dtype));
            assert_eq!(serde_json::to_value(dtype).unwrap(), dtype.id());
        }
        assert_eq!(Dtype::from_id("fp16"), None);
    }
}
