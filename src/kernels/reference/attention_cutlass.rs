//! CUTLASS attention of data-centre Blackwell (sm100): prefill. The reference publishes no weights
//! and no vectors for it.

use super::attention::{counts, pipelined_softmax};
use super::greedy::{Requests, Task, deal};
use super::{AttentionCounts, Record};
use crate::graph::{Attention, Sequences};

/// Query rows of a thread block.
const ROWS: u64 = 128;

/// Query rows and KV tokens of one step, causal, by head size.
fn tile(head_dim: u64) -> [u64; 2] {
    match head_dim {
        ..=64 => [ROWS, 128],
        65..=192 => [ROWS, 64],
        _ => [ROWS, 32],
    }
}

/// Counts of causal bf16 attention: as FlashAttention-3, but requests keep their order and a q tile
/// sees the KV up to its distance from the last one. Time: q tiles times heads times log SMs.
pub fn attention_cutlass(attention: &Attention, record: &Record) -> AttentionCounts {
    let Attention { heads, head_dim, ref sequences, .. } = *attention;
    let tile = tile(head_dim);
    let requests: Vec<Requests> =
        sequences.iter().map(|group| (group.count, causal(group, tile[1]))).collect();
    let loads = deal(heads, &requests, record.sm_count());
    counts(&loads, tile, head_dim, 1.0, pipelined_softmax(tile))
}

/// The q tiles of one request, last first.
fn causal(group: &Sequences, tokens: u64) -> Vec<Task> {
    let kv = group.past.saturating_add(group.new);
    (0..group.new.div_ceil(ROWS))
        .map(|from_last| {
            let visible = kv.saturating_sub(from_last.saturating_mul(ROWS));
            Task { cost: ROWS.saturating_mul(visible), iterations: visible.div_ceil(tokens) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reference::fixtures::{H800, attention};

    #[test]
    fn one_head_of_two_tiles_by_hand() {
        // 200 queries after 56 cached tokens: the last tile sees 256 tokens (4 steps of 64), the
        // first 128 (2 steps).
        let counts = attention_cutlass(&attention(&[(200, 56)], 1, 1, 128), &H800);
        assert_eq!((counts.tile, counts.tasks), ([128, 64], 2.0));
        let step = 4.0 * 128.0 * 64.0 * 128.0;
        assert_eq!((counts.tensor.all, counts.tensor.busiest), (6.0 * step, 4.0 * step));
        assert_eq!(counts.memory.busiest_kib, 32.0 + 4.0 * 16.0);
        let softmax = |steps: f64| 128.0 * 64.0 + (steps - 1.0) * 128.0 * 68.0 + 8.0 * 128.0;
        assert_eq!((counts.xu.all, counts.xu.busiest), (softmax(4.0) + softmax(2.0), softmax(4.0)));
    }

    #[test]
    fn no_tokens_no_work() {
        let counts = attention_cutlass(&attention(&[(0, 9)], 4, 1, 64), &H800);
        assert_eq!(counts, AttentionCounts::default());
    }
}
