//! What a launch says of a run.

use serde::Deserialize;

use super::Layout;
use crate::config::Drafts;
use crate::config::{Dtype, MemoryShareOf};
use crate::serving::sim::BatchWait;

/// Where the settings come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The script that ran.
    Recorded,
    /// A script that probably ran; the doubts say why.
    Assumed,
    /// The engine's defaults, because of this.
    Defaults(String),
}

/// Everything about the start of a run that a simulation needs and the case does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    pub origin: Origin,
    pub client: Client,
    /// What really ran, whatever the labels of the case.
    pub layout: Layout,
    pub scheduler: Scheduling,
    pub memory: Memory,
    pub kernels: Kernels,
    /// Speculative decoding.
    pub drafts: Drafts,
    /// Why the run should not be compared with at all.
    pub excluded: Option<Excluded>,
    /// What may be otherwise, in words.
    pub doubts: Vec<String>,
    /// What no script or source tells and was read off runs like this one: their errors are not those of a
    /// prediction.
    pub inferred: Vec<String>,
}

/// The load generator. All clients start at once, and each sends its next request when the last one ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Client {
    /// Prompts of the run, warm-up aside.
    pub requests: u32,
    /// Shares of the nominal lengths between which each is drawn, evenly and prompts apart from answers; none
    /// where all are equal. Not always what the case says.
    pub length_range: Option<[f64; 2]>,
    pub warmup: Warmup,
    pub cold_start: Option<ColdStart>,
    /// Tokens that the server finds in a prompt for each that the client meant: above one where the client's
    /// tokeniser is not the server's.
    pub prompt_stretch: f64,
    /// Prompts have the length drawn; otherwise some are shorter.
    pub exact_lengths: bool,
    /// Prompts that are sent over and over; none where each is sent once.
    pub distinct_prompts: Option<u32>,
    /// A chat template replaces part of each prompt, whose length stays.
    pub chat_template: bool,
}

/// What the server did before the first measured request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warmup {
    /// One request: kernels that larger batches compile or tune on first use do so in the measured run.
    OneRequest,
    /// Twice as many requests as clients, all alike.
    Copies,
    Unknown,
}

/// What a server that saw one request before the run still compiles or tunes in it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColdStart {
    /// Prompt tokens of the first step that needs it.
    pub tokens: u32,
    /// What that step takes longer.
    pub seconds: f64,
}

/// Limits and habits of the scheduler; what an engine does not have is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scheduling {
    /// Tokens a step may hold; for SGLang, prompt tokens of a chunk. Of each rank under attention DP.
    pub token_budget: Option<u32>,
    /// Prompt tokens of the requests that SGLang admits to a prefill at once.
    pub max_prefill_tokens: Option<u32>,
    /// Sequences decode in SGLang's steps with prompts too.
    pub mixed_chunk: bool,
    /// Requests running at once; none where only the KV cache bounds them.
    pub max_seqs: Option<u32>,
    /// Prompts may be split over steps.
    pub chunked: Option<bool>,
    /// Decode steps between two looks at new requests (SGLang); a prefill step is always followed by one.
    pub receive_interval: u32,
    /// How long prompts wait for company while others decode (TensorRT-LLM).
    pub batch_wait: Option<BatchWait>,
    /// How long prompts wait until every rank of attention DP has one (TensorRT-LLM).
    pub balance_wait: Option<BalanceWait>,
    pub prefix_cache: bool,
    /// The host prepares a step while the GPU runs the last one.
    pub async_scheduling: bool,
    /// Tokens between two messages to a client; the first is always sent at once.
    pub stream_interval: u32,
}

/// Prompts are held back until every rank has one, or so many iterations have passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BalanceWait {
    pub iterations: u32,
    /// Iterations that full ranks wait further, for more prompts.
    pub batching: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// None where the engine works it out for itself.
    pub share: Option<f64>,
    pub share_of: MemoryShareOf,
    pub kv: Dtype,
    /// None for the engine's default.
    pub kv_block_tokens: Option<u32>,
}

/// Kernels named at the start; none where the engine chose.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernels {
    pub attention: Option<String>,
    /// Of the experts.
    pub moe: Option<String>,
    /// The all-reduce is fused with the norm behind it; none where the engine decides by model.
    pub all_reduce_fusion: Option<bool>,
    /// Collectives run on symmetric memory.
    pub symmetric_memory: bool,
    pub graphs: Graphs,
    /// The largest batch with a CUDA graph of its own; larger ones run without.
    pub graph_batch: Option<u32>,
}

/// What CUDA graphs cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Graphs {
    /// Whole decode steps.
    DecodeOnly,
    /// All steps, but attention is launched between the pieces.
    Piecewise,
    /// Whole decode steps, and other steps in pieces.
    FullAndPiecewise,
}

/// Why a run says nothing about one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Excluded {
    /// Prompts and answers ran on servers of their own, though the table does not say so.
    Disaggregated,
    /// Dynamo started the engine, in a way that is not recorded.
    DynamoRuntime,
    /// The client held 512 requests open at a server that ran fewer: TTFT is mostly that queue.
    ServerQueue,
}

impl Excluded {
    pub fn text(self) -> &'static str {
        match self {
            Self::Disaggregated => "prefill and decode ran on servers of their own",
            Self::DynamoRuntime => "started by Dynamo, in a way that is not recorded",
            Self::ServerQueue => "512 open requests at a server that ran fewer, by a fault of the client",
        }
    }
}

impl Launch {
    /// The script that ran is on record.
    pub fn matched(&self) -> bool {
        self.origin == Origin::Recorded
    }
}
