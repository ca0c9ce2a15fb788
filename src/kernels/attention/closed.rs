//! Attention on Intel's Xe2, by a closed form fitted by `training/closed.py` on vLLM's kernels on Arc Pro B60:
//!
//! `t = launch + a * cached bytes / bandwidth + b * FLOP / (sustained clock * peak)`
//!
//! Prompts take as long with a sliding window as without one: the kernel also computes the hidden keys. In decode, FLOP
//! are hidden behind the bytes. Prefill over cached tokens was not measured; their bytes count as in decode.

use super::{Attention, causal_pairs};
use crate::config::catalog::numbers::xe2_attention::constants;
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::kernels::{Kernel, Phase};
use crate::units::{Flops, Seconds};

pub fn time(attention: &Attention, gpu: &Gpu) -> Result<Seconds, MissingFigure> {
    let known = constants();
    let [prefill, flops, decode, bytes] = match attention.kv {
        Dtype::Fp8 => [
            known.fp8_prefill_launch,
            known.fp8_prefill_flops,
            known.fp8_decode_launch,
            known.fp8_decode_bytes,
        ],
        _ => [known.prefill_launch, known.prefill_flops, known.decode_launch, known.decode_bytes],
    };
    let count = attention.count(gpu)?;
    let read = |bytes| -> Result<Seconds, MissingFigure> { Ok(bytes / gpu.bandwidth()?) };
    if attention.phase == Phase::Decode {
        return Ok(Seconds::from_micros(decode) + read(count.operands)? * bytes);
    }
    let pairs = attention.sequences.iter().map(|of| of.count as f64 * causal_pairs(of.new, of.past, None));
    let work = Flops(4.0 * attention.head_dim as f64 * attention.heads as f64 * pairs.sum::<f64>());
    let multiplying = work / (gpu.peak(Dtype::Bf16)? * gpu.sustained()?);
    Ok(Seconds::from_micros(prefill) + read(count.stored)? * bytes + multiplying * flops)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;
    use crate::kernels::Sequences;

    #[test]
    fn closed_form_times_agree_with_measured_calls() {
        // Of vLLM 0.20 on Arc Pro B60: phase, sequences, new tokens, length, format, µs.
        for (phase, count, new, length, kv, measured) in [
            (Phase::Decode, 32, 1, 2048, Dtype::Bf16, 634.4),
            (Phase::Decode, 8, 1, 8192, Dtype::Fp8, 534.5),
            (Phase::Prefill, 8, 1024, 1024, Dtype::Bf16, 1466.9),
            (Phase::Prefill, 1, 12_288, 12_288, Dtype::Fp8, 77_509.6),
        ] {
            let sequences = vec![Sequences { count, new, past: length - new }];
            let attention =
                Attention { phase, sequences, heads: 32, kv_heads: 8, head_dim: 128, kv, window: None };
            let found =
                time(&attention, catalog().gpu("arc-pro-b60").expect("in the catalog")).expect("complete");
            assert!((found.micros() / measured).ln().abs() < 0.25, "{length} {kv:?}: {}", found.micros());
        }
    }
}
