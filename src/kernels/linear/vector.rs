//! The feature vector of linear attention: convolutions, and the gated delta rule.

use super::{CausalConv, DeltaRule, constants, totals};
use crate::config::catalog::numbers::power_of_kernels::constants as power;
use crate::config::kernels::{Caller, KernelId, LinearKernel};
use crate::config::{Arch, MissingFigure};
use crate::kernels::features::{DeviceSpec, Inputs, Term, flag, ln_rounding, names, vector};
use crate::kernels::{Family, FamilySpec, Launch, Phase, Sequences, parsed};
use crate::units::{BF16_BYTES, F32_BYTES};

pub const FAMILY: FamilySpec = FamilySpec {
    version: 1,
    columns: || names(&[TERMS]),
    kernel: parsed::<LinearKernel>,
    busy: power().linear_attention,
};

/// One call, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
struct Stateful {
    device: DeviceSpec,
    arch: Arch,
    kernel: LinearKernel,
    caller: Option<Caller>,
    phase: Phase,
    convolution: bool,
    sequences: f64,
    tokens: f64,
    /// Channels, or value heads.
    width: f64,
    /// Value heads that share a key head.
    group: f64,
    /// Thread blocks.
    tasks: f64,
    compute: f64,
    memory: f64,
    /// Thread blocks of a convolution, in sequence on each SM.
    issue: f64,
    /// Sequential chunk states.
    chain: f64,
    launches: f64,
    hits: f64,
    operands: f64,
    ideal: f64,
}

/// The vector of a convolution; `None` if the kernel has no learned model or there is nothing to do.
pub fn of_conv(conv: &CausalConv, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(mut call) = Stateful::new(conv, &conv.sequences, conv.phase, launch)? else { return Ok(None) };
    call.convolution = true;
    call.width = conv.channels as f64;
    let cycles = if call.in_cuda() {
        call.tasks = call.sequences * call.width;
        (call.new_tokens() / constants().conv_step).ceil() * constants().conv_step_cycles
    } else {
        let columns = (call.width / constants().conv_tile_channels).ceil();
        call.tasks = call.sequences * (call.new_tokens() / constants().conv_tile_tokens).ceil() * columns;
        constants().conv_tile_cycles
    };
    if call.phase == Phase::Prefill {
        call.issue = call.tasks / call.device.sms * cycles / call.device.clock;
    }
    Ok(Some(call.vector(call.operands)))
}

/// The vector of a delta rule; `None` if the kernel has no learned model or there is nothing to do.
pub fn of_delta(delta: &DeltaRule, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(mut call) = Stateful::new(delta, &delta.sequences, delta.phase, launch)? else {
        return Ok(None);
    };
    let (heads, value) = (delta.value_heads as f64, delta.value_dim as f64);
    let mut moved = call.operands;
    call.width = heads;
    call.group = heads / delta.key_heads as f64;
    call.tasks = call.sequences * heads * (value / constants().state_columns).ceil();
    if call.phase == Phase::Prefill {
        let chunks = (call.new_tokens() / constants().chunk).ceil();
        if call.kernel == LinearKernel::FlashInfer {
            // One fused launch, one head per thread block.
            call.tasks = call.sequences * heads;
        } else {
            let state = value * delta.key_dim as f64 * 2.0 * BF16_BYTES;
            let inverse = constants().chunk * constants().chunk * 2.0 * F32_BYTES;
            let rows = constants().chunk * value * constants().passed_rows * BF16_BYTES;
            moved += call.sequences * chunks * heads * (state + inverse + rows);
            call.launches *= constants().chunked_launches;
        }
        let waves = (call.tasks / call.device.sms).max(1.0);
        call.chain = chunks * waves * constants().chunk_cycles / call.device.clock;
    }
    Ok(Some(call.vector(moved)))
}

impl Stateful {
    /// Common to both kinds; the rest is filled in by kind.
    fn new(
        call: &dyn crate::kernels::Kernel,
        sequences: &[Sequences],
        phase: Phase,
        launch: &Launch<'_>,
    ) -> Result<Option<Self>, MissingFigure> {
        let &Launch { gpu, caller, .. } = launch;
        let Some(KernelId::Linear(kernel)) = launch.kernel else { return Ok(None) };
        if kernel == LinearKernel::Own && caller.is_none() {
            return Ok(None);
        }
        let (sequences, tokens) = totals(sequences);
        if tokens <= 0.0 {
            return Ok(None);
        }
        // Decode was measured with one token a sequence: drafts are as many sequences as read and write the same states.
        let moving = (sequences + tokens) / 2.0;
        let (sequences, tokens) = phase.choose((sequences, tokens), (moving, moving));
        let device = DeviceSpec::new(gpu, Family::LinearAttention)?;
        let count = call.count(gpu)?;
        Ok(Some(Self {
            device,
            arch: gpu.arch,
            kernel,
            caller,
            phase,
            convolution: false,
            sequences,
            tokens,
            width: 0.0,
            group: 1.0,
            tasks: 0.0,
            compute: count.compute(gpu)?.micros() / device.sustained,
            memory: 0.0,
            issue: 0.0,
            chain: 0.0,
            launches: device.micros(constants().launch_cycles),
            hits: 0.0,
            operands: count.operands.0,
            ideal: count.ideal(gpu)?.micros(),
        }))
    }

    /// The columns, given the total bytes moved.
    fn vector(mut self, moved: f64) -> Vec<f32> {
        self.hits = self.device.resident(moved);
        self.memory = self.device.read(moved, self.hits);
        vector(&[TERMS], &self, &self.device)
    }

    /// TensorRT-LLM's own code.
    fn trtllm(&self) -> bool {
        self.kernel == LinearKernel::Own && self.caller == Some(Caller::Trtllm)
    }

    /// A convolution in CUDA: a thread block per channel and sequence.
    fn in_cuda(&self) -> bool {
        self.trtllm() || self.kernel == LinearKernel::Cuda
    }

    fn new_tokens(&self) -> f64 {
        self.tokens / self.sequences
    }
}

impl Inputs for Stateful {
    fn reference(&self) -> f64 {
        self.compute.max(self.memory).max(self.issue) + self.chain + self.launches
    }
}

/// Log ratios unless noted.
const TERMS: &[Term<Stateful>] = &[
    ("reference_over_ideal", |l| l.over(l.ideal)),
    ("compute", |l| l.share(l.compute)),
    ("memory", |l| l.share(l.memory)),
    ("issue", |l| l.share(l.issue)),
    ("chain", |l| l.share(l.chain)),
    ("launches", |l| l.share(l.launches)),
    // µs.
    ("ln_reference", |l| l.reference().ln()),
    ("ln_tokens", |l| l.tokens.ln()),
    ("ln_new", |l| l.new_tokens().ln()),
    ("ln_sequences", |l| l.sequences.ln()),
    ("ln_width", |l| l.width.ln()),
    ("ln_group", |l| l.group.ln()),
    ("tasks", |l| (l.tasks / l.device.sms).ln()),
    ("rounding", |l| l.device.rounding(l.tasks)),
    ("chunk_padding", |l| ln_rounding(l.new_tokens(), constants().chunk)),
    ("operands_over_l2", |l| (l.operands / l.device.l2).ln()),
    // Share of the operands, in [0, 1].
    ("l2_hits", |l| l.hits),
    ("convolution", |l| flag(l.convolution)),
    ("decode", |l| flag(l.phase == Phase::Decode)),
    ("conv_prefill", |l| flag(l.convolution && l.phase == Phase::Prefill)),
    ("sglang", |l| flag(l.caller == Some(Caller::Sglang))),
    ("trtllm", |l| flag(l.trtllm())),
    ("cuda_conv", |l| flag(l.in_cuda() && l.convolution)),
    ("flashinfer", |l| flag(l.kernel == LinearKernel::FlashInfer)),
    ("flashinfer_on_hopper", |l| flag(l.kernel == LinearKernel::FlashInfer && l.arch == Arch::Hopper)),
    ("on_hopper", |l| flag(l.arch == Arch::Hopper)),
    ("on_blackwell", |l| flag(l.arch == Arch::Blackwell)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Kernel;
    use crate::kernels::features::checks::{column, launch_on, vector_of};

    fn on(call: &dyn Kernel, kernel: &str) -> Option<Vec<f32>> {
        let launch = launch_on("h100-sxm");
        let kernel = call.named(kernel, None, launch.gpu.arch);
        vector_of(call, &Launch { caller: Some(Caller::Sglang), kernel, ..launch })
    }

    fn sequences(count: u64, new: u64) -> Vec<Sequences> {
        vec![Sequences { count, new, past: 0 }]
    }

    fn delta(phase: Phase, count: u64, new: u64) -> DeltaRule {
        let sequences = sequences(count, new);
        DeltaRule { phase, sequences, key_heads: 4, value_heads: 8, key_dim: 128, value_dim: 128 }
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        let phase = Phase::Prefill;
        let conv = CausalConv { phase, sequences: sequences(64, 32_768), channels: 12_288, taps: 4 };
        for (call, kernel) in [
            (&conv as &dyn Kernel, "causal_conv1d_fn"),
            (&delta(Phase::Prefill, 1, 1), "chunk_gated_delta_rule_flashinfer"),
            (&delta(Phase::Decode, 1024, 1), "fused_recurrent_gated_delta_rule_packed_decode"),
        ] {
            assert!(on(call, kernel).is_some(), "{kernel}");
        }
    }

    #[test]
    fn one_long_sequence_takes_longer_than_many_short_ones() {
        let reference = column(Family::LinearAttention, "ln_reference");
        let of = |count, new| {
            on(&delta(Phase::Prefill, count, new), "chunk_gated_delta_rule").expect("learned")[reference]
        };
        assert!(of(1, 16_384) > of(64, 256) + 1.0);
    }

    #[test]
    fn unknown_kernels_and_empty_batches_have_no_row() {
        assert_eq!(on(&delta(Phase::Prefill, 1, 64), "mamba_chunk_scan"), None);
        assert_eq!(on(&delta(Phase::Prefill, 0, 64), "chunk_gated_delta_rule"), None);
    }
}
