//! FlashAttention-3 as FlashInfer plans it: prefill on Hopper.

use super::attention::{counts, pipelined_softmax};
use super::greedy::{Requests, Task, deal};
use super::{AttentionCounts, KvLayout, Record};
use crate::graph::{Attention, Sequences};

/// Above this many q tiles the planner schedules one head and reuses its plan. Quirk: the reference
/// then counts that one head only.
const MAX_TASKS_PER_HEAD: u64 = 8192;

/// Query rows and KV tokens of one step, causal. The reference defines head sizes 64, 128 and from
/// 256 on; sizes between take the next larger one's.
fn tile(head_dim: u64, layout: KvLayout) -> [u64; 2] {
    match (layout, head_dim) {
        (KvLayout::Ragged, ..=64) => [192, 128],
        (KvLayout::Ragged, ..=128) => [128, 128],
        (KvLayout::Ragged, _) => [128, 64],
        (KvLayout::Paged, ..=64) => [192, 96],
        (KvLayout::Paged, ..=128) => [128, 96],
        (KvLayout::Paged, _) => [128, 32],
    }
}

/// Counts of causal bf16 attention over `attention.sequences`: for every query head, requests by
/// falling KV length and q tiles from last to first go to the SM with the least cost so far. KV is
/// loaded anew for every query head. Time: q tiles times heads times log SMs.
pub fn fa3(attention: &Attention, layout: KvLayout, record: &Record) -> AttentionCounts {
    let Attention { heads, head_dim, .. } = *attention;
    let tile = tile(head_dim, layout);
    let mut groups: Vec<&Sequences> = attention.sequences.iter().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.past.saturating_add(group.new)));
    let total = |of: fn(&Sequences) -> u64| groups.iter().map(|group| of(group)).fold(0, u64::saturating_add);
    let tokens = total(|group| group.count.saturating_mul(group.new));
    let tasks = tokens.div_ceil(tile[0]).saturating_add(total(|group| group.count)).saturating_sub(1);
    let scheduled_heads = if tasks > MAX_TASKS_PER_HEAD { heads.min(1) } else { heads };

    let requests: Vec<Requests> = groups.iter().map(|group| (group.count, causal(group, tile))).collect();
    let loads = deal(scheduled_heads, &requests, record.sm_count());
    counts(&loads, tile, head_dim, 1.0, pipelined_softmax(tile))
}

/// The q tiles of one request, last first.
fn causal(group: &Sequences, [rows, tokens]: [u64; 2]) -> Vec<Task> {
    let kv = group.past.saturating_add(group.new);
    (1..=group.new.div_ceil(rows))
        .rev()
        .map(|end| {
            let visible = end.saturating_mul(rows).saturating_add(group.past);
            let iterations = visible.min(kv).div_ceil(tokens);
            Task { cost: rows.saturating_mul(visible.min(kv)), iterations }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reference::fixtures::{H800, assert_close, attention};

    #[test]
    fn ragged_prefill() {
        // Computed with the published PipeWeave reference.
        let prompts = [(1000, 0), (3000, 0), (517, 0)];
        let counts = fa3(&attention(&prompts, 40, 8, 128), KvLayout::Ragged, &H800);
        let expected = [
            117776056320.0,
            217832.734375,
            1015021568.0,
            247808.0,
            237977600.0,
            112678.7890625,
            2049024.0,
            128064.0,
            496640.0,
            258551.703125,
            98270.75,
            4320.0,
            296868.0,
            34560.0,
            112834.0703125,
        ];
        assert_close(&counts.features(&H800), &expected);
        assert_close(&[counts.sum_cycle(&H800)], &[217832.72727272726]);
    }

    #[test]
    fn very_long_batches_count_one_head() {
        let of = |heads| fa3(&attention(&[(128 * 8193, 0)], heads, 1, 128), KvLayout::Ragged, &H800);
        assert_eq!(of(1), of(2));
    }

    #[test]
    fn no_tokens_no_work() {
        let nothing = AttentionCounts::default();
        assert_eq!(fa3(&attention(&[], 8, 1, 128), KvLayout::Ragged, &H800), nothing);
        assert_eq!(fa3(&attention(&[(0, 0), (0, 50)], 8, 1, 128), KvLayout::Paged, &H800), nothing);
        assert_eq!(fa3(&attention(&[(10, 0)], 0, 0, 128), KvLayout::Ragged, &H800), nothing);
    }
}
