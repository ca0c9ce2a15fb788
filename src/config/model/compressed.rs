//! Attention to a subset of keys: compressed ones (DeepSeek-V4), or selected blocks (MiniMax-M3).

use serde::{Deserialize, Serialize};

use super::Indexer;

/// Attention to the newest tokens and, before them, to compressed entries of `ratio` tokens each.
///
/// All heads share one entry, which is both key and value. Facts follow `DeepseekV4Attention` in Hugging Face
/// transformers: the output is projected in two steps, the first in groups of heads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Compressed {
    pub heads: u32,
    /// Width of a query and of an entry.
    pub head_dim: u32,
    /// The part of it with rotary embedding, which stays in 16 bits in the cache.
    pub rope: u32,
    /// Width of the compressed queries.
    pub query_rank: u32,
    /// Newest tokens attended to uncompressed, a query's own included.
    pub window: u32,
    /// Tokens per compressed entry; `None` in window-only layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<u32>,
    /// Selects entries in layers whose entries overlap; other layers attend to all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexer: Option<Indexer>,
    /// Groups of heads projected separately.
    pub groups: u32,
    /// Width that each group is projected to.
    pub output_rank: u32,
}

/// Keys in blocks that an indexer selects separately for each KV head.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct KeyBlocks {
    /// Index queries: one per KV head, all over one index key per token.
    pub heads: u32,
    pub head_dim: u32,
    /// Keys per block.
    pub size: u32,
    /// Blocks each query attends to at most, its own included.
    pub topk: u32,
}

impl Compressed {
    /// Columns of the projection into compressed entries: entry and gate, twice if entries overlap.
    pub fn compressor(&self) -> u32 {
        if self.ratio.is_some() { 2 * self.overlap() * self.head_dim } else { 0 }
    }

    /// Columns of the projection into the indexer's keys: key and gate, twice if entries overlap.
    pub fn index_compressor(&self) -> u32 {
        self.indexer.map_or(0, |indexer| 2 * self.overlap() * indexer.head_dim)
    }

    /// Entries each token contributes to.
    pub fn overlap(&self) -> u32 {
        if self.indexer.is_some() { 2 } else { 1 }
    }

    /// Columns of the queries.
    pub fn q_width(&self) -> u32 {
        self.heads * self.head_dim
    }
}

impl KeyBlocks {
    /// Number of keys each query attends to at most.
    pub fn keys(&self) -> u32 {
        self.size.saturating_mul(self.topk)
    }
}
