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
    /// What replaces attention: a delta rule, or Mamba.
    Recurrence,
    Mlp,
    Experts,
    Head,
    /// The layer that drafts tokens.
    Drafting,
    Communication,
    /// The vision encoder and its projector, including their collectives.
    Encoder,
}

/// Which property of a step a call's time depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The number of its tokens.
    Tokens,
    /// The number of tokens of all ranks that share the experts.
    Experts,
    /// The number of decoding sequences, one token each: passes for further drafts.
    Drafts,
    /// The number of positions with logits.
    Logits,
    /// The lengths of the sequences in one phase.
    Lengths(Phase),
}

/// `count` launches of the same kernel in one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub block: Block,
    /// The kernel's name in a profile of the engine: `qkv_proj`, `attention`, `all_reduce` ...
    pub name: &'static str,
    pub op: Op,
    pub count: u64,
    pub scope: Scope,
    /// Runs concurrently with another kernel: adds only the time it would keep the GPU busy at full speed.
    pub overlapped: bool,
}
