//! The feature vector of a GEMM.

use super::Gemm;
use crate::config::catalog::numbers::gemm::constants;
use crate::config::kernels::{Caller, GemmKernel, KernelId};
use crate::config::{Arch, Dtype, MissingFigure};
use crate::kernels::features::{DeviceSpec, Inputs, Term, Tile, flag, ln_rounding, names, vector};
use crate::kernels::{Family, FamilySpec, Kernel, Launch};

/// Measured tables name no kernels of GEMMs.
pub const FAMILY: FamilySpec =
    FamilySpec { version: 5, columns: || names(&[TERMS]), kernel: |_| None, busy: 0.0 };

/// One launch, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
struct GemmInputs {
    device: DeviceSpec,
    weights: Dtype,
    arch: Arch,
    caller: Option<Caller>,
    kernel: GemmKernel,
    m: f64,
    n: f64,
    k: f64,
    /// Tensor time at the sustained clock.
    compute: f64,
    /// All operands once, partly from L2.
    memory: f64,
    /// Share of the weights in L2 at launch.
    hits: f64,
    ideal: f64,
    activation_bytes: f64,
}

/// The vector of one GEMM; `None` if its format, or the engine's GEMMs, have no learned model.
pub fn of(gemm: &Gemm, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(KernelId::Gemm(kernel)) = launch.kernel else { return Ok(None) };
    let inputs = GemmInputs::new(gemm, kernel, launch)?;
    Ok(Some(vector(&[TERMS], &inputs, &inputs.device)))
}

impl GemmKernel {
    /// Fixed cycles of every launch, activation quantisation included: the shortest measured GEMMs, which agree
    /// across GPUs.
    fn shortest_cycles(self) -> f64 {
        match self {
            Self::Library => constants().library_cycles,
            Self::DeepGemm => constants().deep_gemm_cycles,
            Self::ScaledFp8 | Self::BlockScaled | Self::TrtllmDeepGemm => constants().scaled_fp8_cycles,
            Self::CuteDsl | Self::CutlassFp4 | Self::TrtllmFp4 | Self::Plugin => constants().fp4_cycles,
            Self::DeepGemmPacked => constants().deep_gemm_packed_cycles,
            Self::TensorFp8 => constants().tensor_fp8_cycles,
        }
    }
}

/// Time of the activation quantisation launch before a per-tensor GEMM, in µs: the difference between the shortest
/// such GEMMs and the library's shortest, with two bytes read and one written.
pub fn quantising(gemm: &Gemm, device: &DeviceSpec) -> f64 {
    if gemm.weights != Dtype::Fp8 {
        return 0.0;
    }
    let cycles = GemmKernel::ScaledFp8.shortest_cycles() - GemmKernel::Library.shortest_cycles();
    let bytes = gemm.m as f64 * gemm.k as f64 * (Dtype::Bf16.bytes() + Dtype::Fp8.bytes());
    device.micros(cycles) + device.read(bytes, device.resident(bytes))
}

/// Copies of the weights that the benchmark cycled through to keep them cold: read off the size at which GEMMs stop
/// exceeding memory bandwidth (16 MB with 101 MB of L2, 24 MB with 134 MB; TensorRT-LLM: 24 and 32 MB).
pub fn rotated_weights(caller: Option<Caller>) -> f64 {
    match caller {
        Some(Caller::Trtllm) => constants().trtllm_rotated_weights,
        _ => constants().rotated_weights,
    }
}

impl GemmInputs {
    fn new(gemm: &Gemm, kernel: GemmKernel, launch: &Launch<'_>) -> Result<Self, MissingFigure> {
        let &Launch { gpu, caller, .. } = launch;
        let device = DeviceSpec::new(gpu, Family::Gemm)?;
        let count = gemm.count(gpu)?;
        let at_peak = (count.flops / gpu.peak(gemm.weights)?).micros();
        let (weights, activations) = (count.stored.0, (count.operands - count.stored).0);
        let hits = device.resident(weights * rotated_weights(caller));
        Ok(Self {
            device,
            weights: gemm.weights,
            arch: gpu.arch,
            caller,
            kernel,
            m: gemm.m as f64,
            n: gemm.n as f64,
            k: gemm.k as f64,
            compute: at_peak / device.sustained,
            memory: device.read(weights, hits) + device.read(activations, device.resident(activations)),
            hits,
            ideal: count.ideal(gpu)?.micros(),
            activation_bytes: activations,
        })
    }

    fn shortest(&self) -> f64 {
        self.device.micros(self.kernel.shortest_cycles())
    }

    fn tiles(&self, tile: Tile) -> f64 {
        (self.m / tile.0).ceil() * (self.n / tile.1).ceil()
    }

    /// Padding to whole tiles and full waves of one tile per SM.
    fn waste(&self, tile: Tile) -> f64 {
        self.device.waste(self.tiles(tile), tile, self.m * self.n)
    }

    /// Time the busiest SM takes to read its tiles' operands from L2.
    fn operands(&self, tile: Tile) -> f64 {
        self.share(self.device.operands(self.tiles(tile), tile, self.k, self.weights.math().bytes()))
    }

    /// Rows padded to a multiple of `rows`.
    fn padding(&self, rows: f64) -> f64 {
        ln_rounding(self.m, rows)
    }

    fn over_l2(&self, bytes: f64) -> f64 {
        (bytes / self.device.l2).ln()
    }

    fn fp8_on(&self, arch: Arch) -> f64 {
        flag(self.weights.math() == Dtype::Fp8 && self.arch == arch)
    }
}

impl Inputs for GemmInputs {
    fn reference(&self) -> f64 {
        self.compute.max(self.memory) + self.shortest()
    }
}

/// Tiles that libraries use on various architectures.
const TILES: [Tile; 5] = [(64.0, 64.0), (128.0, 64.0), (128.0, 128.0), (128.0, 256.0), (256.0, 128.0)];

/// Log ratios unless noted.
const TERMS: &[Term<GemmInputs>] = &[
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
    ("waste_64x64", |l| l.waste(TILES[0])),
    ("waste_128x64", |l| l.waste(TILES[1])),
    ("waste_128x128", |l| l.waste(TILES[2])),
    ("waste_128x256", |l| l.waste(TILES[3])),
    ("waste_256x128", |l| l.waste(TILES[4])),
    ("operands_64x64", |l| l.operands(TILES[0])),
    ("operands_128x64", |l| l.operands(TILES[1])),
    ("operands_128x128", |l| l.operands(TILES[2])),
    ("operands_128x256", |l| l.operands(TILES[3])),
    ("operands_256x128", |l| l.operands(TILES[4])),
    ("tiles_per_sm", |l| l.device.per_sm(l.tiles(TILES[2]))),
    // Fraction of the SMs busy over all waves, in (0, 1].
    ("occupancy", |l| (-l.device.rounding(l.tiles(TILES[2]))).exp()),
    ("padding_64", |l| l.padding(64.0)),
    ("padding_128", |l| l.padding(128.0)),
    ("padding_256", |l| l.padding(256.0)),
    // Share of the weights, in [0, 1].
    ("l2_hits", |l| l.hits),
    ("activations_over_l2", |l| l.over_l2(l.activation_bytes)),
    ("fp8", |l| flag(l.weights.math() == Dtype::Fp8)),
    ("fp8_block", |l| flag(l.weights == Dtype::Fp8Block)),
    ("nvfp4", |l| flag(l.weights == Dtype::Nvfp4)),
    ("int8_weights", |l| flag(l.weights == Dtype::Int8)),
    ("int4_weights", |l| flag(l.weights == Dtype::Int4)),
    ("w8a8", |l| flag(l.weights == Dtype::W8a8)),
    ("tensor_fp8", |l| flag(l.kernel == GemmKernel::TensorFp8)),
    ("deep_gemm", |l| {
        flag(matches!(
            l.kernel,
            GemmKernel::DeepGemm | GemmKernel::DeepGemmPacked | GemmKernel::TrtllmDeepGemm
        ))
    }),
    ("packed_scales", |l| flag(matches!(l.kernel, GemmKernel::DeepGemmPacked | GemmKernel::TrtllmDeepGemm))),
    ("cute_dsl", |l| flag(l.kernel == GemmKernel::CuteDsl)),
    ("cutlass_fp4", |l| flag(l.kernel == GemmKernel::CutlassFp4)),
    // Engines use separate FP8 kernels on GPUs without the data-centre tensor instructions.
    ("fp8_ada", |l| l.fp8_on(Arch::Ada)),
    ("fp8_blackwell_rtx", |l| l.fp8_on(Arch::BlackwellRtx)),
    ("sglang", |l| flag(l.caller == Some(Caller::Sglang))),
    ("trtllm", |l| flag(l.caller == Some(Caller::Trtllm))),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;
    use crate::kernels::features::checks::{column, vector_of};

    fn on(gpu: &str, engine: &str, gemm: Gemm) -> Option<Vec<f32>> {
        let gpu = catalog().gpu(gpu).expect("in the catalog");
        let engine = catalog().engine(engine).expect("in the catalog");
        let kernel = gemm.named("", Some(engine), gpu.arch);
        let launch = Launch { caller: engine.caller(), kernel, ..Launch::on(gpu) };
        vector_of(&gemm, &launch)
    }

    fn h100(m: u64, weights: Dtype) -> Vec<f32> {
        let gemm = Gemm { m, n: 8192, k: 8192, weights };
        on("h100-sxm", "sglang", gemm).expect("learned format")
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        for m in [1, 2, 63, 4096, 60_000] {
            for weights in [Dtype::Bf16, Dtype::Fp8, Dtype::Fp8Block, Dtype::Nvfp4, Dtype::Int4, Dtype::W8a8]
            {
                let gemm = Gemm { m, n: 8192, k: 8192, weights };
                assert!(on("b200", "sglang", gemm).is_some(), "{weights:?}");
            }
        }
    }

    #[test]
    fn more_rows_are_more_compute_bound() {
        let ridge = column(Family::Gemm, "compute_over_memory");
        let mut last = f32::MIN;
        for m in [1, 8, 64, 512, 4096, 32_768] {
            let value = h100(m, Dtype::Bf16)[ridge];
            assert!(value > last, "{m}");
            last = value;
        }
    }

    #[test]
    fn one_tile_per_sm_wastes_nothing() {
        // 132 SMs: 128 tiles of 128x128 fill all but four SMs of one wave.
        let gemm = Gemm { m: 1024, n: 2048, k: 4096, weights: Dtype::Bf16 };
        let row = on("h100-sxm", "vllm", gemm).expect("learned");
        assert!((row[column(Family::Gemm, "waste_128x128")] - (132.0f32 / 128.0).ln()).abs() < 1e-6);
    }

    #[test]
    fn small_weights_stay_in_the_l2_of_a_measuring_loop() {
        let hits = |k| {
            let gemm = Gemm { m: 1, n: 1024, k, weights: Dtype::Bf16 };
            on("l40s", "vllm", gemm).expect("learned")[column(Family::Gemm, "l2_hits")]
        };
        // 8 MB and 67 MB of weights, six copies, against 101 MB of L2.
        assert!(hits(4096) > 0.9 && hits(32_768) < 0.1);
    }

    #[test]
    fn formats_without_a_model_have_no_row() {
        let gemm = Gemm { m: 8, n: 1024, k: 1024, weights: Dtype::Mxfp4 };
        assert_eq!(on("b200", "vllm", gemm), None);
    }
}
