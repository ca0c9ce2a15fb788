//! Features of attention: one vector for prompts, one for single new tokens.

use super::equivalent::Equivalent;
use super::executed::{KV_STEP, SOFTMAX_FP32, TILE_ROWS, alone, elements, executed_pairs};
pub use super::kernel::Kernel;
use super::silicon::Silicon;
use super::term::{self, Term, flag, ln_rounding, ln_share};
use super::{Family, Launching};
use crate::config::{Dtype, MissingFigure};
use crate::graph::{Attention, Phase};
use crate::kernels;

/// Raised whenever a term below changes: of prompts, and of single new tokens.
pub(super) const PREFILL_VERSION: u32 = 3;
pub(super) const DECODE_VERSION: u32 = 4;

/// What every launch takes besides its work, in cycles: launch, one pass over a tile, and the write of the
/// result. Between 13,000 and 28,000 on all measured GPUs, whatever their clock.
const SHORTEST_CYCLES: f64 = 16_000.0;
/// Query heads of one KV head that a decode tile packs.
const PACKED_HEADS: f64 = 16.0;

/// One launch, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launch {
    silicon: Silicon,
    kernel: Kernel,
    batch: Equivalent,
    heads: f64,
    kv_heads: f64,
    head_dim: f64,
    kv: Dtype,
    math: Dtype,
    /// Keys a query sees at most.
    window: f64,
    /// FLOP per µs at the sustained clock.
    rate: f64,
    /// Tensor time at the sustained clock.
    compute: f64,
    /// All operands once, from L2 as far as they stay there.
    memory: f64,
    /// Share of the operands that stays in the L2 from one launch to the next.
    hits: f64,
    /// Time that the thread blocks of single new tokens take at least.
    alone: f64,
    /// Exponentials on the special-function units, the rest of the softmax on the FP32 pipes.
    softmax: f64,
    /// What efficiency is relative to: peak rates, compulsory bytes, the launch floor.
    ideal: f64,
}

/// The row of one call, or none where no model has learned the kernel or there is nothing to attend to.
///
/// # Errors
/// Where the GPU's record lacks a figure the features need.
pub(super) fn row(
    attention: &Attention,
    launching: &Launching<'_>,
) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(kernel) = Kernel::from_name(launching.kernel) else { return Ok(None) };
    let Some(batch) = Equivalent::of(attention) else { return Ok(None) };
    let launch = Launch::new(attention, batch, kernel, launching)?;
    let own = match attention.phase {
        Phase::Prefill => PREFILL,
        Phase::Decode => DECODE,
    };
    let call = term::values(COMMON, &launch).chain(term::values(own, &launch));
    Ok(Some(call.chain(launch.silicon.identity()).collect()))
}

/// Names of the common columns and of a phase's own.
pub(super) fn names(own: &[Term<Launch>]) -> Vec<&'static str> {
    term::names(COMMON).chain(term::names(own)).collect()
}

impl Launch {
    fn new(
        attention: &Attention,
        batch: Equivalent,
        kernel: Kernel,
        launching: &Launching<'_>,
    ) -> Result<Self, MissingFigure> {
        let &Launching { gpu, math, floor, .. } = launching;
        let family = match attention.phase {
            Phase::Prefill => Family::AttentionPrefill,
            Phase::Decode => Family::AttentionDecode,
        };
        let silicon = Silicon::new(gpu, family)?;
        let count = kernels::attention::count(attention, gpu)?;
        let bandwidth = gpu.bandwidth()?;
        let ideal_compute = match count.math {
            Some(dtype) => (count.flops / gpu.peak(dtype)?).micros(),
            None => 0.0,
        };
        let rate = gpu.peak(math)?.0 * 1e-6 * silicon.sustained;
        let heads = attention.heads as f64;
        let hits = silicon.resident(count.operands.0);
        let executed = executed_pairs(attention, batch, kernel);
        let memory = silicon.read(count.operands.0, hits);
        Ok(Self {
            silicon,
            kernel,
            batch,
            heads,
            kv_heads: attention.kv_heads as f64,
            head_dim: attention.head_dim as f64,
            kv: attention.kv,
            math,
            rate,
            window: attention.window.map_or(f64::INFINITY, |window| window as f64),
            compute: 4.0 * attention.head_dim as f64 * heads * executed / rate,
            memory,
            hits,
            alone: alone(attention, &batch, kernel, &silicon, memory),
            softmax: heads * executed * (1.0 / silicon.xu + SOFTMAX_FP32 / silicon.fma)
                / (silicon.clock * silicon.sms),
            ideal: ideal_compute.max((count.bytes / bandwidth).micros()).max(floor.micros()),
        })
    }

    fn shortest(&self) -> f64 {
        SHORTEST_CYCLES / self.silicon.clock
    }

    /// Work one after another where kernels may overlap it: how well they do is learned.
    fn reference(&self) -> f64 {
        (self.compute + self.softmax).max(self.memory).max(self.alone) + self.shortest()
    }

    fn share(&self, time: f64) -> f64 {
        ln_share(time, self.reference())
    }

    fn group(&self) -> f64 {
        self.heads / self.kv_heads
    }

    /// Tiles of `rows` queries, each query head apart.
    fn tiles(&self, rows: f64) -> f64 {
        self.batch.tiles(rows, self.heads, 1.0)
    }

    /// Tiles of `rows` queries, the heads of one KV head packed together.
    fn packed_tiles(&self, rows: f64) -> f64 {
        self.batch.tiles(rows, self.kv_heads, self.group())
    }

    /// The last tile of a sequence, over all its KV, on one SM.
    fn longest_tile(&self, rows: f64) -> f64 {
        let flops = 4.0 * self.head_dim * rows * self.batch.kv_length().min(self.window + rows);
        self.share(flops * self.silicon.sms / self.rate)
    }

    /// Tiles of queries that decoding sequences fill with one each.
    fn decoding_tiles(&self) -> f64 {
        self.share(4.0 * self.head_dim * TILE_ROWS[0] * self.heads * self.batch.decoding.pairs / self.rate)
    }

    /// One sequence's keys and values of one head at one SM's share of the bandwidth.
    fn one_head(&self) -> f64 {
        let bytes = 2.0 * self.batch.kv_length() * self.head_dim * self.kv.bytes();
        self.share(bytes * self.silicon.sms / self.silicon.bandwidth)
    }

    /// Elements of all keys and values, at the pace of the SMs.
    fn elements(&self) -> f64 {
        elements(2.0 * self.batch.kv_tokens * self.kv_heads * self.head_dim, &self.silicon)
    }

    fn kv_head_tasks(&self) -> f64 {
        self.batch.sequences * self.kv_heads
    }
}

/// Columns of both families: logarithms of ratios, unless said otherwise.
const COMMON: &[Term<Launch>] = &[
    // Added to the output as it is: see training/train.py.
    ("reference_over_ideal", |l| (l.reference() / l.ideal).ln()),
    ("compute", |l| l.share(l.compute)),
    ("memory", |l| l.share(l.memory)),
    ("shortest", |l| l.share(l.shortest())),
    ("softmax", |l| l.share(l.softmax)),
    // µs.
    ("ln_reference", |l| l.reference().ln()),
    ("compute_over_memory", |l| (l.compute / l.memory).ln()),
    ("ln_tokens", |l| l.batch.tokens.ln()),
    ("ln_sequences", |l| l.batch.sequences.ln()),
    ("ln_kv_length", |l| l.batch.kv_length().ln()),
    ("ln_heads", |l| l.heads.ln()),
    ("ln_kv_heads", |l| l.kv_heads.ln()),
    ("ln_group", |l| l.group().ln()),
    ("ln_head_dim", |l| (l.head_dim / 128.0).ln()),
    ("head_dim_64", |l| flag(l.head_dim <= 64.0)),
    ("head_dim_192", |l| flag(l.head_dim == 192.0)),
    ("head_dim_256", |l| flag(l.head_dim >= 256.0)),
    ("head_dim_512", |l| flag(l.head_dim >= 512.0)),
    ("windowed", |l| flag(l.window.is_finite())),
    ("hidden", |l| (l.batch.unmasked_pairs / l.batch.pairs).ln()),
    // Share of the operands, in [0, 1].
    ("l2_hits", |l| l.hits),
    ("fp8_math", |l| flag(l.math == Dtype::Fp8)),
    ("fp8_kv", |l| flag(l.kv.math() == Dtype::Fp8)),
    ("flashinfer", |l| flag(l.kernel == Kernel::FlashInfer)),
    ("vllm_flashinfer", |l| flag(l.kernel == Kernel::VllmFlashInfer)),
    ("fa2", |l| flag(l.kernel == Kernel::Fa2)),
    ("fa3", |l| flag(matches!(l.kernel, Kernel::Fa3 | Kernel::Fa3Ampere))),
    ("fa3_ampere", |l| flag(l.kernel == Kernel::Fa3Ampere)),
    ("vllm_fa3", |l| flag(l.kernel == Kernel::VllmFa3)),
    ("trtllm_mha", |l| flag(l.kernel == Kernel::TrtllmMha)),
    ("vllm_trtllm", |l| flag(l.kernel == Kernel::VllmTrtllm)),
    ("trtllm", |l| flag(l.kernel == Kernel::Trtllm)),
    ("trtllm_flashinfer", |l| flag(l.kernel == Kernel::TrtllmFlashInfer)),
    ("vllm_fa4", |l| flag(l.kernel == Kernel::VllmFa4)),
    ("triton", |l| flag(l.kernel == Kernel::Triton)),
    ("vllm_triton", |l| flag(l.kernel == Kernel::VllmTriton)),
];

/// Prompts: tiles of queries, placed on the SMs.
pub(super) const PREFILL: &[Term<Launch>] = &[
    ("ln_new", |l| l.batch.new.ln()),
    ("prefix", |l| (l.batch.kv_length() / l.batch.new).ln()),
    ("tiles_64", |l| l.silicon.per_sm(l.tiles(TILE_ROWS[0]))),
    ("tiles_128", |l| l.silicon.per_sm(l.tiles(TILE_ROWS[1]))),
    ("packed_tiles_64", |l| l.silicon.per_sm(l.packed_tiles(TILE_ROWS[0]))),
    ("packed_tiles_128", |l| l.silicon.per_sm(l.packed_tiles(TILE_ROWS[1]))),
    ("rounding_64", |l| l.silicon.rounding(l.tiles(TILE_ROWS[0]))),
    ("rounding_128", |l| l.silicon.rounding(l.tiles(TILE_ROWS[1]))),
    ("packed_rounding_64", |l| l.silicon.rounding(l.packed_tiles(TILE_ROWS[0]))),
    ("packed_rounding_128", |l| l.silicon.rounding(l.packed_tiles(TILE_ROWS[1]))),
    ("longest_tile_64", |l| l.longest_tile(TILE_ROWS[0])),
    ("longest_tile_128", |l| l.longest_tile(TILE_ROWS[1])),
    ("padding_64", |l| ln_rounding(l.batch.new, TILE_ROWS[0])),
    ("padding_128", |l| ln_rounding(l.batch.new, TILE_ROWS[1])),
    // Of decoding sequences in the same launch: their shares of pairs and of KV tokens, in [0, 1], how many
    // there are, and tiles with one query each.
    ("decoding_pairs", |l| l.batch.decoding.pairs / l.batch.pairs),
    ("decoding_kv", |l| l.batch.decoding.pairs / l.batch.kv_tokens),
    ("decoding_tasks", |l| (l.batch.decoding.sequences * l.heads / l.silicon.sms).ln_1p()),
    ("decoding_tiles", |l| l.decoding_tiles()),
];

/// Single new tokens: KV heads of sequences, split along their length.
pub(super) const DECODE: &[Term<Launch>] = &[
    ("kv_head_tasks", |l| l.silicon.per_sm(l.kv_head_tasks())),
    ("rounding", |l| l.silicon.rounding(l.kv_head_tasks())),
    ("rounding_of_two", |l| ln_rounding(l.kv_head_tasks(), 2.0 * l.silicon.sms)),
    ("head_tasks", |l| l.silicon.per_sm(l.batch.sequences * l.heads)),
    ("head_rounding", |l| l.silicon.rounding(l.batch.sequences * l.heads)),
    ("one_head", |l| l.one_head()),
    ("head_padding", |l| ln_rounding(l.group(), PACKED_HEADS)),
    ("more_than_packed", |l| flag(l.group() > PACKED_HEADS)),
    ("kv_steps", |l| (l.batch.kv_length() / KV_STEP).ln()),
    ("alone", |l| l.share(l.alone)),
    ("elements", |l| l.share(l.elements())),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::graph::Sequences;
    use crate::units::Seconds;

    fn call(phase: Phase, sequences: &[(u64, u64, u64)]) -> Attention {
        let sequences = sequences.iter().map(|&(count, new, past)| Sequences { count, new, past }).collect();
        Attention { phase, sequences, heads: 32, kv_heads: 8, head_dim: 128, kv: Dtype::Bf16, window: None }
    }

    fn on(gpu: &str, kernel: &str, attention: &Attention) -> Option<Vec<f32>> {
        let gpu = catalog().gpu(gpu).expect("in the catalog");
        let floor = Seconds(1.5e-6);
        let launching = Launching { gpu, engine: "sglang", kernel, math: Dtype::Bf16, floor };
        row(attention, &launching).expect("complete record")
    }

    fn h100(attention: &Attention) -> Vec<f32> {
        on("h100-sxm", "fa3", attention).expect("learned kernel")
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        for (phase, family) in
            [(Phase::Prefill, Family::AttentionPrefill), (Phase::Decode, Family::AttentionDecode)]
        {
            for sequences in [(1, 1, 0), (1, 1, 131_071), (256, 1, 4095), (7, 4096, 0), (2, 512, 8192)] {
                let row = h100(&call(phase, &[sequences]));
                assert_eq!(row.len(), family.schema().names.len());
                assert!(row.iter().all(|value| value.is_finite()), "{sequences:?} {row:?}");
            }
        }
    }

    #[test]
    fn alike_sequences_make_one_row_however_grouped() {
        let whole = h100(&call(Phase::Decode, &[(64, 1, 2000)]));
        let parts = h100(&call(Phase::Decode, &[(40, 1, 2000), (24, 1, 2000)]));
        assert_eq!(whole, parts);
    }

    #[test]
    fn a_longer_history_takes_longer() {
        let column = Family::AttentionDecode.schema().names;
        let reference = column.iter().position(|name| *name == "ln_reference").expect("a column");
        let of = |past| h100(&call(Phase::Decode, &[(16, 1, past)]))[reference];
        assert!(of(1000) < of(2000) && of(2000) < of(8000));
    }

    #[test]
    fn unknown_kernels_and_empty_batches_have_no_row() {
        let some = call(Phase::Decode, &[(1, 1, 9)]);
        assert_eq!(on("h100-sxm", "no such kernel", &some), None);
        assert_eq!(on("h100-sxm", "fa3", &call(Phase::Decode, &[])), None);
    }
}
