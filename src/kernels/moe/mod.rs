//! Routed experts of one layer, computed by one rank in one fused call.

mod aiter;
mod deep_gemm;
mod draws;
#[cfg(feature = "tools")]
mod gate;
mod kernel;
#[cfg(feature = "tools")]
pub mod measured;
pub mod routing;
mod vector;

pub use routing::{ExpertLoad, Pool, Routing};
pub use vector::FAMILY;

use super::{CallPoint, Count, Family, Kernel, Launch, Schedule};
use crate::config::catalog::numbers::eager_launches;
pub(super) use crate::config::catalog::numbers::moe::constants;
use crate::config::kernels::{ExpertCode, ExpertKernel, UntunedExperts};
use crate::config::{Dtype, Engine, Gpu, MissingFigure};
use crate::kernels::ACTIVATION_BYTES;
use crate::units::{Bytes, Flops, Seconds};
use routing::TILE_ROWS;

/// Permutation, the grouped GEMMs with the activation between them, and the weighted sum over each token's experts.
/// The router GEMM, shared experts and communication are separate calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moe {
    /// Tokens of the expert-parallel group, over all of its ranks.
    pub tokens: u64,
    /// Width of a token.
    pub hidden: u64,
    /// Width of one expert before sharding over `tp` ranks.
    pub inter: u64,
    /// Routed experts of the layer, over all ranks.
    pub experts: u64,
    /// Experts that each token visits.
    pub topk: u64,
    /// Ranks that shard each expert's width.
    pub tp: u64,
    /// Ranks the experts are distributed over.
    pub ep: u64,
    /// Gate and up projection (SwiGLU); otherwise the up projection alone (squared ReLU).
    pub gated: bool,
    /// Weight format of the experts; FP8 and FP4 kernels also quantise the activations.
    pub weights: Dtype,
    pub part: MoePart,
    /// The load of the rank, the busiest of its group.
    pub load: ExpertLoad,
}

/// Which part of the layer one call computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MoePart {
    /// All of it.
    Whole,
    /// Only the grouped gate and up projection.
    First,
}

impl Moe {
    /// The work of a rank over that of the busiest, at most 1.
    pub fn balance(&self) -> f64 {
        let each = (self.tokens * self.topk) as f64 / self.ep.max(1) as f64;
        if self.load.pairs > 0.0 { (each / self.load.pairs).min(1.0) } else { 1.0 }
    }
}

impl Kernel for Moe {
    /// The busiest rank's share: two FLOP per weight of an expert and token that visits it; weights of active
    /// experts read once from device memory; tokens in and out as activations. The intermediate between the two
    /// GEMMs is not counted: a fused kernel need not write it.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let load = &self.load;
        let weights = self.expert_weights() as f64;
        let flops = 2.0 * load.pairs * weights;
        let stored = load.touched * weights * self.weights.bytes();
        // Tokens that visit none of the rank's experts need not be read.
        let tokens = load.pairs.min(self.tokens as f64);
        let hidden = self.hidden as f64;
        let elements = match self.part {
            MoePart::Whole => 2.0 * tokens * hidden,
            MoePart::First => tokens * hidden + load.pairs * self.first_columns() as f64,
        };
        let activations = Bytes(elements * ACTIVATION_BYTES);
        let math = Some(self.weights.math());
        let count = Count::new(Flops(flops), math, Bytes(stored), activations, gpu)?;
        Ok(Count { schedule: self.schedule(gpu), ..count })
    }

    fn candidates(&self, gpu: &Gpu) -> Vec<Schedule> {
        (0..TILE_ROWS.len()).filter_map(|place| self.schedule_with(place, gpu)).collect()
    }

    fn launches(&self, gpu: &Gpu, engine: &Engine) -> f64 {
        let own = &engine.host.launches;
        let kernel = self.kernel_of(gpu, engine);
        // The choice of experts is a launch, whatever its time is counted in.
        let choice = f64::from(u8::from(kernel.is_some_and(|kernel| kernel.chooses(self.ep))));
        let own = match kernel.map(|kernel| kernel.on(gpu.arch, self.weights).code) {
            Some(ExpertCode::Generated) => own.generated_experts,
            Some(ExpertCode::OpenAiTriton) => own.openai_experts,
            _ => None,
        };
        own.unwrap_or(eager_launches::constants().experts) + choice
    }

    fn format(&self) -> Dtype {
        self.weights
    }

    fn shape(&self) -> String {
        let (tokens, hidden) = (self.tokens, self.hidden);
        format!("{tokens} tokens, {} experts × {hidden} × {}", self.local_experts(), self.width())
    }

    fn family(&self) -> Option<Family> {
        Some(Family::Moe)
    }

    fn served<'a>(&self, engine: &'a Engine, launch: Launch<'a>) -> Option<Launch<'a>> {
        let named = engine.kernels_on(launch.gpu.arch)?.moe(self.weights, self.tokens, self.ep)?;
        Some(Launch { math: self.weights.math(), ..launch.with(named) })
    }

    fn vector(&self, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        vector::of(self, launch)
    }

    fn stretch(&self, gpu: &Gpu, engine: &Engine) -> f64 {
        let named =
            engine.kernels_on(gpu.arch).and_then(|choice| choice.moe(self.weights, self.tokens, self.ep));
        let rows = self.load.pairs / self.load.touched.max(1.0);
        let is_this = |one: &&UntunedExperts| {
            one.weights == self.weights && Some(&one.kernel) == named && rows >= f64::from(one.rows)
        };
        engine.untuned.iter().find(is_this).and_then(|one| one.times.0).unwrap_or(1.0)
    }

    fn closed_form(&self, gpu: &Gpu, engine: &Engine) -> Result<Option<Seconds>, MissingFigure> {
        match self.kernel_of(gpu, engine).filter(|_| self.load.pairs > 0.0) {
            Some(kernel) if kernel.computes_all_blocks() => deep_gemm::time(self, gpu).map(Some),
            Some(kernel) if kernel.code == ExpertCode::Aiter => aiter::time(self, gpu),
            _ => Ok(None),
        }
    }

    fn point(&self) -> CallPoint {
        CallPoint {
            shape: [self.hidden, self.inter, self.topk, self.experts],
            size: [self.tokens, self.tp, self.ep, 0],
        }
    }
}

impl Moe {
    /// The kernel that `engine` launches for it, if it is known.
    fn kernel_of(&self, gpu: &Gpu, engine: &Engine) -> Option<ExpertKernel> {
        engine.kernels_on(gpu.arch)?.moe(self.weights, self.tokens, self.ep)?.id()
    }

    /// Columns of one expert on this rank.
    pub fn width(&self) -> u64 {
        self.inter.div_ceil(self.tp.max(1))
    }

    /// Experts on this rank.
    pub fn local_experts(&self) -> u64 {
        self.experts.div_ceil(self.ep.max(1))
    }

    /// Columns of an expert's first GEMM: gate and up, or up.
    pub fn first_columns(&self) -> u64 {
        self.width() * if self.gated { 2 } else { 1 }
    }

    /// Weights per expert on this rank that the call uses.
    pub fn expert_weights(&self) -> u64 {
        let down = match self.part {
            MoePart::Whole => self.width(),
            MoePart::First => 0,
        };
        self.hidden * (self.first_columns() + down)
    }

    /// Index into `TILE_ROWS` of the tile height for the mean tokens per expert: the smallest that holds them, or
    /// else the largest.
    pub fn tile_rows(&self) -> usize {
        let mean = self.load.pairs / self.load.touched.max(1.0);
        TILE_ROWS.iter().position(|&rows| rows as f64 >= mean).unwrap_or(TILE_ROWS.len() - 1)
    }

    /// The first GEMM's tiles on the SMs. `None` if the GPU's record lacks their number.
    fn schedule(&self, gpu: &Gpu) -> Option<Schedule> {
        self.schedule_with(self.tile_rows(), gpu)
    }

    /// The first GEMM's tiles on the SMs, with the tile height at this index of `TILE_ROWS`.
    fn schedule_with(&self, place: usize, gpu: &Gpu) -> Option<Schedule> {
        let slots = gpu.sm_count().ok()? as u64;
        let columns = constants().tile_columns as u64;
        let (rows, padded) = (TILE_ROWS[place], self.load.padded[place]);
        let row_tiles = (padded / rows as f64).round() as u64;
        let column_tiles = self.first_columns().div_ceil(columns);
        let padding = padded / self.load.pairs.max(1.0);
        let tile = [rows as u32, columns as u32, constants().tile_depth as u32];
        Some(Schedule::new(tile, row_tiles.saturating_mul(column_tiles), slots, padding))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Dtype, Figure, catalog};

    fn moe(tokens: u64, ep: u64) -> Moe {
        let (experts, topk) = (8, 2);
        let load = Routing::Even.load(&Pool { tokens, experts, topk, ep });
        let (hidden, inter, tp) = (1024, 512, 2);
        let (gated, weights, part) = (true, Dtype::Bf16, MoePart::Whole);
        Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load }
    }

    fn count_on_h100(moe: &Moe) -> Count {
        moe.count(catalog().gpu("h100-sxm").expect("in the catalog")).expect("complete")
    }

    #[test]
    fn untuned_experts_are_slower_in_steps_with_many_tokens() {
        let catalog = catalog();
        let mut engine = catalog.engine("sglang").expect("in the catalog").clone();
        let b200 = catalog.gpu("b200").expect("in the catalog");
        let stretch = |engine: &Engine, tokens| {
            Moe { weights: Dtype::Fp8Block, ..moe(tokens, 1) }.stretch(b200, engine)
        };
        assert_eq!(stretch(&engine, 8192), 1.0);
        let named = engine.kernels_on(b200.arch).and_then(|choice| choice.moe(Dtype::Fp8Block, 8192, 1));
        let (kernel, times) = (named.expect("measured").clone(), Figure(Some(2.5), String::new()));
        engine.untuned = vec![UntunedExperts { weights: Dtype::Fp8Block, kernel, rows: 64, times }];
        assert!(stretch(&engine, 8192) > 1.0);
        assert_eq!(stretch(&engine, 64), 1.0);
    }

    #[test]
    fn by_hand() {
        // 256 columns of each expert on this rank: 3 * 256 * 1024 weights. 4 tokens visit all 8 experts.
        let weights = 3.0 * 256.0 * 1024.0;
        let whole = count_on_h100(&moe(4, 1));
        assert_eq!(whole.flops, Flops(2.0 * 8.0 * weights));
        assert_eq!(whole.stored, Bytes(8.0 * weights * 2.0));
        assert_eq!(whole.operands - whole.stored, Bytes(2.0 * 4.0 * 1024.0 * 2.0));
        // Two ranks: 4 pairs on 4 experts each, one token to an expert.
        let half = count_on_h100(&moe(4, 2));
        assert_eq!((half.flops, half.stored), (Flops(8.0 * weights), Bytes(8.0 * weights)));
        // The first product alone: two thirds of the weights, and its result is written.
        let first = count_on_h100(&Moe { part: MoePart::First, ..moe(4, 1) });
        assert_eq!(first.flops, Flops(2.0 * 8.0 * weights * 2.0 / 3.0));
        assert_eq!(first.operands - first.stored, Bytes((4.0 * 1024.0 + 8.0 * 512.0) * 2.0));
    }

    #[test]
    fn tiles_by_hand() {
        // 100 tokens are 200 pairs, 25 an expert: tiles of 32, one an expert; 512 columns are four tiles.
        let schedule = count_on_h100(&moe(100, 1)).schedule.expect("a launch");
        assert_eq!((schedule.tile, schedule.tasks), ([32, 128, 64], 32));
        assert_eq!(schedule.padding, 256.0 / 200.0);
    }

    #[test]
    fn experts_without_gates_have_a_third_less() {
        let (gated, plain) = (moe(4, 1), Moe { gated: false, ..moe(4, 1) });
        let (gated, plain) = (count_on_h100(&gated), count_on_h100(&plain));
        assert_eq!(plain.flops.0 * 3.0, gated.flops.0 * 2.0);
        assert_eq!(plain.stored.0 * 3.0, gated.stored.0 * 2.0);
    }
}
