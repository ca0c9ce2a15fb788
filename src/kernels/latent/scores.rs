//! The call that selects what sparse attention attends to.

use super::INDEX_SCALE_BYTES;
use super::reach::whole_entries;
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::kernels::sequences::lengths;
use crate::kernels::{Count, Kernel, Sequences};
use crate::units::{Bytes, Flops};

/// Indexer scores and top-k selection, in one launch or a few dependent ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scores {
    pub sequences: Vec<Sequences>,
    /// Index queries per token, all over the same keys.
    pub heads: u64,
    pub head_dim: u64,
    /// Tokens per key.
    pub ratio: u64,
    /// Format of keys and queries.
    pub keys: Dtype,
    /// Selected keys: sequences with fewer keep all and need no scores.
    pub topk: u64,
}

impl Kernel for Scores {
    /// Scores of every query over the preceding keys: `2 heads head_dim` FLOP per pair; the past's keys come from
    /// device memory.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let (heads, width) = (self.heads as f64, self.head_dim as f64);
        let scale = if self.keys == Dtype::Bf16 { 0.0 } else { INDEX_SCALE_BYTES };
        let key = width * self.keys.bytes() + scale;
        let (mut new, mut past, mut pairs) = (0.0, 0.0, 0.0);
        for group in &self.sequences {
            let (count, end) = (group.count as f64, group.past + group.new);
            if end / self.ratio.max(1) > self.topk {
                new += count * group.new as f64;
                past += count * (group.past / self.ratio.max(1)) as f64;
                let all = u64::MAX;
                pairs += count
                    * (whole_entries(end, self.ratio, all) - whole_entries(group.past, self.ratio, all));
            }
        }
        let math = gpu.math_or_bf16(self.keys.math());
        let queries = new * heads * width * self.keys.bytes();
        Count::new(Flops(2.0 * heads * width * pairs), Some(math), Bytes(past * key), Bytes(queries), gpu)
    }

    fn shape(&self) -> String {
        format!("{}, {} heads × {}", lengths(&self.sequences), self.heads, self.head_dim)
    }
}
