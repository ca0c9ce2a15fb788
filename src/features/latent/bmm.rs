//! Features of the batched products that latent attention absorbs its expansion with.

use crate::config::{Arch, Dtype, MissingFigure};
use crate::features::silicon::{Silicon, Tile};
use crate::features::term::{self, Term, flag, ln_rounding, ln_share};
use crate::features::{Family, Launching};
use crate::graph::BatchedGemm;
use crate::kernels::latent;

/// Raised whenever a term below changes.
pub(super) const VERSION: u32 = 1;

/// What every launch takes besides its work, in cycles: about the shortest measured product.
const SHORTEST_CYCLES: f64 = 7000.0;

/// How a product is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    /// The library's batched product.
    Library,
    /// TensorRT-LLM's, the library's too.
    Trtllm,
    /// FP8 with the quantisation of the activations beside it, as SGLang launches it.
    SglangFp8,
    /// FP8 with scales by block, quantisation included.
    TrtllmBlock,
    /// FP8 weights widened ahead of time: a product in bf16.
    TrtllmWidened,
}

impl Kernel {
    fn from_name(name: &str, weights: Dtype) -> Option<Self> {
        Some(match name {
            "sglang_torch_bmm" | "vllm_torch_bmm" => Self::Library,
            "trtllm_bmm_out" => Self::Trtllm,
            "sglang_sgl_kernel_bmm_fp8" => Self::SglangFp8,
            "trtllm_fp8_block_scaling_bmm_out" => Self::TrtllmBlock,
            "trtllm_bmm_out_dequant_bf16" => Self::TrtllmWidened,
            // A100, whose versions name no kernel.
            "default" if weights == Dtype::Bf16 => Self::Trtllm,
            _ => return None,
        })
    }
}

/// One launch, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launch {
    silicon: Silicon,
    arch: Arch,
    kernel: Kernel,
    count: f64,
    m: f64,
    n: f64,
    k: f64,
    fp8: bool,
    compute: f64,
    memory: f64,
    hits: f64,
    /// Bytes of the activations, quantised apart where they are.
    activations: f64,
    ideal: f64,
}

/// The row of one call, or none where no model has learned the kernel.
///
/// # Errors
/// Where the GPU's record lacks a figure the features need.
pub(super) fn row(bmm: &BatchedGemm, launching: &Launching<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(kernel) = Kernel::from_name(launching.kernel, bmm.weights) else { return Ok(None) };
    let launch = Launch::new(bmm, kernel, launching)?;
    Ok(Some(term::values(TERMS, &launch).chain(launch.silicon.identity()).collect()))
}

impl Launch {
    fn new(bmm: &BatchedGemm, kernel: Kernel, launching: &Launching<'_>) -> Result<Self, MissingFigure> {
        let &Launching { gpu, floor, .. } = launching;
        let silicon = Silicon::new(gpu, Family::MlaBmm)?;
        let least = latent::batched(bmm, gpu)?;
        let ideal = least.compute(gpu)?.max(least.bytes / gpu.bandwidth()?).max(floor);
        let weights = if kernel == Kernel::TrtllmWidened { Dtype::Bf16 } else { bmm.weights };
        let fp8 = weights.math() == Dtype::Fp8 && gpu.supports(Dtype::Fp8);
        let count = latent::batched(&BatchedGemm { weights, ..*bmm }, gpu)?;
        let (stored, activations) = (count.stored.0, (count.operands - count.stored).0);
        let hits = silicon.resident(count.operands.0);
        Ok(Self {
            silicon,
            arch: gpu.arch,
            kernel,
            count: bmm.count as f64,
            m: bmm.m as f64,
            n: bmm.n as f64,
            k: bmm.k as f64,
            fp8,
            compute: count.compute(gpu)?.micros() / silicon.sustained,
            memory: silicon.read(stored, hits) + silicon.read(activations, silicon.resident(activations)),
            hits,
            activations,
            ideal: ideal.micros(),
        })
    }

    fn shortest(&self) -> f64 {
        SHORTEST_CYCLES / self.silicon.clock
    }

    fn reference(&self) -> f64 {
        self.compute.max(self.memory) + self.shortest()
    }

    fn share(&self, time: f64) -> f64 {
        ln_share(time, self.reference())
    }

    /// Tiles of all products.
    fn tiles(&self, tile: Tile) -> f64 {
        self.count * (self.m / tile.0).ceil() * (self.n / tile.1).ceil()
    }

    /// Padding to whole tiles and waves of one tile per SM.
    fn waste(&self, tile: Tile) -> f64 {
        self.silicon.waste(self.tiles(tile), tile, self.count * self.m * self.n)
    }

    /// Time the busiest SM takes to read its tiles' operands from L2.
    fn operands(&self, tile: Tile) -> f64 {
        let width = if self.fp8 { 1.0 } else { 2.0 };
        self.share(self.silicon.operands(self.tiles(tile), tile, self.k, width))
    }
}

/// Logarithms of ratios, unless said otherwise.
pub(super) const TERMS: &[Term<Launch>] = &[
    // Added to the output as it is: see training/train.py.
    ("reference_over_ideal", |l| (l.reference() / l.ideal).ln()),
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
    ("tiles_64x64", |l| l.silicon.per_sm(l.tiles((64.0, 64.0)))),
    ("tiles_128x128", |l| l.silicon.per_sm(l.tiles((128.0, 128.0)))),
    ("waste_64x64", |l| l.waste((64.0, 64.0))),
    ("waste_128x128", |l| l.waste((128.0, 128.0))),
    ("waste_128x256", |l| l.waste((128.0, 256.0))),
    ("operands_64x64", |l| l.operands((64.0, 64.0))),
    ("operands_128x128", |l| l.operands((128.0, 128.0))),
    ("padding_8", |l| ln_rounding(l.m, 8.0)),
    ("padding_64", |l| ln_rounding(l.m, 64.0)),
    ("padding_128", |l| ln_rounding(l.m, 128.0)),
    ("operands_over_l2", |l| (l.activations / l.silicon.l2).ln()),
    // Share of the weights, in [0, 1].
    ("l2_hits", |l| l.hits),
    ("into_latents", |l| flag(l.n > l.k)),
    ("fp8", |l| flag(l.fp8)),
    ("trtllm", |l| flag(l.kernel == Kernel::Trtllm)),
    ("sglang_fp8", |l| flag(l.kernel == Kernel::SglangFp8)),
    ("trtllm_block", |l| flag(l.kernel == Kernel::TrtllmBlock)),
    ("trtllm_widened", |l| flag(l.kernel == Kernel::TrtllmWidened)),
    ("on_hopper", |l| flag(l.arch == Arch::Hopper)),
    ("on_blackwell", |l| flag(l.arch == Arch::Blackwell)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::units::Seconds;

    fn on(kernel: &str, m: u64, weights: Dtype) -> Option<Vec<f32>> {
        let gpu = catalog().gpu("b200").expect("in the catalog");
        let floor = Seconds(1.5e-6);
        let launching = Launching { gpu, engine: "", kernel, math: Dtype::Bf16, floor };
        row(&BatchedGemm { count: 16, m, n: 512, k: 128, weights }, &launching).expect("complete record")
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        for m in [1, 7, 64, 20_480] {
            for (kernel, weights) in [
                ("vllm_torch_bmm", Dtype::Bf16),
                ("sglang_sgl_kernel_bmm_fp8", Dtype::Fp8),
                ("trtllm_bmm_out_dequant_bf16", Dtype::Fp8),
            ] {
                let row = on(kernel, m, weights).expect("learned");
                assert_eq!(row.len(), Family::MlaBmm.schema().names.len());
                assert!(row.iter().all(|value| value.is_finite()), "{kernel} {m} {row:?}");
            }
        }
    }

    #[test]
    fn an_unnamed_fp8_product_has_no_row() {
        assert_eq!(on("default", 8, Dtype::Fp8), None);
        assert_eq!(on("", 8, Dtype::Bf16), None);
    }
}
