//! The shape of a vision encoder, for counting the work of images.

use serde::{Deserialize, Serialize};

/// A transformer over the patches of images, and the projector that makes tokens of them.
///
/// Left out of its work: biases and position embeddings, which are a thousandth of the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Vision {
    pub layers: u32,
    pub hidden: u32,
    pub heads: u32,
    /// Width of the MLPs.
    pub intermediate: u32,
    /// The MLPs have no gate projection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ungated: Option<bool>,
    /// Side of a patch, in pixels.
    pub patch: u32,
    /// Video frames of a patch; an image is repeated to fill them.
    pub frames: u32,
    /// Patches that become one token.
    pub merge: u32,
    /// Widths of the projector's matrices, from its input to the language model's hidden size.
    pub projector: Vec<u32>,
    /// Projectors: one, and another for each layer whose result is used besides the last.
    pub projectors: u32,
    /// Patches that attend to each other, in `windowed` layers; in the others those of an image do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windowed: Option<u32>,
    /// Tokens that the processor makes of every image; `None` if they depend on its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
}

impl Vision {
    /// Values of a patch: three colours per pixel and frame.
    pub fn values(&self) -> u64 {
        // Saturating: a hostile config may claim any size until its limits are checked.
        (3 * u64::from(self.frames)).saturating_mul(u64::from(self.patch).pow(2))
    }

    /// Parameters that every patch passes through.
    pub fn per_patch(&self) -> f64 {
        let hidden = f64::from(self.hidden);
        let projections = if self.ungated == Some(true) { 2.0 } else { 3.0 };
        let block = hidden * (4.0 * hidden + projections * f64::from(self.intermediate));
        self.values() as f64 * hidden + f64::from(self.layers) * block
    }

    /// Parameters that every token passes through.
    pub fn per_token(&self) -> f64 {
        let products = self.projector.windows(2).map(|pair| f64::from(pair[0]) * f64::from(pair[1]));
        f64::from(self.projectors) * products.sum::<f64>()
    }
}
