//! GEMMs on AMD's matrix cores, in closed form.
//!
//! The GEMM model learned from NVIDIA GPUs, where loads and multiplication overlap. Tuned GEMMs on MI300X and
//! MI355X are closer to the sum of both, plus a pipeline that fills along the depth:
//!
//! `t = launch + a * bytes / bandwidth + b * FLOP / (sustained clock * peak) + c * k`
//!
//! `training/cdna.py` fits one set of constants per format, to the fastest kernel of each shape without activation
//! quantisation: what an engine launches may take longer.

use super::Gemm;
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::kernels::ACTIVATION_BYTES;
use crate::kernels::constants::constants;
use crate::units::{Bytes, Flops, Seconds};

constants!(
    "cdna":
    bf16_launch, bf16_bytes, bf16_flops, bf16_depth,
    fp8_launch, fp8_bytes, fp8_flops, fp8_depth,
    block_launch, block_bytes, block_flops, block_depth,
);

/// # Errors
/// If the GPU's record lacks a figure, or the GPU does not support the format.
pub fn time(gemm: &Gemm, gpu: &Gpu) -> Result<Seconds, MissingFigure> {
    let known = constants();
    let [launch, a, b, c] = match gemm.weights {
        Dtype::Fp8Block => [known.block_launch, known.block_bytes, known.block_flops, known.block_depth],
        Dtype::Fp8 | Dtype::W8a8 => [known.fp8_launch, known.fp8_bytes, known.fp8_flops, known.fp8_depth],
        _ => [known.bf16_launch, known.bf16_bytes, known.bf16_flops, known.bf16_depth],
    };
    let (m, n, k) = (gemm.m as f64, gemm.n as f64, gemm.k as f64);
    let math = gemm.weights.math();
    let bytes = Bytes(n * k * gemm.weights.bytes() + m * k * math.bytes() + m * n * ACTIVATION_BYTES);
    let reading = bytes / gpu.bandwidth()?;
    let multiplying = Flops(2.0 * m * n * k) / (gpu.peak(math)? * gpu.sustained()?);
    Ok(Seconds::from_micros(launch + c * k / 1000.0) + reading * a + multiplying * b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;

    #[test]
    fn tuned_products_are_met() {
        let micros = |gpu: &str, weights, [m, n, k]: [u64; 3]| {
            let gpu = catalog().gpu(gpu).expect("in the catalog");
            time(&Gemm { m, n, k, weights }, gpu).expect("complete").micros()
        };
        // As listed by aiter.
        for (gpu, weights, shape, measured) in [
            ("mi300x", Dtype::Fp8Block, [64, 3072, 1536], 6.7),
            ("mi300x", Dtype::Fp8Block, [128, 2624, 6144], 22.9),
            ("mi300x", Dtype::Fp8, [32_768, 1536, 5120], 406.4),
            ("mi355x", Dtype::Fp8, [128, 1280, 8192], 12.3),
            ("mi355x", Dtype::Bf16, [64, 640, 2880], 6.5),
        ] {
            let found = micros(gpu, weights, shape);
            assert!((found / measured).ln().abs() < 0.25, "{gpu} {weights:?} {shape:?}: {found}");
        }
    }
}
