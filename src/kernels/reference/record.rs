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
    /// Dense FP8 tensor FLOP per clock and SM; none where the tensor cores do not multiply FP8.
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
    pub(super) fn sm_count(&self) -> u64 {
        u64::from(self.sms.max(1))
    }

    /// Shared memory per SM, in bytes.
    pub(super) fn smem_bytes(&self) -> u64 {
        (self.smem_kib * 1024.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::kernels::reference::fixtures::{A100, H800, assert_close};

    fn of(id: &str) -> Result<Record, MissingFigure> {
        let gpus = &catalog().gpus.gpus;
        Record::of(gpus.iter().find(|gpu| gpu.id == id).expect("the catalog holds it"))
    }

    #[test]
    fn the_catalog_holds_the_references_figures() {
        for (id, expected) in [("a100-sxm-80gb", A100), ("h800", H800), ("h100-sxm", H800)] {
            let record = of(id).expect("every figure is known");
            assert_eq!(record.sms, expected.sms);
            assert_eq!(record.hopper(), expected.hopper());
            assert_eq!(record.tensor_fp8.is_some(), expected.tensor_fp8.is_some());
            let figures = |record: &Record| {
                [
                    record.clock_mhz,
                    record.mem_gb_per_s,
                    record.l2_gb_per_s,
                    record.smem_kib,
                    record.tensor_bf16,
                    record.fma,
                    record.xu,
                ]
            };
            assert_close(&figures(&record), &figures(&expected));
        }
    }

    #[test]
    fn a_missing_figure_is_named() {
        let missing = of("t4").expect_err("no L2 bandwidth of T4 was published");
        assert!(!missing.figure.is_empty() && !missing.reason.is_empty());
    }
}
