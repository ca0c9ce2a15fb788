//! What attention kernels execute beyond the useful work: hidden keys, and keys that could have been shared.

use super::equivalent::Equivalent;
use super::kernel::Kernel;
use super::silicon::Silicon;
use crate::graph::{Attention, Phase, Sequences};
use crate::kernels::attention::causal_pairs;

/// Rows of the output that one thread block takes, in kernels for prompts.
pub(super) const TILE_ROWS: [f64; 2] = [64.0, 128.0];
/// Bytes of keys and values per clock that a thread block takes alone, step after step: a sequence and head
/// that is not split over SMs (10 to 11 on Ada and Blackwell, 16 on A100).
const SERIAL_BYTES_PER_CLOCK: f64 = 11.0;
/// Thread blocks that one SM runs at once where each takes a sequence and head.
const BLOCKS_PER_SM: f64 = 2.0;
/// Elements of keys and values per clock that one SM converts and multiplies, with one query each.
const ELEMENTS_PER_CLOCK: f64 = 10.0;

/// Pairs that the kernel multiplies: a tile of queries takes the keys that any of its rows sees.
pub(super) fn executed_pairs(attention: &Attention, batch: Equivalent, kernel: Kernel) -> f64 {
    let Some(window) = attention.window else { return batch.pairs };
    if attention.phase == Phase::Decode {
        return batch.pairs;
    }
    if !kernel.skips_hidden() {
        return batch.unmasked_pairs;
    }
    let seen = window + TILE_ROWS[0] as u64;
    let pairs = |group: &Sequences| group.count as f64 * causal_pairs(group.new, group.past, Some(seen));
    attention.sequences.iter().map(pairs).sum()
}

/// Time of decoding where keys are not shared as they could be: each sequence and query head is one thread
/// block's, its keys read step by step, or each query head reads keys of its own.
pub(super) fn alone(attention: &Attention, batch: &Equivalent, kernel: Kernel, silicon: &Silicon) -> f64 {
    if attention.phase == Phase::Prefill {
        return 0.0;
    }
    let (heads, head_dim) = (attention.heads as f64, attention.head_dim as f64);
    let group = heads / attention.kv_heads as f64;
    let mut time: f64 = 0.0;
    if !kernel.splits(group, attention.window.is_some()) {
        let rounds = (batch.sequences * heads / (silicon.sms * BLOCKS_PER_SM)).ceil();
        let bytes = 2.0 * (batch.past + batch.new) * head_dim * attention.kv.bytes();
        time = rounds * bytes / (SERIAL_BYTES_PER_CLOCK * silicon.clock);
    }
    if !kernel.packs(group) {
        time = time.max(elements(2.0 * batch.kv_tokens * heads * head_dim, silicon));
    }
    time
}

/// Time to multiply so many elements of keys and values, with one query each, at the pace of the SMs.
pub(super) fn elements(elements: f64, silicon: &Silicon) -> f64 {
    elements / (ELEMENTS_PER_CLOCK * silicon.sms * silicon.clock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Dtype;
    use crate::config::catalog::catalog;
    use crate::features::Family;

    fn call(phase: Phase, new: u64, past: u64, kv_heads: u64, window: Option<u64>) -> Attention {
        let sequences = vec![Sequences { count: 1, new, past }];
        Attention { phase, sequences, heads: 64, kv_heads, head_dim: 128, kv: Dtype::Bf16, window }
    }

    #[test]
    fn only_some_kernels_skip_hidden_keys() {
        let call = call(Phase::Prefill, 4096, 0, 8, Some(128));
        let batch = Equivalent::of(&call).expect("tokens");
        let of = |kernel| executed_pairs(&call, batch, kernel);
        assert_eq!(of(Kernel::Triton), batch.unmasked_pairs);
        assert!(of(Kernel::Fa3) > batch.pairs && of(Kernel::Fa3) < 2.0 * batch.pairs);
    }

    #[test]
    fn keys_are_shared_or_read_again() {
        let gpu = catalog().gpu("l40s").expect("in the catalog");
        let silicon = Silicon::new(gpu, Family::AttentionDecode).expect("complete");
        let of = |kernel, kv_heads, window| {
            let call = call(Phase::Decode, 1, 8191, kv_heads, window);
            alone(&call, &Equivalent::of(&call).expect("tokens"), kernel, &silicon)
        };
        // Packed and split, unless every query head has its own keys or a window is set.
        assert_eq!(of(Kernel::Fa2, 8, None), 0.0);
        // 4.2 MB by one block of each of 64 heads, at 11 bytes a clock of 2.52 GHz.
        assert!((of(Kernel::Fa2, 64, None) - 151.3).abs() < 0.1);
        assert!(of(Kernel::Fa2, 8, Some(1 << 20)) > 0.0);
        // One KV head of 64 query heads.
        assert!(of(Kernel::Trtllm, 1, None) > 0.0 && of(Kernel::Trtllm, 2, None) == 0.0);
    }
}
