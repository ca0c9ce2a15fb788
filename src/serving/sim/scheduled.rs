//! One rank's work in a step.

use super::decoding::DecodeBatch;
use super::{Chunk, RankStep};

/// One rank's part of a step.
#[derive(Debug, Default)]
pub(super) struct Scheduled {
    pub chunks: Vec<Chunk>,
    /// The requests that the chunks belong to.
    pub prefilling: Vec<u32>,
    /// How many prefilling requests begin, with no earlier turn of their session in the KV cache.
    pub begun: u32,
    pub decoding: u32,
    pub decoding_kv: u64,
    /// Requests that could start, with the tokens of their first chunk.
    pub candidates: Vec<(u32, u32)>,
}

impl Scheduled {
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.decoding == 0
    }

    /// The step as the cost model sees it, decoding padded to at least `padded` sequences.
    pub fn step(&self, padded: u32, drafted: u32) -> RankStep<'_> {
        let &Self { ref chunks, begun, decoding, decoding_kv, .. } = self;
        RankStep { chunks, begun, decoding: decoding.max(padded), decoding_kv, drafted }
    }

    /// All sequences decode, with the KV cache that they have `later` steps from now.
    pub fn decode(&mut self, decoding: &DecodeBatch, later: u64) {
        let count = u64::from(decoding.count);
        self.decoding = decoding.count;
        self.decoding_kv = decoding.kv() + count * (1 + decoding.gain(later));
    }

    pub fn clear(&mut self) {
        self.chunks.clear();
        self.prefilling.clear();
        self.candidates.clear();
        self.begun = 0;
        self.decoding = 0;
        self.decoding_kv = 0;
    }
}
