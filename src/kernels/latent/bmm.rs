//! The batched GEMMs that absorb the expansion of latent attention.

use super::{ACTIVATION_BYTES, constants};
use crate::config::kernels::{BmmKernel, KernelId};
use crate::config::{Arch, Dtype, Engine, Gpu, MissingFigure};
use crate::kernels::features::{DeviceSpec, Inputs, Term, Tile, flag, ln_rounding, names, vector};
use crate::kernels::{CallPoint, Count, Family, FamilySpec, Kernel, Launch, parsed};
use crate::units::{Bytes, Flops};

pub const FAMILY: FamilySpec =
    FamilySpec { version: 1, columns: || names(&[TERMS]), kernel: parsed::<BmmKernel>, busy: 0.0 };

/// `count` GEMMs `C[m,n] = A[m,k] B[k,n]` in one launch, each with its own weights B. Latent attention in decode
/// uses them, one per head, to map queries into the latent space and results out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BatchedGemm {
    pub count: u64,
    pub m: u64,
    pub n: u64,
    pub k: u64,
    /// Format of the weights; FP8 also quantises the activations.
    pub weights: Dtype,
}

impl Kernel for BatchedGemm {
    /// `2 m n k` FLOP each; every B from device memory, A and C are activations.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let (count, m, n, k) = (self.count as f64, self.m as f64, self.n as f64, self.k as f64);
        let weights = count * n * k * self.weights.bytes();
        let activations = count * (m * k + m * n) * ACTIVATION_BYTES;
        let math = gpu.math_or_bf16(self.weights.math());
        Count::new(Flops(2.0 * count * m * n * k), Some(math), Bytes(weights), Bytes(activations), gpu)
    }

    fn format(&self) -> Dtype {
        self.weights.math()
    }

    fn shape(&self) -> String {
        format!("{} × ({} × {} × {})", self.count, self.m, self.n, self.k)
    }

    fn family(&self) -> Option<Family> {
        Some(Family::MlaBmm)
    }

    fn served<'a>(&self, engine: &'a Engine, launch: Launch<'a>) -> Option<Launch<'a>> {
        let choice = engine.variants_on(launch.gpu.arch)?;
        let fp8 = self.weights.math() == Dtype::Fp8;
        Some(launch.with(if fp8 { &choice.bmm_fp8 } else { &choice.bmm }))
    }

    fn vector(&self, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        let Some(KernelId::Bmm(kernel)) = launch.kernel else { return Ok(None) };
        if kernel == BmmKernel::TrtllmUnnamed && self.weights != Dtype::Bf16 {
            return Ok(None);
        }
        let inputs = BmmInputs::new(self, kernel, launch)?;
        Ok(Some(vector(&[TERMS], &inputs, &inputs.device)))
    }

    fn point(&self) -> CallPoint {
        CallPoint { shape: [self.count, self.m, 0, 0], size: [self.n, self.k, 0, 0] }
    }
}

/// One launch, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
struct BmmInputs {
    device: DeviceSpec,
    arch: Arch,
    kernel: BmmKernel,
    count: f64,
    m: f64,
    n: f64,
    k: f64,
    fp8: bool,
    compute: f64,
    memory: f64,
    hits: f64,
    /// Activation bytes of a separate quantisation launch.
    activations: f64,
    ideal: f64,
}

impl BmmInputs {
    fn new(bmm: &BatchedGemm, kernel: BmmKernel, launch: &Launch<'_>) -> Result<Self, MissingFigure> {
        let gpu = launch.gpu;
        let device = DeviceSpec::new(gpu, Family::MlaBmm)?;
        let weights = if kernel == BmmKernel::TrtllmWidened { Dtype::Bf16 } else { bmm.weights };
        let fp8 = weights.math() == Dtype::Fp8 && gpu.supports(Dtype::Fp8);
        let count = BatchedGemm { weights, ..*bmm }.count(gpu)?;
        let (stored, activations) = (count.stored.0, (count.operands - count.stored).0);
        let hits = device.resident(count.operands.0);
        Ok(Self {
            device,
            arch: gpu.arch,
            kernel,
            count: bmm.count as f64,
            m: bmm.m as f64,
            n: bmm.n as f64,
            k: bmm.k as f64,
            fp8,
            compute: count.compute(gpu)?.micros() / device.sustained,
            memory: device.read(stored, hits) + device.read(activations, device.resident(activations)),
            hits,
            activations,
            ideal: bmm.count(gpu)?.ideal(gpu)?.micros(),
        })
    }

    fn shortest(&self) -> f64 {
        self.device.micros(constants().bmm_shortest_cycles)
    }

    /// Tiles of all GEMMs.
    fn tiles(&self, tile: Tile) -> f64 {
        self.count * (self.m / tile.0).ceil() * (self.n / tile.1).ceil()
    }

    /// Padding to whole tiles and full waves of one tile per SM.
    fn waste(&self, tile: Tile) -> f64 {
        self.device.waste(self.tiles(tile), tile, self.count * self.m * self.n)
    }

    /// Time the busiest SM takes to read its tiles' operands from L2.
    fn operands(&self, tile: Tile) -> f64 {
        let width = if self.fp8 { 1.0 } else { 2.0 };
        self.share(self.device.operands(self.tiles(tile), tile, self.k, width))
    }
}

impl Inputs for BmmInputs {
    fn reference(&self) -> f64 {
        self.compute.max(self.memory) + self.shortest()
    }
}

/// Log ratios unless noted.
const TERMS: &[Term<BmmInputs>] = &[
    ("reference_over_ideal", |l| l.over(l.ideal)),
    ("compute", |l| l.share(l.compute)),
    ("memory", |l| l.share(l.memory)),
    ("shortest", |l| l.share(l.shortest())),
    // µs.
    ("ln_reference", |l| l.reference().ln()),
    ("compute_over_memory", |l| (l.compute / l.memory).ln()),
    ("ln_m", |l| l.m.ln()),
    ("ln_n", |l| l.n.ln()),
    ("ln_k", |l| l.k.ln()),
    ("ln_count", |l| l.count.ln()),
    ("tiles_64x64", |l| l.device.per_sm(l.tiles((64.0, 64.0)))),
    ("tiles_128x128", |l| l.device.per_sm(l.tiles((128.0, 128.0)))),
    ("waste_64x64", |l| l.waste((64.0, 64.0))),
    ("waste_128x128", |l| l.waste((128.0, 128.0))),
    ("waste_128x256", |l| l.waste((128.0, 256.0))),
    ("operands_64x64", |l| l.operands((64.0, 64.0))),
    ("operands_128x128", |l| l.operands((128.0, 128.0))),
    ("padding_8", |l| ln_rounding(l.m, 8.0)),
    ("padding_64", |l| ln_rounding(l.m, 64.0)),
    ("padding_128", |l| ln_rounding(l.m, 128.0)),
    ("operands_over_l2", |l| (l.activations / l.device.l2).ln()),
    // Share of the weights in L2, in [0, 1].
    ("l2_hits", |l| l.hits),
    ("into_latents", |l| flag(l.n > l.k)),
    ("fp8", |l| flag(l.fp8)),
    ("trtllm", |l| flag(matches!(l.kernel, BmmKernel::Trtllm | BmmKernel::TrtllmUnnamed))),
    ("sglang_fp8", |l| flag(l.kernel == BmmKernel::SglangFp8)),
    ("trtllm_block", |l| flag(l.kernel == BmmKernel::TrtllmBlock)),
    ("trtllm_widened", |l| flag(l.kernel == BmmKernel::TrtllmWidened)),
    ("on_hopper", |l| flag(l.arch == Arch::Hopper)),
    ("on_blackwell", |l| flag(l.arch == Arch::Blackwell)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::features::checks::vector_on;

    fn on(kernel: &str, m: u64, weights: Dtype) -> Option<Vec<f32>> {
        vector_on("b200", kernel, &BatchedGemm { count: 16, m, n: 512, k: 128, weights })
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        for m in [1, 7, 64, 20_480] {
            for (kernel, weights) in [
                ("vllm_torch_bmm", Dtype::Bf16),
                ("sglang_sgl_kernel_bmm_fp8", Dtype::Fp8),
                ("trtllm_bmm_out_dequant_bf16", Dtype::Fp8),
            ] {
                assert!(on(kernel, m, weights).is_some(), "{kernel}");
            }
        }
    }

    #[test]
    fn an_unnamed_fp8_product_has_no_row() {
        assert_eq!(on("default", 8, Dtype::Fp8), None);
        assert_eq!(on("", 8, Dtype::Bf16), None);
    }
}
