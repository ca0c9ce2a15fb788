//! GEMMs of the linear layers.

mod closed;
#[cfg(feature = "tools")]
pub mod measured;
mod vector;

pub use vector::FAMILY;

use super::reference::{self, Record};
use super::{CallPoint, Count, Family, Kernel, Launch, Schedule};
use crate::config::catalog::numbers::eager_launches;
use crate::config::kernels::KernelId;
use crate::config::{Arch, Dtype, Engine, Gpu, MissingFigure};
use crate::kernels::ACTIVATION_BYTES;
use crate::units::{Bytes, Flops, Seconds};

/// `C[m,n] = A[m,k] B[k,n]`, with B the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gemm {
    pub m: u64,
    pub n: u64,
    pub k: u64,
    /// Format of the weights; FP8 formats also quantise the activations.
    pub weights: Dtype,
}

impl Kernel for Gemm {
    /// `2 m n k` FLOP; B from device memory, A and C are activations.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let (m, n, k) = (self.m as f64, self.n as f64, self.k as f64);
        let weights = n * k * self.weights.bytes();
        let activations = (m * k + m * n) * ACTIVATION_BYTES;
        let math = Some(self.weights.math());
        let count = Count::new(Flops(2.0 * m * n * k), math, Bytes(weights), Bytes(activations), gpu)?;
        Ok(Count { schedule: self.schedule(gpu), ..count })
    }

    fn candidates(&self, gpu: &Gpu) -> Vec<Schedule> {
        let record = Record::of(gpu).ok().filter(reference::published);
        let record = record.filter(|_| self.weights.math() == Dtype::Bf16);
        record.map_or_else(Vec::new, |record| reference::schedules([self.m, self.n, self.k], &record))
    }

    fn launches(&self, gpu: &Gpu, engine: &Engine) -> f64 {
        let own = match engine.gemm(self.weights, gpu.arch) {
            _ if self.weights.math() == Dtype::Bf16 => Some(1.0),
            Some(kernel) if kernel.by_flashinfer(gpu.arch) => engine.host.launches.flashinfer_product,
            _ => None,
        };
        own.unwrap_or(eager_launches::constants().quantised_product)
    }

    fn format(&self) -> Dtype {
        self.weights
    }

    fn shape(&self) -> String {
        format!("{} × {} × {}", self.m, self.n, self.k)
    }

    fn family(&self) -> Option<Family> {
        Some(Family::Gemm)
    }

    fn served<'a>(&self, engine: &'a Engine, launch: Launch<'a>) -> Option<Launch<'a>> {
        let arch = launch.gpu.arch;
        let measured = engine.gemm_source(self.weights, arch);
        let kernel = measured.gemm(self.weights, arch).map(KernelId::Gemm);
        Some(Launch { caller: measured.caller(), kernel, ..launch })
    }

    /// Tables name the engine at most.
    fn named(&self, _: &str, engine: Option<&Engine>, arch: Arch) -> Option<KernelId> {
        engine?.gemm(self.weights, arch).map(KernelId::Gemm)
    }

    fn vector(&self, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        if launch.gpu.arch.is_nvidia() { vector::of(self, launch) } else { Ok(None) }
    }

    fn closed_form(&self, gpu: &Gpu, _: &Engine) -> Result<Option<Seconds>, MissingFigure> {
        if gpu.arch.is_nvidia() { Ok(None) } else { closed::time(self, gpu).map(Some) }
    }

    /// The benchmark cycled through several copies of the weights; if the engine quantises activations in the
    /// previous kernel, the quantisation launch of the benchmark is gone.
    fn in_service(&self, stored: Bytes, gpu: &Gpu, engine: &Engine) -> Result<Seconds, MissingFigure> {
        let device = super::features::DeviceSpec::of(gpu)?;
        let copies = vector::rotated_weights(engine.gemm_source(self.weights, gpu.arch).caller());
        let saved = if engine.quantises_before { vector::quantising(self, &device) } else { 0.0 };
        Ok(Seconds::from_micros(device.missed(stored.0, copies) - saved))
    }

    fn point(&self) -> CallPoint {
        CallPoint { shape: [self.n, self.k, 0, 0], size: [self.m, 0, 0, 0] }
    }
}

impl Gemm {
    /// The launch by rule. `None` if nobody published tiles for the architecture or format, or the GPU's record
    /// lacks a figure.
    fn schedule(&self, gpu: &Gpu) -> Option<Schedule> {
        let record = Record::of(gpu).ok().filter(reference::published)?;
        let shape = [self.m, self.n, self.k];
        let choice = match self.weights.math() {
            Dtype::Fp8 => reference::choose_fp8(shape),
            Dtype::Bf16 => reference::choose(shape, &record),
            _ => return None,
        };
        Some(reference::schedule(shape, &choice, &record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn tiles_that_nobody_published_are_not_shown() {
        let tile = |gpu: &str, weights| {
            let gpu = catalog().gpu(gpu).expect("in the catalog");
            let gemm = Gemm { m: 4096, n: 4096, k: 4096, weights };
            gemm.count(gpu).expect("complete").schedule.map(|schedule| schedule.tile)
        };
        assert_eq!(tile("h100-sxm", Dtype::Bf16), Some([160, 256, 64]));
        assert_eq!(tile("b200", Dtype::Bf16), None);
        assert_eq!(tile("b200", Dtype::Fp8), None);
        assert_eq!(tile("rtx-pro-6000-server", Dtype::Nvfp4), None);
    }
}
