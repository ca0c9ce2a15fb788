//! Work that attention kernels execute beyond the useful work: masked keys, and keys loaded repeatedly.

use super::{causal_pairs, constants};
use crate::config::kernels::AttentionKernel;
use crate::kernels::features::{DeviceSpec, Equivalent, TILE_ROWS};
use crate::kernels::{Attention, Phase, Sequences};

/// Query-key pairs the kernel multiplies: a tile of queries covers all keys visible to any of its rows.
pub fn executed_pairs(attention: &Attention, batch: Equivalent, kernel: AttentionKernel) -> f64 {
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

/// Minimum time of decode thread blocks for overheads beyond the counted work. `memory` is the time of the call's
/// bytes.
///
/// * Fixed cycles per block, however few its keys.
/// * Tiles with a fixed number of rows, however few queries fill them.
/// * Blocks that process one query head's keys alone, step after step: tile, softmax and a load at L2 speed. This
///   gives 11 bytes per clock on L40S and RTX PRO 6000 and 15 on A100, where 11, 11 and 16 were measured.
/// * Blocks that keep a sequence and KV head whole.
/// * Keys that each query head reads again.
pub fn alone(
    attention: &Attention,
    batch: &Equivalent,
    kernel: AttentionKernel,
    device: &DeviceSpec,
    memory: f64,
) -> f64 {
    if attention.phase == Phase::Prefill {
        return 0.0;
    }
    let (heads, head_dim) = (attention.heads as f64, attention.head_dim as f64);
    let group = heads / attention.kv_heads as f64;
    let tasks = tasks(attention, batch, kernel);
    let mut time = tasks * kernel.block_cycles(group, device.arch) / (device.sms * device.clock);
    if let Some(rows) = kernel.decode_rows() {
        let keys = (batch.kv_length() / constants().kv_step).ceil() * constants().kv_step;
        let tile = keys * rows * device.pair_cycles(head_dim, constants().softmax_fp32) / device.clock;
        let splits = kernel.splits(group, attention.window.is_some());
        if !splits {
            let rounds = (batch.sequences * heads / (device.sms * constants().blocks_per_sm)).ceil();
            let bytes = 2.0 * keys * head_dim * attention.kv.bytes();
            time = time.max(rounds * (tile + bytes / device.sm_l2_bandwidth()));
        }
        let filled = if splits { (group / rows).ceil() } else { 1.0 };
        let tiles = tasks * filled * tile / device.sms;
        time = time.max(if kernel.one_stage() {
            // The first load of an SM's blocks overlaps with nothing.
            let blocks = (batch.sequences * attention.kv_heads as f64 / device.sms).max(1.0);
            tiles.max(memory) + tiles.min(memory) / blocks
        } else {
            tiles
        });
    }
    if kernel.keeps_whole(group, attention.kv, device.arch) {
        let rounds =
            (batch.sequences * attention.kv_heads as f64 / (device.sms * constants().blocks_per_sm)).ceil();
        let bytes = 2.0 * batch.kv_length() * head_dim * attention.kv.bytes();
        time = time.max(rounds * bytes / (constants().serial_bytes_per_clock * device.clock));
    }
    if !kernel.packs(group) {
        time = time.max(elements(2.0 * batch.kv_tokens * heads * head_dim, device));
    }
    time
}

/// Independently decoding heads: query heads, unless those of a KV head are packed.
fn tasks(attention: &Attention, batch: &Equivalent, kernel: AttentionKernel) -> f64 {
    let group = attention.heads as f64 / attention.kv_heads as f64;
    let heads =
        if kernel.splits(group, attention.window.is_some()) { attention.kv_heads } else { attention.heads };
    batch.sequences * heads as f64
}

/// Time to multiply this many key and value elements with one query each, at the SMs' speed.
pub fn elements(elements: f64, device: &DeviceSpec) -> f64 {
    elements / (constants().elements_per_clock * device.sms * device.clock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Dtype, catalog};
    use crate::kernels::Family;

    fn call(phase: Phase, new: u64, past: u64, kv_heads: u64, window: Option<u64>) -> Attention {
        let sequences = vec![Sequences { count: 1, new, past }];
        Attention { phase, sequences, heads: 64, kv_heads, head_dim: 128, kv: Dtype::Bf16, window }
    }

    #[test]
    fn only_some_kernels_skip_hidden_keys() {
        let call = call(Phase::Prefill, 4096, 0, 8, Some(128));
        let batch = Equivalent::of(&call).expect("tokens");
        let of = |kernel| executed_pairs(&call, batch, kernel);
        assert_eq!(of(AttentionKernel::Triton), batch.unmasked_pairs);
        assert!(of(AttentionKernel::Fa3) > batch.pairs && of(AttentionKernel::Fa3) < 2.0 * batch.pairs);
    }

    fn alone_on(gpu: &str, kernel: AttentionKernel, kv_heads: u64, window: Option<u64>) -> f64 {
        let gpu = catalog().gpu(gpu).expect("in the catalog");
        let device = DeviceSpec::new(gpu, Family::AttentionDecode).expect("complete");
        let call = call(Phase::Decode, 1, 8191, kv_heads, window);
        let memory = 2.0 * 8192.0 * 128.0 * 2.0 * kv_heads as f64 / device.bandwidth;
        alone(&call, &Equivalent::of(&call).expect("tokens"), kernel, &device, memory)
    }

    #[test]
    fn keys_are_shared_or_read_again() {
        let of = |kernel, kv_heads, window| alone_on("l40s", kernel, kv_heads, window);
        // Packed and split, unless every query head has its own keys or a window is set: then each of 64
        // heads takes 4.2 MB alone, at 10.9 bytes a clock of 2.52 GHz.
        let split = of(AttentionKernel::Fa2, 8, None);
        assert!(split < 10.0, "{split}");
        assert!((of(AttentionKernel::Fa2, 64, None) - 152.8).abs() < 0.1);
        assert!(of(AttentionKernel::Fa2, 8, Some(1 << 20)) > 100.0);
        // One KV head of 64 query heads.
        assert!(of(AttentionKernel::Trtllm, 1, None) > 10.0 * of(AttentionKernel::Trtllm, 2, None));
    }

    #[test]
    fn one_stage_loads_and_multiplies_one_after_another() {
        // 8 heads on 108 SMs: 34 MB at 2,039 GB/s, then tiles of 128 rows.
        let time = alone_on("a100-sxm-80gb", AttentionKernel::Fa3Ampere, 8, None);
        assert!((time - (16.46 + 22.38)).abs() < 0.1, "{time}");
    }
}
