//! Attention that sees less than all keys: compressed ones (DeepSeek-V4), chosen blocks of them (MiniMax-M3).

use serde::{Deserialize, Serialize};

use super::Indexer;

/// Attention to the newest tokens and, before them, to one compressed entry for every so many.
///
/// All heads share one entry, which is key and value at once. Facts are those of `DeepseekV4Attention` in
/// Hugging Face transformers: the result is projected in two steps, the first in groups of heads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Compressed {
    pub heads: u32,
    /// Width of a query and of an entry.
    pub head_dim: u32,
    /// The part of it with the rotary embedding, which stays in 16 bits in the cache.
    pub rope: u32,
    /// Width of the compressed queries.
    pub query_rank: u32,
    /// Newest tokens that are seen one by one, a query's own included.
    pub window: u32,
    /// Tokens of one compressed entry; none in layers that see the window alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<u32>,
    /// Chooses entries, in layers whose entries overlap; the others see all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexer: Option<Indexer>,
    /// Groups of heads that are projected apart.
    pub groups: u32,
    /// Width that each group is projected to.
    pub output_rank: u32,
}

/// Keys seen in blocks that an indexer chose, for each KV head its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct KeyBlocks {
    /// Index queries: one for each KV head, all over one index key a token.
    pub heads: u32,
    pub head_dim: u32,
    /// Keys of a block.
    pub size: u32,
    /// Blocks that each query sees at most, its own included.
    pub topk: u32,
}

impl Compressed {
    /// Projections of a token to what is compressed: entry and gate, twice where entries overlap.
    pub fn compressor(&self) -> u32 {
        if self.ratio.is_some() { 2 * self.overlap() * self.head_dim } else { 0 }
    }

    /// The same of the indexer's keys.
    pub fn index_compressor(&self) -> u32 {
        self.indexer.map_or(0, |indexer| 2 * self.overlap() * indexer.head_dim)
    }

    /// Entries that a token takes part in.
    pub fn overlap(&self) -> u32 {
        if self.indexer.is_some() { 2 } else { 1 }
    }

    /// Columns of the queries.
    pub fn q_width(&self) -> u32 {
        self.heads * self.head_dim
    }
}

impl KeyBlocks {
    /// Keys that each query sees at most.
    pub fn keys(&self) -> u32 {
        self.size.saturating_mul(self.topk)
    }
}
