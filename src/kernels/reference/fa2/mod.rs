//! FlashAttention-2 as FlashInfer plans it: all prefill off Hopper, and decode everywhere.

mod plan;
mod slots;

use super::attention::{Linear, counts};
use super::{AttentionCounts, KvLayout, Record};
use crate::graph::Attention;
use plan::Plan;
use slots::Slots;

/// Thread blocks that one SM holds at once.
const SLOTS_PER_SM: u64 = 2;
/// Tensor work done per useful FLOP: one instruction in 32 sums the rows for the softmax.
const FLOPS_FACTOR: f64 = 33.0 / 32.0;

/// Counts of causal bf16 attention over `attention.sequences`. Time: the thread blocks of one KV
/// head, whatever their number; identical sequences cost no more than one round over the slots.
pub fn fa2(attention: &Attention, layout: KvLayout, record: &Record) -> AttentionCounts {
    let Some(plan) = Plan::of(attention, layout, record) else { return AttentionCounts::default() };
    let mut slots = Slots::new(record.sm_count());
    for group in &attention.sequences {
        slots.place(group, &plan);
    }
    // Quirk: exponentials and rescaling of 128 query rows, whatever the tile.
    let xu = Linear { task: 128.0 * 128.0 + plan.rows as f64, iteration: 36.0 * 128.0 };
    counts(&slots.loads(), [plan.rows, plan.tokens], attention.head_dim, FLOPS_FACTOR, xu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reference::fixtures::{A100, L20, assert_close, attention};

    // Vectors computed with the published PipeWeave reference.

    #[test]
    fn ragged_prefill() {
        let prompts = [(1000, 0), (3000, 0), (517, 0)];
        let counts = fa2(&attention(&prompts, 40, 8, 128), KvLayout::Ragged, &A100);
        let expected = [
            114189926400.0,
            516266.65625,
            1198129152.0,
            585024.0,
            145296384.0,
            84083.5546875,
            1507584.0,
            94224.0,
            468224.0,
            308778.5625,
            194624.984375,
            4880.0,
            347565.78125,
            39040.0,
            219072.8125,
        ];
        assert_close(&counts.features(&A100), &expected);
        assert_close(&[counts.sum_cycle(&A100)], &[516266.6666666667]);
    }

    #[test]
    fn paged_decode_splits_kv() {
        let cached = [4097, 2000, 1500, 8000, 3333, 1234, 100, 6000].map(|kv| (1, kv - 1));
        let counts = fa2(&attention(&cached, 40, 8, 128), KvLayout::Paged, &A100);
        let expected = [
            1816657920.0,
            8213.3330078125,
            19464192.0,
            9504.0,
            11283840.0,
            6530.0,
            115744.0,
            7234.0,
            54624.0,
            36022.7578125,
            22705.361328125,
            584.0,
            41593.94140625,
            4672.0,
            26216.91015625,
        ];
        assert_close(&counts.features(&A100), &expected);
        assert_close(&[counts.sum_cycle(&A100)], &[8213.333333333334]);
    }

    #[test]
    fn small_heads_on_ada() {
        let counts = fa2(&attention(&[(2048, 0)], 28, 4, 64), KvLayout::Ragged, &L20);
        assert_close(&counts.features(&L20)[..3], &[16055795712.0, 338216.125, 248709120.0]);
        assert_close(&[counts.sum_cycle(&L20)], &[338216.12133468146]);
    }

    #[test]
    fn no_tokens_no_work() {
        let nothing = AttentionCounts::default();
        for (sequences, heads, kv_heads, head_dim) in [
            (&[][..], 8, 1, 128),
            (&[(0, 0), (0, 70)][..], 8, 1, 128),
            (&[(9, 0)][..], 0, 0, 128),
            (&[(9, 0)][..], 1, 2, 128),
            (&[(9, 0)][..], 8, 1, 0),
        ] {
            let attention = attention(sequences, heads, kv_heads, head_dim);
            assert_eq!(fa2(&attention, KvLayout::Paged, &A100), nothing);
            assert_eq!(fa2(&attention, KvLayout::Ragged, &A100), nothing);
        }
    }
}
