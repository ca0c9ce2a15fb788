//! Calls of linear attention: layers whose state does not grow with the sequence (gated delta net, Mamba).

use super::{Phase, Sequences};

/// A depthwise causal convolution along the sequence, with its activation: each channel over its own last
/// `taps` tokens, those before this step kept as a state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CausalConv {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    /// Channels on this rank.
    pub channels: u64,
    pub taps: u64,
}

/// The gated delta rule: each value head keeps a matrix of `key_dim` by `value_dim`, decayed and corrected
/// by each token, read by its query. Chunk by chunk in prefill, token by token in decode.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeltaRule {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    /// Heads of queries and keys on this rank; each serves `value_heads / key_heads` states.
    pub key_heads: u64,
    /// Heads of values, and states, on this rank.
    pub value_heads: u64,
    pub key_dim: u64,
    pub value_dim: u64,
}

/// The state-space scan of Mamba-2: each head keeps a matrix of `head_dim` by `state`, decayed and driven by
/// each token. Chunk by chunk in prefill, token by token in decode.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scan {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    /// Heads on this rank.
    pub heads: u64,
    pub head_dim: u64,
    /// Groups of heads on this rank that share their input and output matrices.
    pub groups: u64,
    pub state: u64,
}

/// A call of the linear attention family. The scan of Mamba-2, of which nobody published times, is none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Linear {
    Conv(CausalConv),
    Delta(DeltaRule),
}
