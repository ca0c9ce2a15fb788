//! GEMMs on the matrix cores of AMD and Intel, in closed form.
//!
//! The GEMM model learned from NVIDIA GPUs, where loads and multiplication overlap. GEMMs on MI300X, MI355X and Arc Pro B60 are closer
//! to the sum of both, plus a pipeline that fills along the depth:
//!
//! `t = launch + a * bytes / bandwidth + b * FLOP / (sustained clock * peak) + c * k / 1000`
//!
//! `training/closed.py` fits one set of constants per architecture and format. AMD's describe the fastest kernel for
//! each shape, without activation quantisation: the kernel that an engine launches may take longer.

use super::Gemm;
use crate::config::catalog::numbers::{cdna, xe2};
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::kernels::ACTIVATION_BYTES;
use crate::units::{Bytes, Flops, Seconds};

fn line(weights: Dtype, gpu: &Gpu) -> [f64; 4] {
    let (amd, intel) = (cdna::constants(), xe2::constants());
    match (gpu.arch.is_amd(), weights) {
        (true, Dtype::Fp8Block) => [amd.block_launch, amd.block_bytes, amd.block_flops, amd.block_depth],
        (true, Dtype::Fp8 | Dtype::W8a8) => [amd.fp8_launch, amd.fp8_bytes, amd.fp8_flops, amd.fp8_depth],
        (true, _) => [amd.bf16_launch, amd.bf16_bytes, amd.bf16_flops, amd.bf16_depth],
        (false, Dtype::Fp8 | Dtype::Fp8Block | Dtype::W8a8) => {
            [intel.fp8_launch, intel.fp8_bytes, intel.fp8_flops, intel.fp8_depth]
        }
        (false, _) => [intel.bf16_launch, intel.bf16_bytes, intel.bf16_flops, intel.bf16_depth],
    }
}

pub fn time(gemm: &Gemm, gpu: &Gpu) -> Result<Seconds, MissingFigure> {
    let [launch, a, b, c] = line(gemm.weights, gpu);
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
    use crate::config::catalog;

    #[test]
    fn closed_form_times_agree_with_tuned_gemms() {
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
            // Of vLLM on Arc Pro B60.
            ("arc-pro-b60", Dtype::Bf16, [64, 32_768, 5120], 796.8),
            ("arc-pro-b60", Dtype::Bf16, [512, 7168, 12_288], 1189.9),
            ("arc-pro-b60", Dtype::Fp8, [1024, 5120, 32_768], 3505.1),
        ] {
            let found = micros(gpu, weights, shape);
            assert!((found / measured).ln().abs() < 0.25, "{gpu} {weights:?} {shape:?}: {found}");
        }
    }
}
