//! Routed experts of one layer, as one rank computes them in one fused call.

use super::Load;
use crate::config::Dtype;

/// Permutation, the grouped products with the activation between them, and the weighted sum of each
/// token's experts. The router's product, shared experts and communication are calls of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moe {
    /// Tokens of the expert-parallel group: of all its ranks together.
    pub tokens: u64,
    /// Width of a token.
    pub hidden: u64,
    /// Width of one expert, before it is cut over `tp` ranks.
    pub inter: u64,
    /// Routed experts of the layer, over all ranks.
    pub experts: u64,
    /// Experts that each token visits.
    pub topk: u64,
    /// Ranks that share each expert's width.
    pub tp: u64,
    /// Ranks that the experts are dealt over.
    pub ep: u64,
    /// Gate and up projection (SwiGLU); otherwise the up projection alone (squared ReLU).
    pub gated: bool,
    /// Format of the experts; those multiplied in FP8 or FP4 also quantise the activations.
    pub weights: Dtype,
    pub part: Part,
    /// What the rank is given, the busiest one of its group.
    pub load: Load,
}

/// How much of the layer one call computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    Whole,
    /// The grouped gate and up projection alone.
    First,
}

impl Moe {
    /// Columns of one expert on this rank.
    pub fn width(&self) -> u64 {
        self.inter.div_ceil(self.tp.max(1))
    }

    /// Experts on this rank.
    pub fn local_experts(&self) -> u64 {
        self.experts.div_ceil(self.ep.max(1))
    }

    /// Columns of the first product of one expert: gate and up, or up.
    pub fn first_columns(&self) -> u64 {
        self.width() * if self.gated { 2 } else { 1 }
    }

    /// Weights of one expert on this rank that the call multiplies with.
    pub fn expert_weights(&self) -> u64 {
        let down = match self.part {
            Part::Whole => self.width(),
            Part::First => 0,
        };
        self.hidden * (self.first_columns() + down)
    }
}
