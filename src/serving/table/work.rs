//! The work of a step on one rank.

use super::Prompts;
use crate::serving::sim::RankStep;
use crate::units::larger;

/// The work of one rank in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Work {
    pub prompts: Option<Prompts>,
    /// Prompts that begin in the step: their images are encoded.
    pub begun: f64,
    /// Decoding sequences, and their total KV cache tokens.
    pub decoding: f64,
    pub decoding_kv: f64,
    /// Draft tokens verified per decoding sequence (speculative decoding).
    pub drafted: f64,
}

impl Work {
    pub(super) fn of(rank: &RankStep<'_>) -> Self {
        let chunks = rank.chunks.iter().map(|chunk| (f64::from(chunk.new), f64::from(chunk.past)));
        Self {
            prompts: Prompts::of(chunks),
            begun: f64::from(rank.begun),
            decoding: f64::from(rank.decoding),
            decoding_kv: rank.decoding_kv as f64,
            drafted: f64::from(rank.drafted),
        }
    }

    pub(super) fn logits(&self) -> f64 {
        self.prompts.map_or(0.0, |prompts| prompts.count) + self.decoding * (1.0 + self.drafted)
    }

    pub(super) fn tokens(&self) -> f64 {
        let prompts = self.prompts.map_or(0.0, |prompts| prompts.new * prompts.count);
        prompts + self.decoding * (1.0 + self.drafted)
    }
}

/// The work of all ranks: the most that any has, as the others wait for it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RankMaximum {
    pub tokens: f64,
    pub logits: f64,
    pub decoding: f64,
    /// Prompts and decoding sequences.
    pub sequences: f64,
    pub begun: f64,
    /// Whether any has prompts.
    pub prompts: bool,
}

impl RankMaximum {
    pub fn of(ranks: &[Work]) -> Self {
        ranks.iter().fold(Self::default(), |all, work| {
            let prompts = work.prompts.map_or(0.0, |prompts| prompts.count);
            Self {
                tokens: larger(all.tokens, work.tokens()),
                logits: larger(all.logits, work.logits()),
                decoding: larger(all.decoding, work.decoding),
                sequences: larger(all.sequences, prompts + work.decoding),
                begun: larger(all.begun, work.begun),
                prompts: all.prompts || work.prompts.is_some(),
            }
        })
    }
}
