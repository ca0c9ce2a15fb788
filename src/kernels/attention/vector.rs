//! The feature vectors of attention, for prefill and for decode.

use super::executed::{alone, elements, executed_pairs};
use super::{Attention, constants};
use crate::config::catalog::numbers::power_of_kernels::constants as power;
use crate::config::kernels::{AttentionKernel, KernelId};
use crate::config::{Dtype, MissingFigure};
use crate::kernels::features::{
    DeviceSpec, Equivalent, Inputs, TILE_ROWS, Term, flag, ln_rounding, names, vector,
};
use crate::kernels::{Family, FamilySpec, Kernel, Launch, Phase, parsed};

pub const PREFILL: FamilySpec = FamilySpec {
    version: 3,
    columns: || names(PREFILL_COLUMNS),
    kernel: parsed::<AttentionKernel>,
    busy: power().attention_prefill,
};
pub const DECODE: FamilySpec = FamilySpec {
    version: 4,
    columns: || names(DECODE_COLUMNS),
    kernel: parsed::<AttentionKernel>,
    busy: power().attention_decode,
};

/// One launch, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
struct Attended {
    device: DeviceSpec,
    kernel: AttentionKernel,
    batch: Equivalent,
    /// Query heads; in decode times the tokens of a sequence, which read its keys together.
    heads: f64,
    kv_heads: f64,
    head_dim: f64,
    kv: Dtype,
    math: Dtype,
    /// Keys visible to a query.
    window: f64,
    /// FLOP per µs at the sustained clock.
    rate: f64,
    /// Tensor time at the sustained clock.
    compute: f64,
    /// All operands once, partly from L2.
    memory: f64,
    /// Share of the operands that stay in L2 between launches.
    hits: f64,
    /// Minimum time of decode thread blocks.
    alone: f64,
    /// Exponentials on the special-function units, the rest of the softmax on the FP32 pipes.
    softmax: f64,
    /// What a launch takes besides its work.
    shortest: f64,
    ideal: f64,
}

/// The vector of one call; `None` if the kernel has no learned model or there is nothing to attend to.
pub fn of(attention: &Attention, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(KernelId::Attention(kernel)) = launch.kernel else { return Ok(None) };
    let Some(batch) = Equivalent::of(attention) else { return Ok(None) };
    let call = Attended::new(attention, batch, kernel, launch)?;
    Ok(Some(vector(attention.phase.choose(PREFILL_COLUMNS, DECODE_COLUMNS), &call, &call.device)))
}

impl Attended {
    fn new(
        attention: &Attention,
        batch: Equivalent,
        kernel: AttentionKernel,
        launch: &Launch<'_>,
    ) -> Result<Self, MissingFigure> {
        let &Launch { gpu, math, .. } = launch;
        let family = attention.phase.choose(Family::AttentionPrefill, Family::AttentionDecode);
        let device = DeviceSpec::new(gpu, family)?;
        let count = attention.count(gpu)?;
        let rate = gpu.peak(math)?.0 * 1e-6 * device.sustained;
        let heads = attention.heads as f64;
        let hits = device.resident(count.operands.0);
        let executed = executed_pairs(attention, batch, kernel);
        let memory = device.read(count.operands.0, hits);
        // Decode was measured with one token a sequence: more tokens are to the kernel what more heads are. Which code
        // it runs, and so its least time, depends on the model's heads.
        let (tokens, batch) = match attention.phase {
            Phase::Prefill => (1.0, batch),
            Phase::Decode => (batch.new, batch.packed()),
        };
        Ok(Self {
            device,
            kernel,
            batch,
            heads: heads * tokens,
            kv_heads: attention.kv_heads as f64,
            head_dim: attention.head_dim as f64,
            kv: attention.kv,
            math,
            rate,
            window: attention.window.map_or(f64::INFINITY, |window| window as f64),
            compute: 4.0 * attention.head_dim as f64 * heads * executed / rate,
            memory,
            hits,
            alone: alone(attention, &batch, kernel, &device, memory),
            softmax: heads * executed * (1.0 / device.xu + constants().softmax_fp32 / device.fma)
                / (device.clock * device.sms),
            shortest: device.micros(constants().shortest_cycles),
            ideal: count.ideal(gpu)?.micros(),
        })
    }

    fn group(&self) -> f64 {
        self.heads / self.kv_heads
    }

    /// Tiles of `rows` queries, with separate query heads.
    fn tiles(&self, rows: f64) -> f64 {
        self.batch.tiles(rows, self.heads, 1.0)
    }

    /// Tiles of `rows` queries, the heads of one KV head packed together.
    fn packed_tiles(&self, rows: f64) -> f64 {
        self.batch.tiles(rows, self.kv_heads, self.group())
    }

    /// The last tile of a sequence, over its whole KV, on one SM.
    fn longest_tile(&self, rows: f64) -> f64 {
        let flops = 4.0 * self.head_dim * rows * self.batch.kv_length().min(self.window + rows);
        self.share(flops * self.device.sms / self.rate)
    }

    /// Query tiles of decoding sequences, filled with one query each.
    fn decoding_tiles(&self) -> f64 {
        self.share(4.0 * self.head_dim * TILE_ROWS[0] * self.heads * self.batch.decoding.pairs / self.rate)
    }

    /// One sequence and head's keys and values at one SM's share of the bandwidth.
    fn one_head(&self) -> f64 {
        let bytes = 2.0 * self.batch.kv_length() * self.head_dim * self.kv.bytes();
        self.share(bytes * self.device.sms / self.device.bandwidth)
    }

    /// All key and value elements, at the SMs' speed.
    fn elements(&self) -> f64 {
        elements(2.0 * self.batch.kv_tokens * self.kv_heads * self.head_dim, &self.device)
    }

    fn kv_head_tasks(&self) -> f64 {
        self.batch.sequences * self.kv_heads
    }
}

impl Inputs for Attended {
    /// The resources' times in sequence; how well kernels overlap them is learned.
    fn reference(&self) -> f64 {
        (self.compute + self.softmax).max(self.memory).max(self.alone) + self.shortest
    }
}

const PREFILL_COLUMNS: &[&[Term<Attended>]] = &[COMMON, TILED];
const DECODE_COLUMNS: &[&[Term<Attended>]] = &[COMMON, SPLIT];

/// Columns of both families: log ratios unless noted.
const COMMON: &[Term<Attended>] = &[
    ("reference_over_ideal", |l| l.over(l.ideal)),
    ("compute", |l| l.share(l.compute)),
    ("memory", |l| l.share(l.memory)),
    ("shortest", |l| l.share(l.shortest)),
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
    ("flashinfer", |l| flag(l.kernel == AttentionKernel::FlashInfer)),
    ("vllm_flashinfer", |l| flag(l.kernel == AttentionKernel::VllmFlashInfer)),
    ("fa2", |l| flag(l.kernel == AttentionKernel::Fa2)),
    ("fa3", |l| flag(matches!(l.kernel, AttentionKernel::Fa3 | AttentionKernel::Fa3Ampere))),
    ("fa3_ampere", |l| flag(l.kernel == AttentionKernel::Fa3Ampere)),
    ("vllm_fa3", |l| flag(l.kernel == AttentionKernel::VllmFa3)),
    ("trtllm_mha", |l| flag(l.kernel == AttentionKernel::TrtllmMha)),
    ("vllm_trtllm", |l| flag(l.kernel == AttentionKernel::VllmTrtllm)),
    ("trtllm", |l| flag(l.kernel == AttentionKernel::Trtllm)),
    ("trtllm_flashinfer", |l| flag(l.kernel == AttentionKernel::TrtllmFlashInfer)),
    ("vllm_fa4", |l| flag(l.kernel == AttentionKernel::VllmFa4)),
    ("triton", |l| flag(l.kernel == AttentionKernel::Triton)),
    ("vllm_triton", |l| flag(l.kernel == AttentionKernel::VllmTriton)),
];

/// Prefill: tiles of queries, placed on the SMs.
const TILED: &[Term<Attended>] = &[
    ("ln_new", |l| l.batch.new.ln()),
    ("prefix", |l| (l.batch.kv_length() / l.batch.new).ln()),
    ("tiles_64", |l| l.device.per_sm(l.tiles(TILE_ROWS[0]))),
    ("tiles_128", |l| l.device.per_sm(l.tiles(TILE_ROWS[1]))),
    ("packed_tiles_64", |l| l.device.per_sm(l.packed_tiles(TILE_ROWS[0]))),
    ("packed_tiles_128", |l| l.device.per_sm(l.packed_tiles(TILE_ROWS[1]))),
    ("rounding_64", |l| l.device.rounding(l.tiles(TILE_ROWS[0]))),
    ("rounding_128", |l| l.device.rounding(l.tiles(TILE_ROWS[1]))),
    ("packed_rounding_64", |l| l.device.rounding(l.packed_tiles(TILE_ROWS[0]))),
    ("packed_rounding_128", |l| l.device.rounding(l.packed_tiles(TILE_ROWS[1]))),
    ("longest_tile_64", |l| l.longest_tile(TILE_ROWS[0])),
    ("longest_tile_128", |l| l.longest_tile(TILE_ROWS[1])),
    ("padding_64", |l| ln_rounding(l.batch.new, TILE_ROWS[0])),
    ("padding_128", |l| ln_rounding(l.batch.new, TILE_ROWS[1])),
    // For decoding sequences in the same launch: their shares of pairs and KV tokens, in [0, 1], their number, and
    // tiles with one query each.
    ("decoding_pairs", |l| l.batch.decoding.pairs / l.batch.pairs),
    ("decoding_kv", |l| l.batch.decoding.pairs / l.batch.kv_tokens),
    ("decoding_tasks", |l| (l.batch.decoding.sequences * l.heads / l.device.sms).ln_1p()),
    ("decoding_tiles", |l| l.decoding_tiles()),
];

/// Decode: KV heads of sequences, split along their length.
const SPLIT: &[Term<Attended>] = &[
    ("kv_head_tasks", |l| l.device.per_sm(l.kv_head_tasks())),
    ("rounding", |l| l.device.rounding(l.kv_head_tasks())),
    ("rounding_of_two", |l| ln_rounding(l.kv_head_tasks(), 2.0 * l.device.sms)),
    ("head_tasks", |l| l.device.per_sm(l.batch.sequences * l.heads)),
    ("head_rounding", |l| l.device.rounding(l.batch.sequences * l.heads)),
    ("one_head", |l| l.one_head()),
    ("head_padding", |l| ln_rounding(l.group(), constants().packed_heads)),
    ("more_than_packed", |l| flag(l.group() > constants().packed_heads)),
    ("kv_steps", |l| (l.batch.kv_length() / constants().kv_step).ln()),
    ("alone", |l| l.share(l.alone)),
    ("elements", |l| l.share(l.elements())),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Sequences;
    use crate::kernels::features::checks::{column, launch_on, vector_of};

    fn call(phase: Phase, sequences: &[(u64, u64, u64)]) -> Attention {
        let sequences = sequences.iter().map(|&(count, new, past)| Sequences { count, new, past }).collect();
        Attention { phase, sequences, heads: 32, kv_heads: 8, head_dim: 128, kv: Dtype::Bf16, window: None }
    }

    fn on(gpu: &str, kernel: Option<AttentionKernel>, attention: &Attention) -> Option<Vec<f32>> {
        let kernel = kernel.map(KernelId::Attention);
        vector_of(attention, &Launch { kernel, ..launch_on(gpu) })
    }

    fn h100(attention: &Attention) -> Vec<f32> {
        on("h100-sxm", Some(AttentionKernel::Fa3), attention).expect("learned kernel")
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        for phase in [Phase::Prefill, Phase::Decode] {
            for sequences in [(1, 1, 0), (1, 1, 131_071), (256, 1, 4095), (7, 4096, 0), (2, 512, 8192)] {
                h100(&call(phase, &[sequences]));
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
        let reference = column(Family::AttentionDecode, "ln_reference");
        let of = |past| h100(&call(Phase::Decode, &[(16, 1, past)]))[reference];
        assert!(of(1000) < of(2000) && of(2000) < of(8000));
    }

    #[test]
    fn drafts_are_to_decode_what_heads_are() {
        let drafted = call(Phase::Decode, &[(16, 4, 8000)]);
        let more_heads = Attention { heads: 128, ..call(Phase::Decode, &[(16, 1, 8003)]) };
        let names = Family::AttentionDecode.schema().names;
        // The drafts' keys are written, too.
        for ((name, a), b) in names.iter().zip(h100(&drafted)).zip(h100(&more_heads)) {
            assert!((a - b).abs() < 0.01, "{name}: {a} {b}");
        }
    }

    #[test]
    fn unknown_kernels_and_empty_batches_have_no_row() {
        let some = call(Phase::Decode, &[(1, 1, 9)]);
        assert_eq!(on("h100-sxm", None, &some), None);
        assert_eq!(on("h100-sxm", Some(AttentionKernel::Fa3), &call(Phase::Decode, &[])), None);
    }
}
