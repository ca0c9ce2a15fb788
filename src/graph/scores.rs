//! The call that chooses what sparse attention attends to.

use super::Sequences;
use crate::config::Dtype;

/// Scores of an indexer over its keys, and the choice of the best: in one launch, or in a few that wait for each
/// other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scores {
    pub sequences: Vec<Sequences>,
    /// Index queries of a token, all over the same keys.
    pub heads: u64,
    pub head_dim: u64,
    /// Tokens that one key stands for.
    pub ratio: u64,
    /// Format of keys and queries.
    pub keys: Dtype,
    /// Keys that are kept: sequences with fewer keep all, and are not scored.
    pub topk: u64,
}
