//! The work of one engine step.

use crate::kernels::{Sequences, number};

/// The sequences of one step; prefill chunks have `new > 1`, decoding ones `new == 1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Batch {
    pub sequences: Vec<Sequences>,
    /// Draft tokens verified per decoding sequence (speculative decoding). They attend like the newest token, but the
    /// cache is not read again for them.
    pub drafted: u64,
    /// Dummy sequences that fill up a CUDA graph. Every kernel but attention processes them like real ones.
    pub padding: u64,
    /// Tokens that reach the experts from all attention data parallel ranks together; `None` if each rank has as
    /// many as this one.
    pub pooled: Option<u64>,
}

impl Batch {
    /// One group of sequences.
    pub fn of(sequences: Sequences) -> Self {
        Self { sequences: vec![sequences], ..Self::default() }
    }

    /// One pass over whole prompts.
    pub fn prefill(prompts: &[u32]) -> Self {
        let mut sequences: Vec<Sequences> = Vec::new();
        for &length in prompts {
            let new = u64::from(length);
            match sequences.last_mut() {
                Some(last) if last.new == new => last.count += 1,
                _ => sequences.push(Sequences { count: 1, new, past: 0 }),
            }
        }
        Self { sequences, ..Self::default() }
    }

    /// One decode step of `count` sequences with `past` tokens each.
    pub fn decode(count: u64, past: u64) -> Self {
        Self::of(Sequences { count, new: 1, past })
    }

    /// The step with this many draft tokens per decoding sequence.
    pub fn verifying(self, drafted: u32) -> Self {
        Self { drafted: u64::from(drafted), ..self }
    }

    /// The step replayed as a CUDA graph of this many sequences.
    pub fn padded(self, graph: u64) -> Self {
        Self { padding: graph.saturating_sub(self.count()), ..self }
    }

    /// The step with this many tokens reaching the experts from all ranks.
    pub fn pooling(self, tokens: u64) -> Self {
        Self { pooled: Some(tokens), ..self }
    }

    /// Both batches combined into one step; `pooled` is reset.
    pub fn with(mut self, other: Self) -> Self {
        self.sequences.extend(other.sequences);
        self.drafted = self.drafted.max(other.drafted);
        self.pooled = None;
        self
    }

    /// Rows of the step's GEMMs.
    pub fn tokens(&self) -> u64 {
        let drafted = |group: &Sequences| if group.decodes() { self.drafted } else { 0 };
        let own: u64 = self.sequences.iter().map(|group| group.count * (group.new + drafted(group))).sum();
        own + self.padding * (1 + self.drafted)
    }

    /// Positions that get logits: one per sequence, and its drafts.
    pub fn logits(&self) -> u64 {
        let drafted = |group: &Sequences| if group.decodes() { self.drafted } else { 0 };
        let own: u64 = self.sequences.iter().map(|group| group.count * (1 + drafted(group))).sum();
        own + self.padding * (1 + self.drafted)
    }

    pub fn count(&self) -> u64 {
        number(&self.sequences)
    }
}
