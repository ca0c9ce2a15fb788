//! The feature vector of fused mixtures of experts.

use super::routing::TILE_ROWS;
use super::{Moe, MoePart, constants};
use crate::config::catalog::numbers::power_of_kernels::constants as power;
use crate::config::kernels::{Caller, ExpertCode, ExpertKernel, ExpertWrapper, KernelId};
use crate::config::{Arch, Dtype, MissingFigure};
use crate::kernels::features::{DeviceSpec, Inputs, Term, flag, ln_rounding, names, vector};
use crate::kernels::{ACTIVATION_BYTES, Family, FamilySpec, Kernel, Launch, parsed};

pub const FAMILY: FamilySpec = FamilySpec {
    version: 1,
    columns: || names(&[TERMS]),
    kernel: parsed::<ExpertKernel>,
    busy: power().experts,
};

/// The vector of one call; `None` if the kernel has no learned model or nothing is routed to the rank.
pub fn of(moe: &Moe, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(KernelId::Experts(kernel)) = launch.kernel.filter(|_| moe.load.pairs > 0.0) else {
        return Ok(None);
    };
    if kernel.has_closed_form() {
        return Ok(None);
    }
    let inputs = Experts::new(moe, kernel.on(launch.gpu.arch, moe.weights), launch)?;
    Ok(Some(vector(&[TERMS], &inputs, &inputs.device)))
}

/// One launch, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
struct Experts {
    device: DeviceSpec,
    kernel: ExpertKernel,
    arch: Arch,
    moe: Moe,
    /// Tensor time at the sustained clock, with rows padded to the best tile height.
    compute: f64,
    /// Weights of active experts, partly from L2.
    weights: f64,
    /// Tokens, both GEMMs' outputs and the second one's input, written and read.
    activations: f64,
    /// Activations of pairs with other ranks' experts, written and read, if the kernel carries them along.
    empty_rows: f64,
    activation_bytes: f64,
    /// Share of the weights in L2 at launch.
    hits: f64,
    /// What a launch takes besides its work.
    shortest: f64,
    ideal: f64,
}

impl Experts {
    fn new(moe: &Moe, kernel: ExpertKernel, launch: &Launch<'_>) -> Result<Self, MissingFigure> {
        let gpu = launch.gpu;
        let device = DeviceSpec::new(gpu, Family::Moe)?;
        let count = moe.count(gpu)?;
        let peak = gpu.peak(moe.weights)?;
        let at_peak = (count.flops / peak).micros();
        let load = &moe.load;
        let weight_bytes = load.touched * moe.expert_weights() as f64 * kernel.weight_bytes(moe.weights);
        let hits = device.resident(weight_bytes);
        let (hidden, width) = (moe.hidden as f64, moe.width() as f64);
        let a_pair = match moe.part {
            MoePart::Whole => 2.0 * moe.first_columns() as f64 + 2.0 * width + 3.0 * hidden,
            MoePart::First => moe.first_columns() as f64 + hidden,
        };
        let activation_bytes = (load.pairs * a_pair + 2.0 * moe.tokens as f64 * hidden) * ACTIVATION_BYTES;
        let empty_pairs = match kernel.carries_all_pairs() {
            true => ((moe.tokens * moe.topk) as f64 - load.pairs).max(0.0),
            false => 0.0,
        };
        let empty_bytes = empty_pairs * a_pair * ACTIVATION_BYTES;
        let tile = moe.tile_rows();
        let stretch = load.padded[tile] / load.pairs;
        let slowed =
            if kernel.synchronous() { (device.rate / constants().synchronous_rate).max(1.0) } else { 1.0 };
        Ok(Self {
            device,
            kernel,
            moe: *moe,
            arch: gpu.arch,
            compute: at_peak / device.sustained * stretch * slowed,
            weights: device.read(weight_bytes, hits),
            activations: device.read(activation_bytes, device.resident(activation_bytes)),
            empty_rows: device.read(empty_bytes, device.resident(empty_bytes)),
            activation_bytes,
            hits,
            shortest: device.micros(constants().shortest_cycles),
            ideal: count.ideal(gpu)?.micros(),
        })
    }

    /// Mean over active experts.
    fn tokens_per_expert(&self) -> f64 {
        self.moe.load.pairs / self.moe.load.touched
    }

    /// Row padding for the tile height at index `rows` of `TILE_ROWS`.
    fn padding(&self, rows: usize) -> f64 {
        (self.moe.load.padded[rows] / self.moe.load.pairs).ln()
    }

    fn tiles(&self, rows: usize, columns: f64) -> f64 {
        self.moe.load.padded[rows] / TILE_ROWS[rows] as f64 * (columns / constants().tile_columns).ceil()
    }

    fn first_tiles(&self, rows: usize) -> f64 {
        self.tiles(rows, self.moe.first_columns() as f64)
    }

    fn second_tiles(&self, rows: usize) -> f64 {
        self.tiles(rows, self.moe.hidden as f64)
    }

    fn first_rounding(&self, rows: usize) -> f64 {
        self.device.rounding(self.first_tiles(rows))
    }

    fn second_rounding(&self, rows: usize) -> f64 {
        self.device.rounding(self.second_tiles(rows))
    }

    /// Tensor time of the most loaded expert on its own.
    fn largest_expert(&self) -> f64 {
        self.share(self.compute * self.moe.load.largest / self.moe.load.pairs)
    }
}

impl Inputs for Experts {
    /// GEMMs overlap with their loads; permutation, activation and sum do not.
    fn reference(&self) -> f64 {
        self.compute.max(self.weights) + self.activations + self.empty_rows + self.shortest
    }
}

/// Log ratios unless noted.
const TERMS: &[Term<Experts>] = &[
    ("reference_over_ideal", |l| l.over(l.ideal)),
    ("compute", |l| l.share(l.compute)),
    ("weights", |l| l.share(l.weights)),
    ("activations", |l| l.share(l.activations)),
    ("empty_rows", |l| l.share(l.empty_rows)),
    ("shortest", |l| l.share(l.shortest)),
    // µs.
    ("ln_reference", |l| l.reference().ln()),
    ("compute_over_weights", |l| (l.compute / l.weights).ln()),
    ("ln_tokens", |l| (l.moe.tokens as f64).ln()),
    ("ln_pairs", |l| l.moe.load.pairs.ln()),
    ("ln_touched", |l| l.moe.load.touched.ln()),
    ("ln_tokens_per_expert", |l| l.tokens_per_expert().ln()),
    ("ln_largest_over_mean", |l| (l.moe.load.largest / l.tokens_per_expert()).ln()),
    ("ln_local_experts", |l| (l.moe.local_experts() as f64).ln()),
    ("ln_topk", |l| (l.moe.topk as f64).ln()),
    ("ln_ranks", |l| (l.moe.ep as f64).ln()),
    ("ln_hidden", |l| (l.moe.hidden as f64).ln()),
    ("ln_width", |l| (l.moe.width() as f64).ln()),
    ("width_padding_64", |l| ln_rounding(l.moe.width() as f64, 64.0)),
    ("width_padding_128", |l| ln_rounding(l.moe.width() as f64, 128.0)),
    ("width_padding_256", |l| ln_rounding(l.moe.width() as f64, 256.0)),
    ("padding_8", |l| l.padding(0)),
    ("padding_16", |l| l.padding(1)),
    ("padding_32", |l| l.padding(2)),
    ("padding_64", |l| l.padding(3)),
    ("padding_128", |l| l.padding(4)),
    ("first_rounding_16", |l| l.first_rounding(1)),
    ("first_rounding_64", |l| l.first_rounding(3)),
    ("first_rounding_128", |l| l.first_rounding(4)),
    ("second_rounding_16", |l| l.second_rounding(1)),
    ("second_rounding_64", |l| l.second_rounding(3)),
    ("second_rounding_128", |l| l.second_rounding(4)),
    ("first_tiles_per_sm", |l| l.device.per_sm(l.first_tiles(3))),
    ("second_tiles_per_sm", |l| l.device.per_sm(l.second_tiles(3))),
    ("largest_expert", |l| l.largest_expert()),
    // Share of the weights, in [0, 1].
    ("l2_hits", |l| l.hits),
    ("activations_over_l2", |l| (l.activation_bytes / l.device.l2).ln()),
    ("first_alone", |l| flag(l.moe.part == MoePart::First)),
    ("gated", |l| flag(l.moe.gated)),
    ("fp8", |l| flag(l.moe.weights == Dtype::Fp8)),
    ("fp8_block", |l| flag(l.moe.weights == Dtype::Fp8Block)),
    ("nvfp4", |l| flag(l.moe.weights == Dtype::Nvfp4)),
    ("mxfp4", |l| flag(l.moe.weights == Dtype::Mxfp4)),
    ("mxfp4_mxfp8", |l| flag(l.moe.weights == Dtype::Mxfp4Mxfp8)),
    ("int4", |l| flag(l.moe.weights == Dtype::Int4)),
    ("triton", |l| flag(l.kernel.code == ExpertCode::Triton)),
    ("openai_triton", |l| flag(l.kernel.code == ExpertCode::OpenAiTriton)),
    ("cutlass", |l| flag(l.kernel.code == ExpertCode::Cutlass)),
    ("generated", |l| flag(l.kernel.code == ExpertCode::Generated)),
    ("deep_gemm", |l| flag(l.kernel.code == ExpertCode::DeepGemm)),
    ("marlin", |l| flag(l.kernel.code == ExpertCode::Marlin)),
    ("sglang", |l| flag(l.kernel.caller == Caller::Sglang)),
    ("vllm", |l| flag(l.kernel.caller == Caller::Vllm)),
    ("low_latency", |l| flag(l.kernel.wrapper == ExpertWrapper::LowLatency)),
    ("modular", |l| flag(l.kernel.wrapper == ExpertWrapper::Modular)),
    // Tensor core instructions: sm80's if neither applies.
    ("wgmma", |l| flag(l.arch == Arch::Hopper)),
    ("tcgen05", |l| flag(l.arch == Arch::Blackwell)),
    ("untuned_wgmma", |l| flag(l.arch == Arch::Hopper && l.kernel.untuned())),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::features::checks::{column, vector_on};
    use crate::kernels::{Pool, Routing};

    /// Qwen3-235B's experts over `ep` ranks.
    fn moe(tokens: u64, ep: u64, weights: Dtype) -> Moe {
        let (experts, topk) = (128, 8);
        let load = Routing::PowerLaw(1.2).load(&Pool { tokens, experts, topk, ep });
        let (hidden, inter, tp, gated, part) = (4096, 1536, 1, true, MoePart::Whole);
        Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load }
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        for tokens in [1, 7, 128, 60_000] {
            for ep in [1, 8, 128] {
                for weights in [Dtype::Bf16, Dtype::Fp8Block, Dtype::Int4] {
                    let moe = moe(tokens, ep, weights);
                    assert!(vector_on("h100-sxm", "sglang_fused_moe_triton", &moe).is_some(), "{moe:?}");
                }
            }
        }
    }

    #[test]
    fn only_triton_carries_the_other_ranks_pairs() {
        let empty = |kernel| {
            vector_on("h100-sxm", kernel, &moe(4096, 8, Dtype::Bf16)).expect("learned")
                [column(Family::Moe, "empty_rows")]
        };
        assert!(empty("sglang_fused_moe_triton") > empty("moe_torch_flow_cutlass") + 1.0);
    }

    #[test]
    fn nothing_routed_and_unknown_kernels_have_no_row() {
        let some = moe(4, 1, Dtype::Bf16);
        assert_eq!(vector_on("h100-sxm", "no such kernel", &some), None);
        assert_eq!(vector_on("h100-sxm", "moe_torch_flow_cutlass", &moe(0, 1, Dtype::Bf16)), None);
    }
}
