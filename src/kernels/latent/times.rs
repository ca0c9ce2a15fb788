//! Times of a block's launches, each by its limiting pipe.

use super::block::{BlockPart, LatentModule, PartKind};
use super::{AttendedSpan, constants};
use crate::config::kernels::{Caller, LatentKernel};
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::kernels::Phase;
use crate::kernels::features::{DeviceSpec, Equivalent};

/// Scores are f32, written by the indexer and read by the selection.
const SCORE_BYTES: f64 = 2.0 * 4.0;
/// Element-wise kernels read and write bf16.
const ELEMENT_BYTES: f64 = 2.0 * 2.0;
/// A block and its launch.
#[derive(Debug, Clone, Copy)]
pub struct BlockWork<'a> {
    pub module: &'a LatentModule,
    pub kernel: LatentKernel,
    pub parts: &'a [BlockPart],
    /// Attends to selected tokens only.
    pub sparse: bool,
    /// Runs an indexer.
    pub indexes: bool,
    /// The format of attention's products.
    pub math: Dtype,
    /// Share of weights and cache in L2.
    pub hits: f64,
    /// Pairs that are computed.
    pub span: AttendedSpan,
    pub batch: Equivalent,
}

/// Sums over the launches of a block.
#[derive(Debug, Clone, Copy, Default)]
pub struct BlockTimes {
    /// Each GEMM at the longer of its tensor and memory time.
    pub projections: f64,
    pub projection_compute: f64,
    pub projection_memory: f64,
    pub absorption: f64,
    pub attention: f64,
    pub attention_compute: f64,
    pub attention_memory: f64,
    pub softmax: f64,
    /// Time of one sequence on one SM, if the kernel does not split it.
    pub serial: f64,
    pub scores: f64,
    /// Top-k selection.
    pub choice: f64,
    /// Element-wise kernels.
    pub elements: f64,
    pub launches: f64,
    /// Host time, if the block was measured launch by launch.
    pub dispatch: f64,
}

impl BlockTimes {
    pub fn of(work: &BlockWork<'_>, device: &DeviceSpec, gpu: &Gpu) -> Result<Self, MissingFigure> {
        let &BlockWork { module, kernel, indexes, math, hits, span, batch, .. } = work;
        let mut times = Self::default();
        for part in work.parts {
            let count = &part.count;
            let activations = (count.operands - count.stored).0;
            let memory =
                device.read(count.stored.0, hits) + device.read(activations, device.resident(activations));
            let compute = count.compute(gpu)?.micros() / device.sustained;
            match part.kind {
                PartKind::Projection => {
                    times.projections += compute.max(memory);
                    times.projection_compute += compute;
                    times.projection_memory += memory;
                }
                PartKind::Absorption => times.absorption += compute.max(memory),
                PartKind::Scores => times.scores += compute.max(memory),
                PartKind::Attention => {
                    let peak = (count.flops / gpu.peak(math)?).micros();
                    times.attention_compute = peak / device.sustained;
                    times.attention_memory = memory;
                }
            }
        }
        let heads = module.heads.heads as f64;
        let pairs = heads * span.pairs / (device.clock * device.sms);
        times.softmax = pairs * (1.0 / device.xu + constants().softmax_fp32 / device.fma);
        let length = batch.past + batch.new;
        times.serial = device.micros(kernel.serial_cycles(module.phase, gpu.arch, length));
        times.attention =
            (times.attention_compute + times.softmax).max(times.attention_memory).max(times.serial);
        let widths = module.hidden + module.query_rank.unwrap_or(0) + module.heads.cached();
        let elements = widths as f64 + heads * (module.heads.key() + module.heads.value) as f64;
        let elements = batch.tokens * elements * ELEMENT_BYTES;
        times.elements = device.read(elements, device.resident(elements));
        if indexes && span.pairs < batch.pairs {
            let scores = batch.pairs * SCORE_BYTES;
            times.choice = device.read(scores, device.resident(scores));
        }
        let quantises = module.weights.math() != Dtype::Bf16;
        let launches = constants().launches
            + if quantises { constants().quantise_launches } else { 0.0 }
            + if indexes { constants().indexer_launches } else { 0.0 };
        times.launches = device.micros(launches * constants().launch_cycles);
        if work.sparse && module.phase == Phase::Prefill {
            times.dispatch = dispatch(kernel, module, indexes);
        }
        Ok(times)
    }

    /// Time of all parts in sequence.
    pub fn work(&self) -> f64 {
        let work = self.projections + self.absorption + self.attention + self.scores + self.choice;
        work + self.elements + self.launches
    }

    /// The same, but not less than the host needs.
    pub fn total(&self) -> f64 {
        self.work().max(self.dispatch)
    }
}

/// Host time of a sparse prefill block, in µs: vLLM and SGLang launch it kernel by kernel, and it was measured that
/// way. Read off the flat part of the tables.
fn dispatch(kernel: LatentKernel, module: &LatentModule, indexes: bool) -> f64 {
    let quantised = module.weights.math() != Dtype::Bf16;
    match (kernel.caller(), quantised, indexes) {
        (Caller::Trtllm, ..) => 0.0,
        (Caller::Vllm, false, _) => constants().vllm_dispatch_us,
        (Caller::Vllm, true, _) => constants().vllm_quantised_dispatch_us,
        (Caller::Sglang, false, false) => constants().sglang_dispatch_us,
        (Caller::Sglang, false, true) | (Caller::Sglang, true, false) => {
            constants().sglang_one_more_dispatch_us
        }
        (Caller::Sglang, true, true) => constants().sglang_both_dispatch_us,
    }
}
