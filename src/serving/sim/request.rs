//! A request, and its state in a scheduler.

/// A request to serve, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub prompt: u32,
    pub output: u32,
    /// Prompt tokens that the prefix cache holds from before the run.
    pub found: u32,
}

impl Request {
    /// A request whose prompt was never sent before.
    pub fn new(prompt: u32, output: u32) -> Self {
        Self { prompt, output, found: 0 }
    }
}

/// State of a request in the replica that has it.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestState {
    pub prompt: u32,
    /// Tokens to produce here, including those produced elsewhere.
    pub target: u32,
    /// Tokens produced; while decoding, those produced before decoding started.
    pub generated: u32,
    /// Tokens needed in the KV cache before the next token: the prompt and, after a preemption, the output so far.
    pub fill: u32,
    /// How many of the `fill` tokens are in the KV cache.
    pub filled: u32,
    /// Incremented when the request leaves a micro-batch, which marks older entries as stale.
    pub epoch: u32,
    pub decoding: bool,
    /// Position of its decode batch when it joined.
    pub joined_at: u64,
    /// Blocks reserved for its whole lifetime, if the scheduler does so.
    pub reserved: u64,
    /// Prompt tokens that the prefix cache held before the run.
    pub found: u32,
    /// The request's session, if any: the KV cache left by the session's earlier requests is its history.
    pub session: Option<u32>,
    /// Blocks of that history that were read from the host's memory for it.
    pub read: u64,
    /// Time of its last token; while decoding, of the one it started with. Infinite if that is when it gets its
    /// slot, NaN if there was none.
    pub last: f64,
}

impl RequestState {
    pub fn new(prompt: u32, target: u32) -> Self {
        Self { prompt, target, fill: prompt, ..Self::default() }
    }

    /// Whether the KV cache is complete: no prompt token is left to compute here.
    pub fn is_ready(&self) -> bool {
        self.filled == self.fill
    }

    /// Tokens still to produce, before it decodes.
    pub fn left(&self) -> u32 {
        self.target.saturating_sub(self.generated)
    }
}
