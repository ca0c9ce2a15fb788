//! What holds for every size, on three architectures.

use proptest::prelude::*;

use super::fixtures::{A40, A100, H20, H800, L20, attention};
use super::*;

fn record() -> impl Strategy<Value = Record> {
    prop::sample::select(vec![A100, A40, L20, H800, H20])
}

/// Sizes from nothing to more than any model has, even in log scale.
fn size() -> impl Strategy<Value = u64> {
    (0u32..17, any::<u64>()).prop_map(|(bits, value)| value & ((1 << bits) - 1))
}

fn layout() -> impl Strategy<Value = KvLayout> {
    prop::sample::select(vec![KvLayout::Ragged, KvLayout::Paged])
}

fn requests() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0u64..3000, 0u64..9000), 0..6)
}

fn sane(features: &[f64]) -> bool {
    features.iter().all(|feature| feature.is_finite() && *feature >= 0.0)
}

/// No SM has more than all the work, and one has at least its even share; sums may round.
fn holds(all: f64, busiest: f64, record: &Record) -> bool {
    const ROUNDING: f64 = 1.0 + 1e-12;
    busiest <= all * ROUNDING && all <= busiest * f64::from(record.sms) * ROUNDING
}

proptest! {
    #[test]
    fn gemm_counts_are_sane(m in size(), n in size(), k in size(), record in record()) {
        let shape = [m, n, k];
        let counts = gemm(shape, &choose(shape, &record), &record);
        prop_assert!(sane(&counts.features(&record)));
        prop_assert!(holds(counts.tensor.all, counts.tensor.busiest, &record));
        for candidate in candidates(shape, &record) {
            prop_assert!(sane(&gemm(shape, &candidate.choice, &record).features(&record)));
            prop_assert!(candidate.schedule.padding >= 1.0);
            prop_assert!((0.0..=1.0).contains(&candidate.schedule.occupancy));
        }
        if let Some(counts) = gemm_fp8(shape, &record) {
            prop_assert!(sane(&counts.features(&record)));
            prop_assert!(holds(counts.tensor.all, counts.tensor.busiest, &record));
        }
    }

    #[test]
    fn more_rows_never_ask_for_less(m in size(), n in size(), k in size(), record in record()) {
        let all = |m| gemm([m, n, k], &choose([m, n, k], &record), &record).tensor.all;
        prop_assert!(all(2 * m) >= all(m));
        let fp8 = |m| gemm_fp8([m, n, k], &record).map(|counts| counts.tensor.all);
        prop_assert!(fp8(2 * m) >= fp8(m));
        prop_assert!(rmsnorm(2 * m, n, &record).fma.all >= rmsnorm(m, n, &record).fma.all);
        prop_assert!(silu_mul(2 * m, n, &record).fma.all >= silu_mul(m, n, &record).fma.all);
    }

    #[test]
    fn elementwise_counts_are_sane(rows in size(), width in size(), record in record()) {
        for counts in [rmsnorm(rows, width, &record), silu_mul(rows, width, &record)] {
            prop_assert!(sane(&counts.features(&record)));
            prop_assert!(sane(&[counts.sum_cycle(&record)]));
            for (all, busiest) in [
                (counts.fma.all, counts.fma.busiest),
                (counts.xu.all, counts.xu.busiest),
                (counts.memory.all_kib, counts.memory.busiest_kib),
            ] {
                prop_assert!(holds(all, busiest, &record));
            }
        }
    }

    #[test]
    fn moe_counts_are_sane(
        (tokens, experts, topk) in (size(), 0u64..300, 0u64..10),
        (hidden, inter) in (size(), size()),
        record in record(),
    ) {
        let layer = Moe { tokens, experts, topk, hidden, inter };
        for pass in [MoePass::W13, MoePass::W2] {
            let counts = moe(&layer, pass, &record);
            prop_assert!(sane(&counts.features(&record)));
            prop_assert!(holds(counts.tensor.all, counts.tensor.busiest, &record));
            prop_assert!(holds(counts.memory.all_kib, counts.memory.busiest_kib, &record));
        }
    }

    #[test]
    fn attention_counts_are_sane(
        requests in requests(),
        (group, kv_heads) in (0u64..9, 0u64..9),
        head_dim in prop::sample::select(vec![0, 64, 96, 128, 192, 256]),
        layout in layout(),
        record in record(),
    ) {
        let attention = attention(&requests, group * kv_heads, kv_heads, head_dim);
        for counts in [
            fa2(&attention, layout, &record),
            fa3(&attention, layout, &record),
            attention_cutlass(&attention, &record),
        ] {
            prop_assert!(sane(&counts.features(&record)));
            for (all, busiest) in [
                (counts.tensor.all, counts.tensor.busiest),
                (counts.xu.all, counts.xu.busiest),
                (counts.memory.all_kib, counts.memory.busiest_kib),
            ] {
                prop_assert!(holds(all, busiest, &record));
            }
        }
    }

    #[test]
    fn alike_requests_may_be_grouped(count in 1u64..400, new in 1u64..300, past in 0u64..900, layout in layout()) {
        let apart = attention(&vec![(new, past); count as usize], 8, 2, 128);
        let mut grouped = attention(&[(new, past)], 8, 2, 128);
        grouped.sequences[0].count = count;
        prop_assert_eq!(fa2(&apart, layout, &A100), fa2(&grouped, layout, &A100));
        prop_assert_eq!(fa3(&apart, layout, &H800), fa3(&grouped, layout, &H800));
    }
}
