//! aiter's experts on AMD's CDNA 3 and 4, in closed form.
//!
//! `t = launch + a * weights / bandwidth + b * FLOP / (sustained clock * peak) + c * rows / bandwidth`
//!
//! `weights` are the bytes of the experts visited, `FLOP` those of every expert's tokens padded to whole tiles, and `rows`
//! the bytes of every expert's tokens and columns in BF16. `training/aiter_experts.py` fits the constants of each format
//! to the fastest kernels that aiter's tuning runs found for each shape: both GEMMs, without sorting and quantising the
//! tokens.
//!
//! SGLang's images for AMD choose aiter, also in block-scaled FP8 on CDNA 3. There the tuned kernels are faster than those
//! extrapolated from NVIDIA's, which already outpace every served run, so the catalog keeps NVIDIA's.

use super::{Moe, routing::TILE_ROWS};
use crate::config::catalog::numbers::aiter_experts::constants;
use crate::config::{Arch, Dtype, Gpu, MissingFigure};
use crate::kernels::ACTIVATION_BYTES;
use crate::units::{Bytes, Flops, Seconds};

/// The tile that `training/aiter_experts.py` pads to: index into `TILE_ROWS`.
const TILE: usize = 2;
const _: () = assert!(TILE_ROWS[TILE] == 32);

/// The constants for experts in `weights`; `None` where they were not fitted.
fn line(weights: Dtype, arch: Arch) -> Option<[f64; 4]> {
    let of = constants();
    Some(match (arch, weights) {
        (Arch::Cdna3 | Arch::Cdna4, Dtype::Bf16) => {
            [of.bf16_launch, of.bf16_weights, of.bf16_flops, of.bf16_rows]
        }
        (Arch::Cdna4, Dtype::Fp8Block) => [of.block_launch, of.block_weights, of.block_flops, of.block_rows],
        (Arch::Cdna4, Dtype::Fp8) => [of.fp8_launch, of.fp8_weights, of.fp8_flops, of.fp8_rows],
        (Arch::Cdna4, Dtype::Mxfp4) => [of.mxfp4_launch, of.mxfp4_weights, of.mxfp4_flops, of.mxfp4_rows],
        (Arch::Cdna4, Dtype::Mxfp4Mxfp8) => {
            [of.mxfp8_launch, of.mxfp8_weights, of.mxfp8_flops, of.mxfp8_rows]
        }
        _ => return None,
    })
}

/// The time of one call; `None` where experts in its format have no constants.
pub fn time(moe: &Moe, gpu: &Gpu) -> Result<Option<Seconds>, MissingFigure> {
    let Some([launch, a, b, c]) = line(moe.weights, gpu.arch) else { return Ok(None) };
    let (weights, bandwidth) = (moe.expert_weights() as f64, gpu.bandwidth()?);
    let reading = Bytes(moe.load.touched * weights * moe.weights.bytes()) / bandwidth;
    let rate = gpu.peak(moe.weights.math())? * gpu.sustained()?;
    let multiplying = Flops(2.0 * moe.load.padded[TILE] * weights) / rate;
    let rows = Bytes(moe.load.pairs * (moe.hidden + moe.width()) as f64 * ACTIVATION_BYTES) / bandwidth;
    Ok(Some(Seconds::from_micros(launch) + reading * a + multiplying * b + rows * c))
}

#[cfg(test)]
mod tests {
    use super::super::{MoePart, Pool, Routing};
    use super::*;
    use crate::config::catalog;
    use crate::config::kernels::{ExpertCode, MoeKernel};

    #[test]
    fn closed_form_times_agree_with_tuned_experts() {
        // As listed by aiter: tokens, hidden size, width, experts per token, experts, µs.
        for (gpu, weights, [tokens, hidden, inter, topk, experts], measured) in [
            ("mi300x", Dtype::Bf16, [64, 4096, 384, 8, 128], 338.3),
            ("mi300x", Dtype::Bf16, [8192, 4096, 192, 8, 128], 1497.1),
            ("mi355x", Dtype::Fp8Block, [64, 4096, 384, 8, 128], 120.8),
            ("mi355x", Dtype::Fp8, [1024, 5120, 192, 9, 161], 211.4),
            ("mi355x", Dtype::Mxfp4Mxfp8, [8192, 7168, 384, 6, 384], 721.2),
            ("mi355x", Dtype::Mxfp4Mxfp8, [2, 4096, 2048, 6, 256], 34.9),
        ] {
            let gpu = catalog().gpu(gpu).expect("in the catalog");
            // aiter routes its tokens at random.
            let load = Routing::Independent(1.0).load(&Pool { tokens, experts, topk, ep: 1 });
            let (tp, ep, gated, part) = (1, 1, true, MoePart::Whole);
            let moe = Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load };
            let found = time(&moe, gpu).expect("complete").expect("measured").micros();
            assert!((found / measured).ln().abs() < 0.25, "{gpu:?} {weights:?} {tokens} tokens: {found}");
        }
    }

    #[test]
    fn every_format_that_the_catalog_gives_to_aiter_has_constants() {
        let engine = catalog().engine("sglang").expect("in the catalog");
        let kernels = engine.kernels.iter().flat_map(|of| of.moe.iter().map(move |moe| (moe, of.arch)));
        let is_aiter = |moe: &MoeKernel| moe.kernel.id().is_some_and(|of| of.code == ExpertCode::Aiter);
        let own: Vec<_> = kernels.filter(|(moe, _)| is_aiter(moe)).collect();
        assert!(own.len() > 4, "{own:?}");
        assert!(own.iter().all(|(moe, arch)| line(moe.weights, *arch).is_some()), "{own:?}");
    }
}
