//! Features of fused mixtures of experts.

mod kernel;
mod launch;

pub use kernel::{Caller, Code, Kernel, Lane};
use launch::Launch;

use super::Launching;
use super::term::{self, Term, flag, ln_rounding};
use crate::config::{Arch, Dtype, MissingFigure};
use crate::graph::{Moe, Part};

/// Raised whenever a term below changes.
pub(super) const VERSION: u32 = 1;

/// The row of one call, or none where no model has learned the kernel or nothing is routed to the rank.
///
/// # Errors
/// Where the GPU's record lacks a figure the features need.
pub(super) fn row(moe: &Moe, launching: &Launching<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(kernel) = Kernel::from_name(launching.kernel, launching.gpu.arch, moe.weights) else {
        return Ok(None);
    };
    if moe.load.pairs <= 0.0 {
        return Ok(None);
    }
    let launch = Launch::new(moe, kernel, launching)?;
    Ok(Some(term::values(TERMS, &launch).chain(launch.silicon.identity()).collect()))
}

/// Logarithms of ratios, unless said otherwise.
pub(super) const TERMS: &[Term<Launch>] = &[
    // Added to the output as it is: see training/train.py.
    ("reference_over_ideal", |l| (l.reference() / l.ideal).ln()),
    ("compute", |l| l.share(l.compute)),
    ("weights", |l| l.share(l.weights)),
    ("activations", |l| l.share(l.activations)),
    ("empty_rows", |l| l.share(l.empty_rows)),
    ("shortest", |l| l.share(l.shortest())),
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
    ("first_tiles_per_sm", |l| l.silicon.per_sm(l.first_tiles(3))),
    ("second_tiles_per_sm", |l| l.silicon.per_sm(l.second_tiles(3))),
    ("largest_expert", |l| l.largest_expert()),
    // Share of the weights, in [0, 1].
    ("l2_hits", |l| l.hits),
    ("activations_over_l2", |l| (l.activation_bytes / l.silicon.l2).ln()),
    ("first_alone", |l| flag(l.moe.part == Part::First)),
    ("gated", |l| flag(l.moe.gated)),
    ("fp8", |l| flag(l.moe.weights == Dtype::Fp8)),
    ("fp8_block", |l| flag(l.moe.weights == Dtype::Fp8Block)),
    ("nvfp4", |l| flag(l.moe.weights == Dtype::Nvfp4)),
    ("mxfp4", |l| flag(l.moe.weights == Dtype::Mxfp4)),
    ("mxfp4_mxfp8", |l| flag(l.moe.weights == Dtype::Mxfp4Mxfp8)),
    ("int4", |l| flag(l.moe.weights == Dtype::Int4)),
    ("triton", |l| flag(l.kernel.code == Code::Triton)),
    ("openai_triton", |l| flag(l.kernel.code == Code::OpenAiTriton)),
    ("cutlass", |l| flag(l.kernel.code == Code::Cutlass)),
    ("generated", |l| flag(l.kernel.code == Code::Generated)),
    ("deep_gemm", |l| flag(l.kernel.code == Code::DeepGemm)),
    ("marlin", |l| flag(l.kernel.code == Code::Marlin)),
    ("sglang", |l| flag(l.kernel.caller == Caller::Sglang)),
    ("vllm", |l| flag(l.kernel.caller == Caller::Vllm)),
    ("low_latency", |l| flag(l.kernel.lane == Lane::LowLatency)),
    ("modular", |l| flag(l.kernel.lane == Lane::Modular)),
    // The tensor cores' instructions: of sm80 where neither holds.
    ("wgmma", |l| flag(l.arch == Arch::Hopper)),
    ("tcgen05", |l| flag(l.arch == Arch::Blackwell)),
    ("untuned_wgmma", |l| flag(l.arch == Arch::Hopper && l.kernel.untuned())),
];

#[cfg(test)]
mod tests {
    use super::super::Family;
    use super::*;
    use crate::config::catalog::catalog;
    use crate::graph::Routing;
    use crate::graph::routing::Pool;
    use crate::units::Seconds;

    /// Qwen3-235B's experts over `ep` ranks.
    fn moe(tokens: u64, ep: u64, weights: Dtype) -> Moe {
        let (experts, topk) = (128, 8);
        let load = Routing::PowerLaw(1.2).load(&Pool { tokens, experts, topk, ep });
        let (hidden, inter, tp, gated, part) = (4096, 1536, 1, true, Part::Whole);
        Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load }
    }

    fn on(gpu: &str, kernel: &str, moe: &Moe) -> Option<Vec<f32>> {
        let gpu = catalog().gpu(gpu).expect("in the catalog");
        let (math, floor) = (moe.weights.math(), Seconds(1.5e-6));
        let launching = Launching { gpu, engine: "sglang", kernel, math, floor };
        row(moe, &launching).expect("complete record")
    }

    fn column(name: &str) -> usize {
        Family::Moe.schema().names.iter().position(|column| *column == name).expect("a column")
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        for tokens in [1, 7, 128, 60_000] {
            for ep in [1, 8, 128] {
                for weights in [Dtype::Bf16, Dtype::Fp8Block, Dtype::Int4] {
                    let moe = moe(tokens, ep, weights);
                    let row = on("h100-sxm", "sglang_fused_moe_triton", &moe).expect("learned");
                    assert_eq!(row.len(), Family::Moe.schema().names.len());
                    assert!(row.iter().all(|value| value.is_finite()), "{moe:?} {row:?}");
                }
            }
        }
    }

    #[test]
    fn only_triton_carries_the_other_ranks_pairs() {
        let empty = |kernel| {
            on("h100-sxm", kernel, &moe(4096, 8, Dtype::Bf16)).expect("learned")[column("empty_rows")]
        };
        assert!(empty("sglang_fused_moe_triton") > empty("moe_torch_flow_cutlass") + 1.0);
    }

    #[test]
    fn nothing_routed_and_unknown_kernels_have_no_row() {
        let some = moe(4, 1, Dtype::Bf16);
        assert_eq!(on("h100-sxm", "no such kernel", &some), None);
        assert_eq!(on("h100-sxm", "moe_torch_flow_cutlass", &moe(0, 1, Dtype::Bf16)), None);
    }
}
