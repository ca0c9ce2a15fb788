//! The steps that a table covers.

use super::lengths;
use super::rows::rounded;

/// The largest steps a table has to cover, per rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Tokens per step.
    pub tokens: u64,
    /// Decoding sequences.
    pub sequences: u64,
    /// Tokens of a sequence, prompt plus output.
    pub length: u64,
    /// New tokens of a prompt per step.
    pub prompt: u64,
    pub phases: Phases,
}

/// The phases that occur: a pool's workers have only one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Phases {
    #[default]
    Both,
    Prefill,
    Decode,
}

impl Extent {
    /// Rounded up so that tables of a setup with different sequences, tokens and lengths share their points: after a
    /// change of the form, the models have answered nearly all rows before.
    pub fn on_points(self) -> Self {
        Self {
            tokens: rounded(self.tokens),
            sequences: self.sequences.next_power_of_two(),
            length: lengths::rounded(self.length),
            prompt: lengths::rounded(self.prompt),
            ..self
        }
    }

    /// The smallest extent that covers both.
    pub fn joined(&self, other: &Self) -> Self {
        Self {
            tokens: self.tokens.max(other.tokens),
            sequences: self.sequences.max(other.sequences),
            length: self.length.max(other.length),
            prompt: self.prompt.max(other.prompt),
            phases: if self.phases == other.phases { self.phases } else { Phases::Both },
        }
    }
}
