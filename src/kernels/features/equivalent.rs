//! The uniform batch equivalent to a ragged one: models have only seen measured, uniform batches.

use crate::kernels::attention::{causal_pairs, visible_past};
use crate::kernels::latent::AttendedSpan;
use crate::kernels::{Attention, Phase, Reach, Sequences};

/// Totals of an attention call, and the lengths of the uniform batch with the same totals. Keys outside a window do
/// not count unless noted.
///
/// If prefill and decode share a launch, the lengths are those of the prompts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equivalent {
    /// New tokens.
    pub tokens: f64,
    /// KV cache tokens read or written: past and new.
    pub kv_tokens: f64,
    /// Query-key pairs under the causal mask, per query head.
    pub pairs: f64,
    /// Query-key pairs including keys outside the window, per query head.
    pub unmasked_pairs: f64,
    /// New tokens of the sequence that an average new token belongs to.
    pub new: f64,
    /// Past tokens before an average new token's sequence.
    pub past: f64,
    /// Prompt tokens over `new`: the number of sequences if all are equal.
    pub sequences: f64,
    pub decoding: Decoding,
}

/// Decoding sequences in a launch that also has prompts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Decoding {
    pub sequences: f64,
    /// Pairs, equal to KV tokens because each has one new token.
    pub pairs: f64,
}

impl Equivalent {
    /// The totals of an attention call; `None` for a batch without new tokens.
    pub fn of(attention: &Attention) -> Option<Self> {
        let split_decodes = attention.phase == Phase::Prefill;
        Self::of_batch(&attention.sequences, split_decodes, attention.window)
    }

    /// The totals of any call over sequences of one kind; `None` without new tokens.
    pub fn of_sequences(sequences: &[Sequences]) -> Option<Self> {
        Self::of_batch(sequences, false, None)
    }

    /// The totals of a call whose queries see what `reach` says, with keys and pairs from `span`.
    pub fn of_reach(sequences: &[Sequences], reach: Reach, span: AttendedSpan) -> Option<Self> {
        let all = Self::of_sequences(sequences)?;
        let past = |group: &Sequences| reach.keys(group.past + 1).saturating_sub(1) as f64;
        let weighed = |group: &Sequences| group.count as f64 * group.new as f64;
        let past = sequences.iter().map(|group| weighed(group) * past(group)).sum::<f64>() / all.tokens;
        Some(Self { kv_tokens: span.past + span.new, pairs: span.pairs, past, ..all })
    }

    /// The totals with each query as a sequence of its own: decode was measured with one query a sequence.
    pub fn by_query(self) -> Self {
        let past = self.past + (self.new - 1.0) / 2.0;
        Self { new: 1.0, past, sequences: self.tokens, ..self }
    }

    /// The totals with the queries of a sequence as one.
    pub fn packed(self) -> Self {
        Self { tokens: self.sequences, new: 1.0, past: self.past + self.new - 1.0, ..self }
    }

    /// Mean visible tokens of a sequence at its end.
    pub fn kv_length(&self) -> f64 {
        self.past + self.new
    }

    /// Tiles of `rows` queries; `groups` of heads do not share tiles, the `packed` heads of one do.
    pub fn tiles(&self, rows: f64, groups: f64, packed: f64) -> f64 {
        (self.new * packed / rows).ceil() * self.sequences * groups
    }

    /// `split_decodes`: decoding sequences next to prompts are totalled separately.
    fn of_batch(sequences: &[Sequences], split_decodes: bool, window: Option<u64>) -> Option<Self> {
        let prompts = sequences.iter().any(|group| !group.decodes());
        let counted_separately = |group: &Sequences| split_decodes && prompts && group.decodes();
        let sum = |term: &dyn Fn(&Sequences) -> f64| -> f64 {
            sequences.iter().map(|group| group.count as f64 * term(group)).sum()
        };
        let own = |term: &dyn Fn(&Sequences) -> f64| -> f64 {
            sum(&|group| if counted_separately(group) { 0.0 } else { term(group) })
        };
        let past = |group: &Sequences| visible_past(group.past, window) as f64;
        let pairs = |group: &Sequences| causal_pairs(group.new, group.past, window);
        let prompt_tokens = own(&|group| group.new as f64);
        if prompt_tokens <= 0.0 {
            return None;
        }
        let new = own(&|group| (group.new as f64).powi(2)) / prompt_tokens;
        let only_decoding = |term: &dyn Fn(&Sequences) -> f64| -> f64 {
            sum(&|group| if counted_separately(group) { term(group) } else { 0.0 })
        };
        Some(Self {
            tokens: sum(&|group| group.new as f64),
            kv_tokens: sum(&|group| past(group) + group.new as f64),
            pairs: sum(&pairs),
            unmasked_pairs: sum(&|group| causal_pairs(group.new, group.past, None)),
            new,
            past: own(&|group| group.new as f64 * past(group)) / prompt_tokens,
            sequences: prompt_tokens / new,
            decoding: Decoding { sequences: only_decoding(&|_| 1.0), pairs: only_decoding(&pairs) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Dtype;

    fn attention(sequences: &[(u64, u64, u64)], window: Option<u64>) -> Attention {
        let sequences = sequences.iter().map(|&(count, new, past)| Sequences { count, new, past }).collect();
        Attention {
            phase: Phase::Prefill,
            sequences,
            heads: 8,
            kv_heads: 2,
            head_dim: 128,
            kv: Dtype::Bf16,
            window,
        }
    }

    #[test]
    fn a_uniform_batch_is_its_own_equivalent() {
        let of = Equivalent::of(&attention(&[(4, 100, 30)], None)).expect("tokens");
        assert_eq!((of.sequences, of.new, of.past), (4.0, 100.0, 30.0));
        assert_eq!((of.tokens, of.kv_tokens), (400.0, 520.0));
        assert_eq!((of.unmasked_pairs, of.decoding), (of.pairs, Decoding::default()));
    }

    #[test]
    fn a_ragged_prompt_batch_keeps_its_pairs() {
        // Without a past, token-weighted lengths preserve both tokens and pairs.
        let of = Equivalent::of(&attention(&[(1, 3000, 0), (5, 200, 0)], None)).expect("tokens");
        let uniform = of.sequences * of.new * (of.new + 1.0) / 2.0;
        assert!((uniform / of.pairs - 1.0).abs() < 1e-12);
    }

    #[test]
    fn decoding_beside_prompts_is_kept_apart() {
        let of = Equivalent::of(&attention(&[(2, 100, 0), (64, 1, 999)], None)).expect("tokens");
        assert_eq!((of.sequences, of.new, of.past), (2.0, 100.0, 0.0));
        assert_eq!((of.tokens, of.kv_tokens), (264.0, 64_200.0));
        assert_eq!(of.decoding, Decoding { sequences: 64.0, pairs: 64_000.0 });
        assert_eq!(of.pairs, 2.0 * 5050.0 + 64_000.0);
    }

    #[test]
    fn a_window_hides_keys() {
        let of = Equivalent::of(&attention(&[(3, 1, 999)], Some(100))).expect("tokens");
        assert_eq!((of.past, of.pairs, of.unmasked_pairs), (99.0, 300.0, 3000.0));
    }

    #[test]
    fn nothing_to_do_has_no_equivalent() {
        assert_eq!(Equivalent::of(&attention(&[], None)), None);
    }
}
