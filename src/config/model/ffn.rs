//! The feed-forward part of a block: an MLP, or a mixture of experts.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Ffn {
    Dense(Dense),
    Moe(Moe),
}

/// An MLP, gated by default: `down(silu(gate(x)) * up(x))`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Dense {
    pub intermediate: u32,
    /// `down(relu(up(x))^2)`: no gate projection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ungated: Option<bool>,
}

/// A mixture of experts: each token visits `topk` of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Moe {
    pub experts: u32,
    pub topk: u32,
    /// Width of one expert.
    pub intermediate: u32,
    /// Total width of the shared experts, which every token visits; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<u32>,
    /// The shared experts' output is weighted by a one-column gate projection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_gate: Option<bool>,
    /// No gate projection in any expert.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ungated: Option<bool>,
    /// Width that tokens are projected to before the routed experts, and back from after them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latent: Option<u32>,
    /// Biases on the experts' projections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<bool>,
    /// The router is computed in FP32.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_router: Option<bool>,
    /// Width of a dense MLP parallel to the experts, whose output is added to theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<u32>,
}

impl Dense {
    pub fn gated(&self) -> bool {
        self.ungated != Some(true)
    }

    /// Columns of the MLP's input projection: gate and up, or up alone.
    pub fn columns(&self) -> u32 {
        self.intermediate * if self.gated() { 2 } else { 1 }
    }
}

impl Moe {
    pub fn gated(&self) -> bool {
        self.ungated != Some(true)
    }

    /// Input width of the routed experts.
    pub fn width(&self, hidden: u32) -> u32 {
        self.latent.unwrap_or(hidden)
    }

    /// The shared experts as one MLP.
    pub fn shared(&self) -> Option<Dense> {
        self.shared.map(|intermediate| Dense { intermediate, ungated: self.ungated })
    }
}
