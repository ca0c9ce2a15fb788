//! One kernel call, in the engines' terms.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::{Latent, Linear, Moe, Scan, Scores, Sequences};
use crate::config::Dtype;
use crate::config::ids::ids;
use crate::units::Bytes;

/// `C[m,n] = A[m,k] B[k,n]`, B the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gemm {
    pub m: u64,
    pub n: u64,
    pub k: u64,
    /// Format of the weights; FP8 formats also quantise the activations.
    pub weights: Dtype,
}

#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Phase {
    #[default]
    Prefill,
    Decode,
}

ids!(Phase);

/// Causal attention of one rank's heads over the sequences of one launch; KV write included.
///
/// A launch of phase `Prefill` may hold decoding sequences beside the prompts, as engines launch them that
/// mix both in one step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Attention {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    /// Query heads on this rank.
    pub heads: u64,
    /// KV heads on this rank (at least one: replicated where TP exceeds their number).
    pub kv_heads: u64,
    pub head_dim: u64,
    pub kv: Dtype,
    /// Keys that a query sees at most, its own included; none where it sees all.
    pub window: Option<u64>,
}

/// Kernels that move bytes: `rows` rows of `width` elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Elementwise {
    /// RMSNorm alone: read, write.
    Norm { rows: u64, width: u64 },
    /// Residual add and RMSNorm: two reads, two writes.
    AddNorm { rows: u64, width: u64 },
    /// Residual add alone: two reads, one write.
    Add { rows: u64, width: u64 },
    /// RMSNorm over each head of Q and K, in place.
    QkNorm { rows: u64, width: u64 },
    /// SiLU of one half times the other; `width` is the output's.
    SiluMul { rows: u64, width: u64 },
    /// Rotary embedding of Q and K, in place.
    Rope { rows: u64, width: u64 },
    /// Gather of embedding rows.
    Embedding { rows: u64, width: u64 },
    /// Residual streams mixed: `width` elements read and written in all.
    Mix { rows: u64, width: u64 },
    /// Softmax and choice over the vocabulary, f32 logits.
    Sampling { rows: u64, width: u64 },
}

/// Data exchanged between GPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Collective {
    /// Sum of `bytes` on each of `ranks` GPUs, left on all.
    AllReduce { ranks: u32, bytes: Bytes },
    /// `bytes` in all, gathered from `ranks` GPUs on each.
    AllGather { ranks: u32, bytes: Bytes },
    /// Sum of `bytes` on each of `ranks` GPUs, an equal part of it left on each.
    ReduceScatter { ranks: u32, bytes: Bytes },
    /// `bytes` on each of `ranks` GPUs, an equal part of it for every one.
    AllToAll { ranks: u32, bytes: Bytes },
    /// `bytes` from one pipeline stage to the next, `across`: in another machine.
    SendRecv { bytes: Bytes, across: bool },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    Gemm(Gemm),
    Attention(Attention),
    Moe(Moe),
    Latent(Latent),
    Linear(Linear),
    Scan(Scan),
    Scores(Scores),
    Elementwise(Elementwise),
    Collective(Collective),
}

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
