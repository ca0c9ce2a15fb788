//! The feature vector of the latent attention kernel, for prefill and decode.

use super::{AttendedSpan, Form, LatentAttention, attention, constants};
use crate::config::catalog::numbers::power_of_kernels::constants as power;
use crate::config::kernels::{KernelId, LatentKernel};
use crate::config::{Arch, Dtype, MissingFigure};
use crate::kernels::features::{DeviceSpec, Equivalent, Inputs, TILE_ROWS, Term, flag, names, vector};
use crate::kernels::{Family, FamilySpec, Kernel as _, Launch, Phase, parsed};

pub const FAMILY: FamilySpec = FamilySpec {
    version: 1,
    columns: || names(&[TERMS]),
    kernel: parsed::<LatentKernel>,
    busy: power().latent_attention,
};

/// One launch, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
struct Attended {
    device: DeviceSpec,
    arch: Arch,
    kernel: LatentKernel,
    phase: Phase,
    form: Form,
    batch: Equivalent,
    heads: f64,
    /// FLOP per head and query-key pair.
    pair: f64,
    /// Cached bytes per token.
    cached: f64,
    kv: Dtype,
    math: Dtype,
    /// FLOP per µs at the sustained clock.
    rate: f64,
    /// Tensor time at the sustained clock.
    compute: f64,
    /// All operands once, partly from L2.
    memory: f64,
    /// Share of the operands that stay in L2 between launches.
    hits: f64,
    /// Exponentials on the special-function units, the rest of the softmax on the FP32 pipes.
    softmax: f64,
    /// Widening an FP8 cache.
    widening: f64,
    /// One sequence on one SM, if the kernel does not split it.
    serial: f64,
    /// What a launch takes besides its work.
    shortest: f64,
    ideal: f64,
}

/// The vector of one call; `None` if the kernel has no learned model or there is nothing to attend to.
pub fn of(call: &LatentAttention, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(KernelId::Latent(kernel)) = launch.kernel else { return Ok(None) };
    let batch = match call.reach {
        Some(reach) => Equivalent::of_reach(&call.sequences, reach, AttendedSpan::of_call(call)),
        None => Equivalent::of_sequences(&call.sequences),
    };
    let Some(batch) = batch else { return Ok(None) };
    let inputs = Attended::new(call, batch, kernel, launch)?;
    Ok(Some(vector(&[TERMS], &inputs, &inputs.device)))
}

/// Tiles of `rows` queries: separate heads if keys are expanded, packed if they share latents.
pub fn query_tiles(batch: &Equivalent, form: Form, heads: f64, rows: f64) -> f64 {
    match form {
        Form::Expanded => batch.tiles(rows, heads, 1.0),
        Form::Absorbed => batch.tiles(rows, 1.0, heads),
    }
}

impl Attended {
    fn new(
        call: &LatentAttention,
        batch: Equivalent,
        kernel: LatentKernel,
        launch: &Launch<'_>,
    ) -> Result<Self, MissingFigure> {
        let gpu = launch.gpu;
        let device = DeviceSpec::new(gpu, Family::Mla)?;
        let form = if call.reach.is_some() { Form::Absorbed } else { kernel.form(call.phase) };
        let math = gpu.math_or_bf16(kernel.math(call.kv));
        let rate = gpu.peak(math)?.0 * 1e-6 * device.sustained;
        let count = attention(&call.heads, AttendedSpan::of_call(call), call.kv, form, gpu)?;
        let hits = device.resident(count.operands.0);
        let heads = call.heads.heads as f64;
        let cached = call.heads.cached() as f64 * call.kv.bytes();
        let widens = kernel == LatentKernel::SglangFa3 && call.kv.math() == Dtype::Fp8;
        let widened =
            if widens { (batch.kv_tokens - batch.tokens) * cached * constants().widening_bytes } else { 0.0 };
        let softmax = 1.0 / device.xu + constants().softmax_fp32 / device.fma;
        Ok(Self {
            device,
            arch: gpu.arch,
            kernel,
            phase: call.phase,
            form,
            batch,
            heads,
            pair: count.flops.0 / (heads * batch.pairs),
            cached,
            kv: call.kv,
            math,
            rate,
            compute: count.flops.0 / rate,
            memory: device.read(count.operands.0, hits),
            hits,
            softmax: heads * batch.pairs * softmax / (device.clock * device.sms),
            widening: widened / device.bandwidth,
            serial: device.micros(kernel.serial_cycles(call.phase, gpu.arch, batch.past + batch.new)),
            shortest: device.micros(constants().shortest_cycles),
            ideal: call.count(gpu)?.ideal(gpu)?.micros(),
        })
    }

    fn tiles(&self, rows: f64) -> f64 {
        query_tiles(&self.batch, self.form, self.heads, rows)
    }

    /// Padded rows over rows.
    fn padding(&self, rows: f64) -> f64 {
        (self.tiles(rows) * rows / (self.batch.new * self.batch.sequences * self.heads)).ln()
    }

    /// The last tile of a sequence, over its whole KV, on one SM.
    fn longest_tile(&self, rows: f64) -> f64 {
        self.share(self.pair * rows * self.batch.kv_length() * self.device.sms / self.rate)
    }

    /// One sequence's latents at one SM's share of the bandwidth.
    fn one_sequence(&self) -> f64 {
        self.share(self.batch.kv_length() * self.cached * self.device.sms / self.device.bandwidth)
    }

    /// Steps along the KV length of all tiles, over the SMs.
    fn steps(&self) -> f64 {
        (self.tiles(TILE_ROWS[0]) * (self.batch.kv_length() / constants().kv_step).ceil() / self.device.sms)
            .ln()
    }
}

impl Inputs for Attended {
    /// The resources' times in sequence; how well kernels overlap them is learned.
    fn reference(&self) -> f64 {
        (self.compute + self.softmax).max(self.memory).max(self.serial) + self.widening + self.shortest
    }
}

/// Log ratios unless noted.
const TERMS: &[Term<Attended>] = &[
    ("reference_over_ideal", |l| l.over(l.ideal)),
    ("compute", |l| l.share(l.compute)),
    ("memory", |l| l.share(l.memory)),
    ("shortest", |l| l.share(l.shortest)),
    ("softmax", |l| l.share(l.softmax)),
    ("widening", |l| l.share(l.widening)),
    ("serial", |l| l.share(l.serial)),
    // µs.
    ("ln_reference", |l| l.reference().ln()),
    ("compute_over_memory", |l| (l.compute / l.memory).ln()),
    ("ln_tokens", |l| l.batch.tokens.ln()),
    ("ln_new", |l| l.batch.new.ln()),
    ("ln_sequences", |l| l.batch.sequences.ln()),
    ("ln_kv_length", |l| l.batch.kv_length().ln()),
    ("prefix", |l| (l.batch.kv_length() / l.batch.new).ln()),
    ("ln_heads", |l| l.heads.ln()),
    ("tasks_64", |l| l.device.per_sm(l.tiles(TILE_ROWS[0]))),
    ("tasks_128", |l| l.device.per_sm(l.tiles(TILE_ROWS[1]))),
    ("rounding_64", |l| l.device.rounding(l.tiles(TILE_ROWS[0]))),
    ("rounding_128", |l| l.device.rounding(l.tiles(TILE_ROWS[1]))),
    ("padding_64", |l| l.padding(TILE_ROWS[0])),
    ("padding_128", |l| l.padding(TILE_ROWS[1])),
    ("longest_tile_64", |l| l.longest_tile(TILE_ROWS[0])),
    ("longest_tile_128", |l| l.longest_tile(TILE_ROWS[1])),
    ("sequence_rounding", |l| l.device.rounding(l.batch.sequences)),
    ("one_sequence", |l| l.one_sequence()),
    ("steps", |l| l.steps()),
    // Share of the operands, in [0, 1].
    ("l2_hits", |l| l.hits),
    ("decode", |l| flag(l.phase == Phase::Decode)),
    ("absorbed", |l| flag(l.form == Form::Absorbed)),
    ("fp8_math", |l| flag(l.math == Dtype::Fp8)),
    ("fp8_kv", |l| flag(l.kv.math() == Dtype::Fp8)),
    ("sglang_fa3", |l| flag(l.kernel == LatentKernel::SglangFa3)),
    ("sglang_trtllm", |l| flag(l.kernel == LatentKernel::SglangTrtllm)),
    ("triton", |l| flag(matches!(l.kernel, LatentKernel::SglangTriton | LatentKernel::VllmTriton))),
    ("trtllm", |l| flag(l.kernel == LatentKernel::Trtllm)),
    ("on_hopper", |l| flag(l.arch == Arch::Hopper)),
    ("on_blackwell", |l| flag(l.arch == Arch::Blackwell)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::features::checks::{column, vector_on};
    use crate::kernels::{LatentHeads, Sequences};

    const HEADS: LatentHeads = LatentHeads { heads: 16, latent: 512, rope: 64, nope: 128, value: 128 };

    fn on(gpu: &str, kernel: &str, phase: Phase, group: (u64, u64, u64), kv: Dtype) -> Option<Vec<f32>> {
        let (count, new, past) = group;
        let sequences = vec![Sequences { count, new, past }];
        let call = LatentAttention { phase, sequences, heads: HEADS, kv, reach: None };
        vector_on(gpu, kernel, &call)
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        for kernel in ["default", "flash_attention", "triton", "trtllm_mla"] {
            for (phase, group) in [
                (Phase::Prefill, (1, 1, 0)),
                (Phase::Prefill, (256, 32_768, 0)),
                (Phase::Decode, (1, 1, 1)),
                (Phase::Decode, (1024, 1, 131_071)),
            ] {
                for kv in [Dtype::Bf16, Dtype::Fp8] {
                    assert!(on("h100-sxm", kernel, phase, group, kv).is_some(), "{kernel}");
                }
            }
        }
    }

    #[test]
    fn attending_to_latents_takes_longer_than_to_expanded_keys() {
        let reference = column(Family::Mla, "ln_reference");
        let of = |kernel| on("h100-sxm", kernel, Phase::Prefill, (4, 4096, 0), Dtype::Bf16).expect("learned");
        assert!(of("flash_attention")[reference] > of("default")[reference] + 0.5);
    }

    #[test]
    fn decoding_streams_the_cache_once_for_all_heads() {
        // 64 sequences of 8192 tokens of 1152 bytes: 604 MB, 180 µs at 3.35 TB/s, and the launch.
        let row = on("h100-sxm", "default", Phase::Decode, (64, 1, 8191), Dtype::Bf16).expect("learned");
        let reference = row[column(Family::Mla, "ln_reference")].exp();
        assert!((180.0..200.0).contains(&reference), "{reference}");
    }

    #[test]
    fn unknown_kernels_have_no_row() {
        assert_eq!(on("h100-sxm", "fa3", Phase::Decode, (1, 1, 9), Dtype::Bf16), None);
    }
}
