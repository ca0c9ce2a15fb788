//! GEMMs in FP32. By default PyTorch does not use tensor cores for them, so they run on the FP32 pipes, whose rate is a
//! sixteenth of that of BF16 on A100 and Hopper, and half of that on Blackwell.

use super::{Count, Kernel};
use crate::config::catalog::physics;
use crate::config::{Engine, Gpu, MissingFigure};
use crate::units::{Bytes, F32_BYTES, Flops, Seconds};

/// `C[m,n] = A[m,k] B[k,n]` with every operand in FP32, B the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fp32Gemm {
    pub m: u64,
    pub n: u64,
    pub k: u64,
}

impl Kernel for Fp32Gemm {
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let (m, n, k) = (self.m as f64, self.n as f64, self.k as f64);
        let (weights, activations) = (Bytes(n * k * F32_BYTES), Bytes((m * k + m * n) * F32_BYTES));
        let count = Count::new(Flops::ZERO, None, weights, activations, gpu)?;
        Ok(Count { fp32: Flops(2.0 * m * n * k), ..count })
    }

    fn shape(&self) -> String {
        format!("{} × {} × {}", self.m, self.n, self.k)
    }

    /// Never measured. Timed by the FP32 pipes at the clock that large GEMMs sustain, or by the operands' bytes.
    fn closed_form(&self, gpu: &Gpu, _: &Engine) -> Result<Option<Seconds>, MissingFigure> {
        let count = self.count(gpu)?;
        let computing = count.compute(gpu)? * (1.0 / gpu.sustained()?);
        let moving = count.operands / (gpu.bandwidth()? * physics().streaming_share);
        Ok(Some(computing.max(moving) + physics().streaming_latency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;

    #[test]
    fn long_prompts_are_bound_by_the_fp32_pipes() {
        // 12.9 GFLOP at 132 SMs, 128 multiply-adds a clock and 1,830 MHz: 61.8 TFLOP/s.
        let gpu = catalog().gpu("h200-sxm").expect("in the catalog");
        let seconds = |m| {
            let router = Fp32Gemm { m, n: 256, k: 3072 };
            router.count(gpu).expect("complete record").at_roofs(gpu).expect("complete record").0
        };
        assert!((seconds(8192) * 1e6 - 208.3).abs() < 0.1, "{}", seconds(8192));
        // 3.1 MB of weights at 4,917 GB/s.
        assert!((seconds(1) * 1e6 - 0.64).abs() < 0.01, "{}", seconds(1));
    }
}
