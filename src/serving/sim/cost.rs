//! What a step does, and what it costs: the one thing the simulator does not know itself.

/// One prompt chunk of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Prompt tokens computed in this step.
    pub new: u32,
    /// Tokens of the same sequence that stand in the KV cache already.
    pub past: u32,
}

/// What one rank does in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankStep<'a> {
    pub chunks: &'a [Chunk],
    /// Sequences that decode, padded up to a graph size where the step runs in a CUDA graph.
    pub decoding: u32,
    /// Tokens in the KV cache of all of them, with the one new token of each; padding has none.
    pub decoding_kv: u64,
    /// Drafted tokens verified per decoding sequence, on top of its one token.
    pub drafted: u32,
}

/// What a step takes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    pub seconds: f64,
    /// Beyond what idling GPUs draw.
    pub joules: f64,
}

/// Time and energy of a step.
pub trait StepCost {
    /// Seconds of one step in which the ranks (of attention data parallelism; usually one) do this. A rank
    /// without work has an empty step. The time is that of all pipeline stages, host time included.
    fn seconds(&self, ranks: &[RankStep<'_>]) -> f64;

    /// The same, with the energy of all GPUs of the replica; none unless it is known.
    fn spent(&self, ranks: &[RankStep<'_>]) -> Spent {
        Spent { seconds: self.seconds(ranks), joules: 0.0 }
    }
}

impl<F: Fn(&[RankStep<'_>]) -> f64> StepCost for F {
    fn seconds(&self, ranks: &[RankStep<'_>]) -> f64 {
        self(ranks)
    }
}
