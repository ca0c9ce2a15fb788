//! One request: what is asked for, and what a scheduler knows of it.

/// A request to serve, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub prompt: u32,
    pub output: u32,
}

/// State of a request in the replica that has it.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestState {
    pub prompt: u32,
    /// Tokens to produce here, those made elsewhere included.
    pub target: u32,
    /// Tokens produced; while it decodes, those produced before it began to.
    pub generated: u32,
    /// Tokens that must stand in the KV cache before the next token: the prompt, and after a preemption the
    /// output so far.
    pub fill: u32,
    /// How many of those do.
    pub filled: u32,
    /// Raised whenever it leaves a micro-batch, so that older entries about it are known as stale.
    pub epoch: u32,
    pub decoding: bool,
    /// Position of its decode batch when it began to decode.
    pub joined_at: u64,
    /// Blocks reserved for its whole life, where the scheduler does that.
    pub reserved: u64,
    /// Its session, if it is part of one: what the requests before it left in the KV cache is its history.
    pub session: Option<u32>,
    /// When it got its last token; while it decodes, the one it began with. Infinite if that is when it gets its slot, not
    /// a number if there was none.
    pub last: f64,
}

impl RequestState {
    pub fn new(prompt: u32, target: u32) -> Self {
        Self { prompt, target, fill: prompt, ..Self::default() }
    }

    /// Its KV cache is complete without any work here.
    pub fn is_ready(&self) -> bool {
        self.filled == self.fill
    }

    /// Tokens still to produce, before it decodes.
    pub fn left(&self) -> u32 {
        self.target.saturating_sub(self.generated)
    }
}
