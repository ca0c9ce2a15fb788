//! Linear attention: convolutions that move bytes, and the delta rule over a constant state.

use super::Count;
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::graph::{CausalConv, DeltaRule, Linear, Phase, Scan, Sequences};
use crate::units::{Bytes, Flops};

const BF16_BYTES: f64 = 2.0;
/// States of the delta rule, gates and strengths are f32.
const F32_BYTES: f64 = 4.0;
/// Tokens that the chunked delta rule takes at once (flash-linear-attention and FlashInfer alike).
pub const CHUNK: f64 = 64.0;

/// Tokens that Mamba-2's chunked scan takes at once (`chunk_size` of Nemotron-H).
const SCAN_CHUNK: f64 = 128.0;

/// Counts a call of the linear attention family.
///
/// # Errors
/// Where the GPU's record lacks its L2 size.
pub fn count(linear: &Linear, gpu: &Gpu) -> Result<Count, MissingFigure> {
    match linear {
        Linear::Conv(conv) => convolution(conv, gpu),
        Linear::Delta(delta) => delta_rule(delta, gpu),
    }
}

/// Sequences and new tokens in them.
pub fn totals(sequences: &[Sequences]) -> (f64, f64) {
    let count = sequences.iter().map(|group| group.count as f64).sum();
    let tokens = sequences.iter().map(|group| (group.count * group.new) as f64).sum();
    (count, tokens)
}

/// Each token in and out once, weights once, the state of each sequence read and written. Its few
/// multiply-adds hide behind the bytes.
fn convolution(conv: &CausalConv, gpu: &Gpu) -> Result<Count, MissingFigure> {
    let (sequences, tokens) = totals(&conv.sequences);
    let (channels, taps) = (conv.channels as f64, conv.taps as f64);
    let state = sequences * channels * (taps - 1.0) * BF16_BYTES;
    let weights = channels * taps * BF16_BYTES;
    let activations = 2.0 * tokens * channels * BF16_BYTES + state;
    Count::new(Flops::ZERO, None, Bytes(state + weights), Bytes(activations), gpu)
}

/// Per token and value head, with keys of `k` and values of `v` elements: the state is corrected, read and
/// updated (`6 k v` FLOP); chunks of `c` tokens add the products within them, halved by the causal mask:
/// keys with keys, queries with keys, and both through the triangular inverse (`c (3 k + 2 v)`). Decoding
/// does the first part only. Arithmetic of the decode kernel runs on the FP32 pipes behind the state's
/// bytes and is left out of the tensor time.
fn delta_rule(delta: &DeltaRule, gpu: &Gpu) -> Result<Count, MissingFigure> {
    let (sequences, tokens) = totals(&delta.sequences);
    let (key, value) = (delta.key_dim as f64, delta.value_dim as f64);
    let (key_heads, value_heads) = (delta.key_heads as f64, delta.value_heads as f64);
    let per_token = 6.0 * key * value;
    let (flops, math) = match delta.phase {
        Phase::Prefill => (per_token + CHUNK * (3.0 * key + 2.0 * value), Some(Dtype::Bf16)),
        Phase::Decode => (per_token, None),
    };
    let state = sequences * value_heads * key * value * F32_BYTES;
    // Queries and keys; values and results; decay and strength of each head.
    let token = 2.0 * key_heads * key * BF16_BYTES
        + 2.0 * value_heads * value * BF16_BYTES
        + 2.0 * value_heads * F32_BYTES;
    let flops = Flops(flops * tokens * value_heads);
    Count::new(flops, math, Bytes(state), Bytes(tokens * token + state), gpu)
}

/// Per token and head of `d` elements with a state of `n` each: the state is driven and read (`4 d n` FLOP);
/// chunks of `c` tokens add the products within them, halved by the causal mask (`c (n + d)`), and decay is
/// not counted. Input and output matrices are read once a group.
///
/// # Errors
/// Where the GPU's record lacks its L2 size.
pub(super) fn scan(scan: &Scan, gpu: &Gpu) -> Result<Count, MissingFigure> {
    let (sequences, tokens) = totals(&scan.sequences);
    let (heads, head_dim, state) = (scan.heads as f64, scan.head_dim as f64, scan.state as f64);
    let per_token = 4.0 * head_dim * state;
    let (flops, math) = match scan.phase {
        Phase::Prefill => (per_token + SCAN_CHUNK * (state + head_dim), Some(Dtype::Bf16)),
        Phase::Decode => (per_token, None),
    };
    let states = sequences * heads * head_dim * state * F32_BYTES;
    let token = 2.0 * heads * head_dim * BF16_BYTES
        + 2.0 * scan.groups as f64 * state * BF16_BYTES
        + heads * F32_BYTES;
    let flops = Flops(flops * tokens * heads);
    Count::new(flops, math, Bytes(states), Bytes(tokens * token + states), gpu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;

    fn counted(linear: &Linear) -> Count {
        count(linear, catalog().gpu("h100-sxm").expect("in the catalog")).expect("complete")
    }

    fn delta(phase: Phase, new: u64) -> DeltaRule {
        let sequences = vec![Sequences { count: 2, new, past: 0 }];
        DeltaRule { phase, sequences, key_heads: 4, value_heads: 8, key_dim: 128, value_dim: 128 }
    }

    #[test]
    fn a_convolution_by_hand() {
        let sequences = vec![Sequences { count: 2, new: 10, past: 0 }];
        let conv = CausalConv { phase: Phase::Prefill, sequences, channels: 100, taps: 4 };
        let count = counted(&Linear::Conv(conv));
        // Two states of 100 x 3 read, and weights of 100 x 4.
        assert_eq!(count.stored.0, 2.0 * 600.0 + 800.0);
        // 20 tokens in and out, the states written.
        assert_eq!(count.operands.0, count.stored.0 + 20.0 * 400.0 + 1200.0);
    }

    #[test]
    fn the_state_does_not_grow_with_the_sequence() {
        let of = |new| counted(&Linear::Delta(delta(Phase::Prefill, new)));
        let state = 2.0 * 8.0 * 128.0 * 128.0 * 4.0;
        assert_eq!((of(64).stored.0, of(6400).stored.0), (state, state));
        assert_eq!(of(6400).flops.0, 100.0 * of(64).flops.0);
        // 98,304 for the state and 40,960 within the chunk.
        assert_eq!(of(1).flops.0, 2.0 * 8.0 * (98_304.0 + 40_960.0));
    }

    #[test]
    fn decoding_moves_the_state_twice() {
        let count = counted(&Linear::Delta(delta(Phase::Decode, 1)));
        let state = 2.0 * 8.0 * 128.0 * 128.0 * 4.0;
        assert!(count.operands.0 > 2.0 * state && count.operands.0 < 2.1 * state);
        assert_eq!(count.math, None);
    }
}
