//! Prompts over cached tokens, on kernels that spread the keys of a sequence over the SMs.
//!
//! No reference table has such calls, and what a model learns of prompts alone does not hold for them: where a few new
//! tokens fill one tile, that tile takes all keys alone in a prompt, but not over a cache, whose keys are split. The
//! blocks of cached keys therefore add their time to that of the new tokens alone.

use super::{Attention, causal_pairs, constants, visible_past};
use crate::config::{Gpu, MissingFigure};
use crate::kernels::Sequences;
use crate::kernels::features::DeviceSpec;
use crate::units::{Bytes, Seconds};

/// The call without its cached tokens, and the time that they add.
pub fn without_cache(attention: &Attention, gpu: &Gpu) -> Result<(Attention, Seconds), MissingFigure> {
    let (known, device) = (constants(), DeviceSpec::of(gpu)?);
    let (kv_heads, head_dim) = (attention.kv_heads as f64, attention.head_dim as f64);
    let group = attention.heads as f64 / kv_heads;
    let tile = if head_dim <= 64.0 { known.fa3_short_rows } else { known.fa3_rows };
    let rate = device.pair_cycles(head_dim, known.softmax_fp32) * known.fa3_cached_share * tile;
    let (mut whole, mut longest, mut cached) = (0.0, 0.0_f64, 0.0);
    let (mut tiles, mut keys) = (0.0_f64, 0);
    for &Sequences { count, new, past } in &attention.sequences {
        let seen = visible_past(past, attention.window);
        let pairs = causal_pairs(new, past, attention.window) - causal_pairs(new, 0, attention.window);
        // The query heads of a KV head are packed into tiles, which are multiplied whole.
        let filled = (new as f64 * group / tile).ceil() * kv_heads;
        let each = rate * pairs / new as f64;
        whole += each * filled * count as f64;
        longest = longest.max(each);
        cached += (count * seen) as f64;
        tiles = tiles.max(filled);
        keys = keys.max(seen + new);
    }
    // If each sequence has few tiles, over many keys, these are split and their parts combined by another kernel.
    let splits = tiles < known.fa3_split_share * device.sms && keys as f64 > known.fa3_whole_keys;
    let computing = if splits { whole / device.sms } else { longest.max(whole / device.sms) };
    let combining = if splits { known.fa3_combine_cycles } else { 0.0 };
    let read = Bytes(2.0 * cached * kv_heads * head_dim * attention.kv.bytes()) / gpu.cold_bandwidth()?;
    let micros = |cycles: f64| Seconds::from_micros(cycles / device.clock);
    let alone = |group: &Sequences| Sequences { past: 0, ..*group };
    let sequences = attention.sequences.iter().map(alone).collect();
    Ok((Attention { sequences, ..attention.clone() }, micros(computing).max(read) + micros(combining)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Dtype, catalog};
    use crate::kernels::Phase;

    fn added(count: u64, new: u64, past: u64, kv_heads: u64, window: Option<u64>) -> f64 {
        let sequences = vec![Sequences { count, new, past }];
        let (heads, head_dim) = (kv_heads * 4, 128);
        let call = Attention {
            phase: Phase::Prefill,
            sequences,
            heads,
            kv_heads,
            head_dim,
            kv: Dtype::Bf16,
            window,
        };
        without_cache(&call, catalog().gpu("h200-sxm").expect("in the catalog")).expect("complete").1.micros()
    }

    #[test]
    fn cached_keys_take_their_bytes_or_their_tiles() {
        // 131,072 keys of 4 kB at 4.4 TB/s, and the combination of 8 split tiles.
        let bytes = 131_072.0 * 4096.0 / (4916.7e3 * 0.9);
        assert!((added(1, 16, 131_072, 8, None) - bytes - 6.3).abs() < 0.1);
        // 2,048 new tokens fill 512 tiles, none of which is split: twice the keys take twice the time.
        let of = |past| added(1, 2048, past, 8, None);
        assert!((of(32_768) / of(16_384) - 2.0).abs() < 1e-9);
        // A tile is multiplied whole.
        assert_eq!(added(16, 65, 8192, 8, None), added(16, 96, 8192, 8, None));
    }

    #[test]
    fn what_a_window_hides_adds_nothing() {
        assert_eq!(added(1, 512, 1024, 8, Some(128)), added(1, 512, 65_536, 8, Some(128)));
        assert!(added(1, 512, 65_536, 8, Some(128)) < 2.0);
    }
}
