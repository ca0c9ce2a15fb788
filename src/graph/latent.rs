//! Calls of multi-head latent attention (MLA) and of its sparse form (DSA), as DeepSeek, Kimi and GLM have
//! them: keys and values of all heads are projections of one short latent vector a token.

use super::{Phase, Sequences};
use crate::config::Dtype;

/// Head layout of latent attention on one rank, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LatentHeads {
    /// Query heads on this rank.
    pub heads: u64,
    /// The latent vector a token keeps for keys and values (`kv_lora_rank`).
    pub latent: u64,
    /// Part of queries and keys with the rotary embedding; its key is shared by all heads
    /// (`qk_rope_head_dim`).
    pub rope: u64,
    /// Part of queries and keys without (`qk_nope_head_dim`).
    pub nope: u64,
    /// Width of a value (`v_head_dim`).
    pub value: u64,
}

impl LatentHeads {
    /// Elements a token keeps in the KV cache, whatever the number of heads: replicated on each rank.
    pub fn cached(&self) -> u64 {
        self.latent + self.rope
    }

    /// Width of a query or key where keys are expanded from the latent.
    pub fn key(&self) -> u64 {
        self.nope + self.rope
    }
}

/// What a query sees where it does not see all: the newest tokens, and of the compressed entries before it those
/// kept (DeepSeek-V4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reach {
    /// Newest tokens, the query's own included.
    pub window: u64,
    /// Tokens of an entry; none where there are no entries.
    pub ratio: Option<u64>,
    /// Entries that are kept; all where none is said.
    pub topk: Option<u64>,
}

/// The attention kernel alone, over all sequences of one phase.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LatentAttention {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    pub heads: LatentHeads,
    pub kv: Dtype,
    /// Over compressed entries, which are key and value at once; none over the latents of all tokens.
    pub reach: Option<Reach>,
}

/// `count` products `C[m,n] = A[m,k] B[k,n]` in one launch, each with a B of its own: weights. Decoding
/// latent attention multiplies queries into the latent space and its results out of it this way, a
/// product a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BatchedGemm {
    pub count: u64,
    pub m: u64,
    pub n: u64,
    pub k: u64,
    /// Format of the weights; FP8 also quantises the activations.
    pub weights: Dtype,
}

/// A whole block of latent attention: projections, norms, rotary embedding, KV write, attention.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LatentModule {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    pub heads: LatentHeads,
    /// Width of the residual stream.
    pub hidden: u64,
    /// Width of the compressed queries (`q_lora_rank`), the same on all ranks.
    pub query_rank: u64,
    /// Format of the projections' weights.
    pub weights: Dtype,
    pub kv: Dtype,
}

/// The lightning indexer of sparse attention: scores all past tokens and keeps the best. Replicated on
/// each rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Indexer {
    pub heads: u64,
    pub head_dim: u64,
    /// Tokens that each query attends to at most.
    pub topk: u64,
}

/// A block of latent attention whose queries attend to the tokens their indexer chose.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SparseModule {
    pub module: LatentModule,
    pub indexer: Indexer,
    /// This layer runs its indexer; others take the choice of the layer before.
    pub indexes: bool,
}

/// A call of the latent attention families.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Latent {
    Attention(LatentAttention),
    Bmm(BatchedGemm),
    Module(LatentModule),
    Sparse(SparseModule),
}
