//! The work of a step and its cost, the only thing the simulator does not know itself.

/// One prompt chunk of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Prompt tokens computed in this step.
    pub new: u32,
    /// Tokens of the same sequence already in the KV cache.
    pub past: u32,
}

/// The work of one rank in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankStep<'a> {
    pub chunks: &'a [Chunk],
    /// Prompts among them that begin, with no earlier turn of their session in the KV cache.
    pub begun: u32,
    /// Decoding sequences, padded to a graph size if the step runs in a CUDA graph.
    pub decoding: u32,
    /// KV cache tokens of all of them, including one new token each; padding has none.
    pub decoding_kv: u64,
    /// Drafted tokens verified per decoding sequence, on top of its one token.
    pub drafted: u32,
}

/// The cost of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    pub seconds: f64,
    /// Energy beyond idle power.
    pub joules: f64,
}

/// Time and energy of a step.
pub trait StepCost {
    /// Seconds of one step with this work on the ranks (of attention data parallelism; usually one). A rank without
    /// work has an empty step. Includes all pipeline stages and host time.
    fn seconds(&self, ranks: &[RankStep<'_>]) -> f64;

    /// Time of a step, and the energy of all GPUs of the replica beyond idle power; 0 if unknown.
    fn spent(&self, ranks: &[RankStep<'_>]) -> Spent {
        Spent { seconds: self.seconds(ranks), joules: 0.0 }
    }
}

impl<F: Fn(&[RankStep<'_>]) -> f64> StepCost for F {
    fn seconds(&self, ranks: &[RankStep<'_>]) -> f64 {
        self(ranks)
    }
}
