//! What works on each token alone: an MLP, or a choice of experts.

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
    /// Width of all shared experts together, which every token visits; none if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<u32>,
    /// The shared experts' result is weighed by a projection to one number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_gate: Option<bool>,
    /// No gate projection in any expert.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ungated: Option<bool>,
    /// Width that tokens are projected to before the routed experts, and back from after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latent: Option<u32>,
    /// Biases on the experts' projections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<bool>,
    /// A dense MLP of this width beside the experts, its result added to theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<u32>,
}

impl Dense {
    pub fn gated(&self) -> bool {
        self.ungated != Some(true)
    }

    /// Columns into the MLP: gate and up, or up.
    pub fn columns(&self) -> u32 {
        self.intermediate * if self.gated() { 2 } else { 1 }
    }
}

impl Moe {
    pub fn gated(&self) -> bool {
        self.ungated != Some(true)
    }

    /// Width of a token as the routed experts take it.
    pub fn width(&self, hidden: u32) -> u32 {
        self.latent.unwrap_or(hidden)
    }

    /// The shared experts as one MLP.
    pub fn shared(&self) -> Option<Dense> {
        self.shared.map(|intermediate| Dense { intermediate, ungated: self.ungated })
    }
}
