//! A serving engine's record: the defaults of one named version, and its host-side costs.

use serde::{Deserialize, Serialize};

use super::{Arch, Figure};

/// How an engine mixes prefill and decode in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Batching {
    /// Decode tokens first, prompt chunks fill the rest of the token budget (vLLM V1).
    MixedChunks,
    /// A step is either prefill chunks or decode; prefill goes first (SGLang).
    PrefillFirst,
    /// Whole prompts join decode within the token budget (TensorRT-LLM without chunking).
    InFlight,
}

/// What the memory share of the engine is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryShareOf {
    /// All device memory: weights, activations, context and KV cache fit into the share.
    Total,
    /// All device memory: weights and KV cache fit into the share, the rest lives beside it.
    Static,
    /// What is free after weights, activations and context: the KV cache takes the share of that.
    Free,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheduler {
    pub batching: Batching,
    /// Tokens one step may process (a prefill chunk's size where prefill runs alone).
    pub token_budget: Figure,
    pub max_seqs: Figure,
    pub memory_share: Figure,
    pub memory_share_of: MemoryShareOf,
    /// Tokens per KV block.
    pub kv_block_tokens: Figure,
}

/// Host-side time, which no kernel model holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostTime {
    /// Scheduler, sampling and detokenising, per decode step under CUDA graphs, in µs.
    pub decode_step_us: Figure,
    /// The same for a step that holds prompt tokens, in µs.
    pub prefill_step_us: Figure,
    /// One kernel launched without a graph, in µs; hidden while the GPU is busy longer.
    pub eager_launch_us: Figure,
    /// One kernel inside a CUDA graph: the gap to the next, in µs.
    pub graph_gap_us: Figure,
}

/// The kernels an engine launches by default on one family of GPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelChoice {
    pub arch: Arch,
    /// The attention kernel of prefill, named as in the measured tables.
    pub attention_prefill: String,
    pub attention_decode: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    pub id: String,
    pub name: String,
    pub version: String,
    pub scheduler: Scheduler,
    pub host: HostTime,
    /// Its attention kernels apply the rotary embedding themselves.
    pub rope_in_attention: bool,
    pub kernels: Vec<KernelChoice>,
}

impl Engine {
    /// The engine's default kernels on `arch`, if it runs there.
    pub fn kernels_on(&self, arch: Arch) -> Option<&KernelChoice> {
        self.kernels.iter().find(|choice| choice.arch == arch)
    }
}
