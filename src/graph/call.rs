//! One kernel call of a pass.

use serde::Serialize;

use crate::kernels::{Op, Phase};

/// The part of the model a call belongs to, as a profile groups them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Block {
    Embedding,
    Attention,
    Mlp,
    Experts,
    Head,
    /// Of the layer that drafts tokens.
    Drafting,
    Communication,
}

/// What of a step a call's time depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The number of its tokens.
    Tokens,
    /// The number of tokens of all ranks that share the experts.
    Experts,
    /// The number of its sequences that decode, each with one token: further drafts.
    Drafts,
    /// The number of its positions that a token is chosen at.
    Logits,
    /// The lengths of its sequences of one phase.
    Lengths(Phase),
}

/// `count` launches of the same kernel in one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub block: Block,
    /// What a reader of the engine's profile calls it: `qkv_proj`, `attention`, `all_reduce` ...
    pub name: &'static str,
    pub op: Op,
    pub count: u64,
    pub scope: Scope,
    /// Runs beside another kernel: it adds only the time that it keeps the GPU busy at full speed.
    pub beside: bool,
}
