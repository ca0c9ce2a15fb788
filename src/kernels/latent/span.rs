//! Totals of what the queries of a call read and see.

use super::LatentAttention;
use crate::kernels::Sequences;
use crate::kernels::attention::causal_pairs;

/// Totals over the sequences of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AttendedSpan {
    /// New tokens.
    pub new: f64,
    /// Past tokens whose latents are read.
    pub past: f64,
    /// Query-key pairs, per query head.
    pub pairs: f64,
}

impl AttendedSpan {
    /// Each new token attends to all preceding ones and itself.
    pub fn dense(sequences: &[Sequences]) -> Self {
        Self::sparse(sequences, u64::MAX)
    }

    /// The span of the queries of a call.
    pub fn of_call(call: &LatentAttention) -> Self {
        match call.reach {
            Some(reach) => reach.span(&call.sequences),
            None => Self::dense(&call.sequences),
        }
    }

    /// Each new token attends to at most `topk` tokens.
    pub fn sparse(sequences: &[Sequences], topk: u64) -> Self {
        sequences.iter().fold(Self::default(), |sum, group| {
            let count = group.count as f64;
            let read = group.past.min(topk.saturating_mul(group.new));
            Self {
                new: sum.new + count * group.new as f64,
                past: sum.past + count * read as f64,
                pairs: sum.pairs + count * causal_pairs(group.new, group.past, Some(topk)),
            }
        })
    }
}
