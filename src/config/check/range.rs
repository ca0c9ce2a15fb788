//! The range each number of a scenario may take.

use crate::config::{Field, Issue};
use crate::units::decimal;

/// Bounds of one field, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub field: Field,
    /// What the number is, for a sentence.
    pub name: &'static str,
    pub min: f64,
    pub max: f64,
}

impl Range {
    const fn new(field: Field, name: &'static str, min: f64, max: f64) -> Self {
        Self { field, name, min, max }
    }

    /// An error unless `value` lies inside. NaN lies nowhere.
    pub fn check(self, value: f64) -> Option<Issue> {
        if (self.min..=self.max).contains(&value) {
            return None;
        }
        let (given, min, max) = (decimal(value), decimal(self.min), decimal(self.max));
        let text = format!("{} is {given}: from {min} to {max} is right", self.name);
        Some(Issue::error(self.field, text).with_given(given))
    }

    /// The bounds of a field that holds a number.
    pub fn of(field: Field) -> Option<Self> {
        ALL.into_iter().find(|range| range.field == field)
    }
}

// Upper bounds lie beyond any deployment and keep every count of work exact in 64 bits.
pub const TP: Range = Range::new(Field::Tp, "tensor parallelism", 1.0, 128.0);
pub const PP: Range = Range::new(Field::Pp, "pipeline parallelism", 1.0, 128.0);
pub const DP: Range = Range::new(Field::Dp, "attention data parallelism", 1.0, 128.0);
pub const EP: Range = Range::new(Field::Ep, "expert parallelism", 1.0, 128.0);
pub const REPLICAS: Range = Range::new(Field::Gpus, "the number of replicas", 1.0, 10_000.0);
pub const ISL: Range = Range::new(Field::Isl, "the prompt length", 1.0, 100_000_000.0);
pub const OSL: Range = Range::new(Field::Osl, "the output length", 1.0, 100_000_000.0);
pub const SPREAD: Range = Range::new(Field::Spread, "the spread of lengths", 0.0, 0.95);
/// Beyond, a few requests would hold most tokens.
pub const LOG_SPREAD: Range = Range::new(Field::LogSpread, "the log-normal spread", 0.0, 1.5);
pub const BURSTINESS: Range = Range::new(Field::Burstiness, "the burstiness", 0.05, 100.0);
pub const CACHED_SHARE: Range = Range::new(Field::CachedShare, "the share of cached prompts", 0.0, 1.0);
pub const DRAFTED: Range = Range::new(Field::Drafted, "the number of drafted tokens", 0.0, 64.0);
pub const ACCEPTED: Range = Range::new(Field::Accepted, "the number of accepted tokens", 0.0, 64.0);
pub const CONCURRENCY: Range = Range::new(Field::Concurrency, "concurrency", 1.0, 100_000.0);
pub const RATE: Range = Range::new(Field::Rate, "the request rate", 0.001, 1_000_000.0);
pub const SLO_TTFT: Range = Range::new(Field::SloTtft, "the limit of TTFT", 1.0, 10_000_000.0);
pub const SLO_TPOT: Range = Range::new(Field::SloTpot, "the limit of TPOT", 0.1, 1_000_000.0);
pub const BATCH: Range = Range::new(Field::Batch, "the batch", 1.0, 100_000.0);
pub const TOKEN_BUDGET: Range = Range::new(Field::TokenBudget, "the token budget", 1.0, 1_048_576.0);
pub const MAX_SEQS: Range = Range::new(Field::MaxSeqs, "the limit of sequences", 1.0, 65_536.0);
pub const MEMORY_SHARE: Range = Range::new(Field::MemoryShare, "the memory share", 0.1, 0.98);
pub const SUSTAINED: Range = Range::new(Field::Sustained, "the sustained clock share", 0.3, 1.0);
pub const PRICE: Range = Range::new(Field::Price, "the price per GPU and hour", 0.0, 10_000.0);
/// Milliseconds; per second.
pub const MEASURED_TIME: Range = Range::new(Field::Measured, "a measured time", 0.001, 10_000_000.0);
pub const MEASURED_RATE: Range = Range::new(Field::Measured, "a measured rate", 0.000_001, 1e9);

pub const ALL: [Range; 23] = [
    TP,
    PP,
    DP,
    EP,
    REPLICAS,
    ISL,
    OSL,
    SPREAD,
    LOG_SPREAD,
    CONCURRENCY,
    RATE,
    BURSTINESS,
    CACHED_SHARE,
    DRAFTED,
    ACCEPTED,
    BATCH,
    SLO_TTFT,
    SLO_TPOT,
    TOKEN_BUDGET,
    MAX_SEQS,
    MEMORY_SHARE,
    SUSTAINED,
    PRICE,
];

/// Prompts of different lengths in one batch. Measured batches hold at most a few hundred.
pub const MAX_LENGTHS: usize = 1_024;

/// Bins of a histogram: a link stays short.
pub const MAX_BINS: usize = 100;

/// Prompt tokens of one batch: beyond the KV cache of any machine (8 x 288 GB hold 2^26 tokens at 36 KB).
pub const MAX_BATCH_TOKENS: u64 = 1 << 26;
