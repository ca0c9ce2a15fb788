//! Linear attention: layers with a state of constant size (gated delta net, Mamba). Convolutions move bytes; the
//! delta rule and the scan update the state. States of recurrences, gates and step sizes are FP32: no kernel was measured
//! with states in another format.

#[cfg(feature = "tools")]
pub mod measured;
mod vector;

pub use vector::FAMILY;

use super::sequences::{first_group, lengths, number, tokens};
use super::{CallPoint, Count, Family, Kernel, Launch, Phase, Sequences};
use crate::config::catalog::numbers::eager_launches;
pub(super) use crate::config::catalog::numbers::linear::constants;
use crate::config::kernels::LinearKernel;
use crate::config::{Dtype, Engine, Gpu, MissingFigure};
use crate::units::{BF16_BYTES, Bytes, F32_BYTES, Flops};

/// A depthwise causal convolution along the sequence, with activation: each channel over its last `taps` tokens,
/// with those before this step kept as state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CausalConv {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    /// Channels on this rank.
    pub channels: u64,
    pub taps: u64,
}

/// The gated delta rule: each value head has a `key_dim` by `value_dim` matrix, decayed and corrected by each token
/// and read by its query. Chunked in prefill, token by token in decode.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeltaRule {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    /// Heads of queries and keys on this rank; each serves `value_heads / key_heads` states.
    pub key_heads: u64,
    /// Heads of values, and states, on this rank.
    pub value_heads: u64,
    pub key_dim: u64,
    pub value_dim: u64,
}

/// The Mamba state-space scan: each head has a `head_dim` by `state` matrix, decayed and updated by each token.
/// Chunked in prefill, token by token in decode.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scan {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    /// Heads on this rank.
    pub heads: u64,
    pub head_dim: u64,
    /// Groups of heads on this rank that share their input and output matrices.
    pub groups: u64,
    pub state: u64,
}

/// Number of sequences, and their new tokens.
fn totals(sequences: &[Sequences]) -> (f64, f64) {
    (number(sequences) as f64, tokens(sequences) as f64)
}

/// States that a call writes: one per sequence after a prompt, one per token in decode, where a step that verifies drafts has to be able
/// to go on after each of them (vLLM's `ssm_state_indices`, SGLang's `intermediate_ssm`).
fn states_written(sequences: &[Sequences], phase: Phase) -> f64 {
    let (sequences, tokens) = totals(sequences);
    phase.choose(sequences, tokens)
}

impl Kernel for CausalConv {
    /// Each token read and written once, weights once, each sequence's state read and written. Its few
    /// multiply-adds hide behind the bytes.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let (sequences, tokens) = totals(&self.sequences);
        let (channels, taps) = (self.channels as f64, self.taps as f64);
        let state = channels * (taps - 1.0) * BF16_BYTES;
        let (read, written) = (sequences * state, states_written(&self.sequences, self.phase) * state);
        let weights = channels * taps * BF16_BYTES;
        let activations = 2.0 * tokens * channels * BF16_BYTES + written;
        Count::new(Flops::ZERO, None, Bytes(read + weights), Bytes(activations), gpu)
    }

    fn shape(&self) -> String {
        format!("{}, {} channels", lengths(&self.sequences), self.channels)
    }

    fn family(&self) -> Option<Family> {
        Some(Family::LinearAttention)
    }

    /// All engines use the same names for convolutions.
    fn served<'a>(&self, engine: &'a Engine, launch: Launch<'a>) -> Option<Launch<'a>> {
        engine.variants_on(launch.gpu.arch)?;
        let name = self.phase.choose("causal_conv1d_fn", "causal_conv1d_update");
        Some(Launch { name, kernel: Some(LinearKernel::Own.into()), ..launch })
    }

    fn vector(&self, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        vector::of_conv(self, launch)
    }

    fn point(&self) -> CallPoint {
        let shape = [self.channels, 0, number(&self.sequences), self.phase as u64];
        CallPoint { shape, size: first_group(&self.sequences) }
    }

    fn formats(&self, _: Dtype) -> String {
        format!("{} convolution", self.phase.id())
    }
}

impl Kernel for DeltaRule {
    /// Per token and value head, with keys of `k` and values of `v` elements: the state is corrected, read and
    /// updated (`6 k v` FLOP); chunks of `c` tokens add the products within them, halved by the causal mask: keys
    /// with keys, queries with keys, and both through the triangular inverse (`c (3 k + 2 v)`). Decode does only
    /// the first part. Arithmetic of the decode kernel runs on the FP32 pipes behind the state's bytes and is not
    /// counted as tensor time.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let (sequences, tokens) = totals(&self.sequences);
        let (key, value) = (self.key_dim as f64, self.value_dim as f64);
        let (key_heads, value_heads) = (self.key_heads as f64, self.value_heads as f64);
        let per_token = 6.0 * key * value;
        let (flops, math) = match self.phase {
            Phase::Prefill => (per_token + constants().chunk * (3.0 * key + 2.0 * value), Some(Dtype::Bf16)),
            Phase::Decode => (per_token, None),
        };
        let state = value_heads * key * value * F32_BYTES;
        let (read, written) = (sequences * state, states_written(&self.sequences, self.phase) * state);
        // Queries and keys; values and results; decay and strength of each head.
        let token = 2.0 * key_heads * key * BF16_BYTES
            + 2.0 * value_heads * value * BF16_BYTES
            + 2.0 * value_heads * F32_BYTES;
        let flops = Flops(flops * tokens * value_heads);
        Count::new(flops, math, Bytes(read), Bytes(tokens * token + written), gpu)
    }

    fn launches(&self, _: &Gpu, _: &Engine) -> f64 {
        eager_launches::constants().delta_rule
    }

    fn shape(&self) -> String {
        let lengths = lengths(&self.sequences);
        format!("{lengths}, {}/{} heads × {}", self.key_heads, self.value_heads, self.value_dim)
    }

    fn family(&self) -> Option<Family> {
        Some(Family::LinearAttention)
    }

    fn served<'a>(&self, engine: &'a Engine, launch: Launch<'a>) -> Option<Launch<'a>> {
        let choice = engine.variants_on(launch.gpu.arch)?;
        Some(launch.with(self.phase.choose(&choice.delta_prefill, &choice.delta_decode)))
    }

    fn vector(&self, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        vector::of_delta(self, launch)
    }

    fn point(&self) -> CallPoint {
        let shape = [self.key_heads, self.value_heads, number(&self.sequences), self.phase as u64];
        CallPoint { shape, size: first_group(&self.sequences) }
    }

    fn formats(&self, _: Dtype) -> String {
        format!("{} delta rule", self.phase.id())
    }
}

impl Kernel for Scan {
    /// Per token and head of `d` elements with states of `n` each: the state is updated and read (`4 d n` FLOP);
    /// chunks of `c` tokens add the products within them, halved by the causal mask (`c (n + d)`); decay is not
    /// counted. Heads of one channel are Mamba-1's: token by token, without tensor cores. Input and output matrices are read once per
    /// group.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let (sequences, tokens) = totals(&self.sequences);
        let (heads, head_dim, state) = (self.heads as f64, self.head_dim as f64, self.state as f64);
        let per_token = 4.0 * head_dim * state;
        let (flops, math) = match self.phase {
            Phase::Prefill if self.head_dim > 1 => {
                (per_token + constants().scan_chunk * (state + head_dim), Some(Dtype::Bf16))
            }
            _ => (per_token, None),
        };
        let states = heads * head_dim * state * F32_BYTES;
        let (read, written) = (sequences * states, states_written(&self.sequences, self.phase) * states);
        let token = 2.0 * heads * head_dim * BF16_BYTES
            + 2.0 * self.groups as f64 * state * BF16_BYTES
            + heads * F32_BYTES;
        let flops = Flops(flops * tokens * heads);
        Count::new(flops, math, Bytes(read), Bytes(tokens * token + written), gpu)
    }

    fn launches(&self, _: &Gpu, _: &Engine) -> f64 {
        eager_launches::constants().scan
    }

    fn shape(&self) -> String {
        let lengths = lengths(&self.sequences);
        format!("{lengths}, {} heads × {} × {}", self.heads, self.head_dim, self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    fn counted(call: &dyn Kernel) -> Count {
        call.count(catalog().gpu("h100-sxm").expect("in the catalog")).expect("complete")
    }

    fn delta(phase: Phase, new: u64) -> DeltaRule {
        let sequences = vec![Sequences { count: 2, new, past: 0 }];
        DeltaRule { phase, sequences, key_heads: 4, value_heads: 8, key_dim: 128, value_dim: 128 }
    }

    #[test]
    fn a_convolution_by_hand() {
        let sequences = vec![Sequences { count: 2, new: 10, past: 0 }];
        let conv = CausalConv { phase: Phase::Prefill, sequences, channels: 100, taps: 4 };
        let count = counted(&conv);
        // Two states of 100 x 3 read, and weights of 100 x 4.
        assert_eq!(count.stored.0, 2.0 * 600.0 + 800.0);
        // 20 tokens in and out, the states written.
        assert_eq!(count.operands.0, count.stored.0 + 20.0 * 400.0 + 1200.0);
    }

    #[test]
    fn the_state_does_not_grow_with_the_sequence() {
        let of = |new| counted(&delta(Phase::Prefill, new));
        let state = 2.0 * 8.0 * 128.0 * 128.0 * 4.0;
        assert_eq!((of(64).stored.0, of(6400).stored.0), (state, state));
        assert_eq!(of(6400).flops.0, 100.0 * of(64).flops.0);
        // 98,304 for the state and 40,960 within the chunk.
        assert_eq!(of(1).flops.0, 2.0 * 8.0 * (98_304.0 + 40_960.0));
    }

    #[test]
    fn decoding_moves_the_state_twice() {
        let count = counted(&delta(Phase::Decode, 1));
        let state = 2.0 * 8.0 * 128.0 * 128.0 * 4.0;
        assert!(count.operands.0 > 2.0 * state && count.operands.0 < 2.1 * state);
        assert_eq!(count.math, None);
    }

    #[test]
    fn verifying_drafts_writes_a_state_after_each_token() {
        let state = 2.0 * 8.0 * 128.0 * 128.0 * 4.0;
        let [plain, verified] = [1, 4].map(|new| counted(&delta(Phase::Decode, new)));
        assert_eq!(verified.stored, plain.stored, "read once");
        let written = verified.operands.0 - plain.operands.0;
        assert!(written > 3.0 * state && written < 3.2 * state, "{written}");
        assert_eq!(verified.flops.0, 4.0 * plain.flops.0);
    }
}
