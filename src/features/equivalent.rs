//! A ragged batch as the uniform one that asks for the same: models see measured, uniform batches only.

use crate::graph::{Attention, Sequences};
use crate::kernels::attention::causal_pairs;

/// Totals of an attention call, and the lengths of the uniform batch with the same totals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Equivalent {
    /// New tokens.
    pub tokens: f64,
    /// Tokens of the KV cache read or written: past and new.
    pub kv_tokens: f64,
    /// Query-key pairs under the causal mask, per query head.
    pub pairs: f64,
    /// Mean number of new tokens of the sequence a new token belongs to.
    pub new: f64,
    /// Mean number of past tokens before a sequence's first new one, over new tokens.
    pub past: f64,
    /// `tokens / new`: the number of sequences where all are alike.
    pub sequences: f64,
}

impl Equivalent {
    /// None for a batch without new tokens.
    pub fn of(attention: &Attention) -> Option<Self> {
        let sum = |term: fn(&Sequences) -> f64| -> f64 {
            attention.sequences.iter().map(|group| group.count as f64 * term(group)).sum()
        };
        let tokens = sum(|group| group.new as f64);
        if tokens <= 0.0 {
            return None;
        }
        let new = sum(|group| (group.new as f64).powi(2)) / tokens;
        Some(Self {
            tokens,
            kv_tokens: sum(|group| (group.past + group.new) as f64),
            pairs: sum(|group| causal_pairs(group.new, group.past)),
            new,
            past: sum(|group| group.new as f64 * group.past as f64) / tokens,
            sequences: tokens / new,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Dtype;
    use crate::graph::Phase;

    fn attention(sequences: &[(u64, u64, u64)]) -> Attention {
        let sequences = sequences.iter().map(|&(count, new, past)| Sequences { count, new, past }).collect();
        Attention { phase: Phase::Prefill, sequences, heads: 8, kv_heads: 2, head_dim: 128, kv: Dtype::Bf16 }
    }

    #[test]
    fn a_uniform_batch_is_its_own_equivalent() {
        let of = Equivalent::of(&attention(&[(4, 100, 30)])).expect("tokens");
        assert_eq!((of.sequences, of.new, of.past), (4.0, 100.0, 30.0));
        assert_eq!((of.tokens, of.kv_tokens), (400.0, 520.0));
    }

    #[test]
    fn a_ragged_prompt_batch_keeps_its_pairs() {
        // Without a past, lengths weighted by tokens keep both tokens and pairs.
        let of = Equivalent::of(&attention(&[(1, 3000, 0), (5, 200, 0)])).expect("tokens");
        let uniform = of.sequences * of.new * (of.new + 1.0) / 2.0;
        assert!((uniform / of.pairs - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_do_has_no_equivalent() {
        assert_eq!(Equivalent::of(&attention(&[])), None);
    }
}
