//! The hardware figures that the calculators read.

use crate::config::{Dtype, Gpu, MissingFigure};

/// Compute capability (times ten) of Hopper, the one architecture that the reference tells apart.
const HOPPER_SM: u32 = 90;

/// One GPU as the calculators see it: nothing else about the hardware enters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record {
    /// Compute capability times ten: 80, 89, 90, 100, 120.
    pub sm: u32,
    pub sms: u32,
    /// Boost clock, in MHz.
    pub clock_mhz: f64,
    /// Device-memory bandwidth, in GB/s.
    pub mem_gb_per_s: f64,
    /// L2 read bandwidth, in GB/s.
    pub l2_gb_per_s: f64,
    /// Shared memory per SM, in KiB.
    pub smem_kib: f64,
    /// Dense bf16 tensor FLOP per clock and SM.
    pub tensor_bf16: f64,
    /// Dense FP8 tensor FLOP per clock and SM; none if the tensor cores do not multiply FP8.
    pub tensor_fp8: Option<f64>,
    /// FP32 multiply-adds per clock and SM.
    pub fma: f64,
    /// Special-function operations per clock and SM.
    pub xu: f64,
}

impl Record {
    /// The figures of a catalog entry, or the first one it lacks.
    pub fn of(gpu: &Gpu) -> Result<Self, MissingFigure> {
        Ok(Self {
            sm: gpu.sm,
            sms: gpu.sm_count()? as u32,
            clock_mhz: gpu.clock_hz()? / 1e6,
            mem_gb_per_s: gpu.bandwidth()?.0 / 1e9,
            l2_gb_per_s: gpu.l2_bandwidth()?.0 / 1e9,
            smem_kib: gpu.smem()?.0 / 1024.0,
            tensor_bf16: gpu.tensor_rate(Dtype::Bf16)?,
            tensor_fp8: gpu.tensor_rate(Dtype::Fp8).ok(),
            fma: gpu.fma()?,
            xu: gpu.xu()?,
        })
    }

    /// Whether GEMMs run as persistent kernels and prefill attention as FlashAttention-3.
    pub fn hopper(&self) -> bool {
        self.sm == HOPPER_SM
    }

    /// Number of SMs as a divisor: at least one.
    pub fn sm_count(&self) -> u64 {
        u64::from(self.sms.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn a_missing_figure_is_named() {
        let gpu = catalog().gpu("t4").expect("in the catalog");
        let missing = Record::of(gpu).expect_err("no L2 bandwidth of T4 was published");
        assert!(!missing.figure.is_empty() && !missing.reason.is_empty());
    }
}
