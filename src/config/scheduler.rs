//! How an engine forms its steps, and the defaults of that.

use serde::{Deserialize, Serialize};

use super::{Arch, Figure, Gpu, Parallelism};
use crate::units::GIB;

/// How an engine mixes prefill and decode in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Batching {
    /// Decode tokens first, prompt chunks fill the rest of the token budget (vLLM V1).
    #[default]
    MixedChunks,
    /// A step is either prefill chunks or decode; prefill goes first (SGLang).
    PrefillFirst,
    /// Whole prompts join decode within the token budget (TensorRT-LLM without chunking).
    InFlight,
}

/// What the engine's memory share is a fraction of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryShareOf {
    /// All device memory: weights, activations, context and KV cache share it.
    #[default]
    Total,
    /// All device memory: weights and KV cache fit into the share, everything else into the rest.
    Static,
    /// What is free after weights, activations and context: the KV cache takes that fraction of it.
    Free,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheduler {
    pub batching: Batching,
    /// Tokens per step (the prefill chunk size if prefill runs alone).
    pub token_budget: Figure,
    pub max_seqs: Figure,
    /// Token budget and number of sequences are given for all ranks of attention DP together, and each takes its share;
    /// the default number of sequences is each rank's.
    #[serde(default)]
    pub given_for_all_ranks: bool,
    /// GPUs with different defaults; the first match applies.
    pub smaller: Vec<SmallerDefaults>,
    pub memory_share: Figure,
    pub memory_share_of: MemoryShareOf,
    /// Tokens per KV block.
    pub kv_block_tokens: Figure,
    /// The largest decode steps with a CUDA graph, in sequences (vLLM: tokens, drafted ones too); the first match applies.
    pub decode_graphs: Vec<DecodeGraphs>,
}

/// The largest decode step with a CUDA graph, of GPUs with little memory or few that share a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecodeGraphs {
    /// GiB of device memory at which this stops applying.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_gib: Option<f64>,
    /// GPUs of a stage (TP × DP) at which this stops applying.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_gpus: Option<u32>,
    pub largest: Figure,
}

/// Engine defaults for GPUs with little memory, or for some architectures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmallerDefaults {
    /// GiB of device memory at which these defaults stop applying.
    pub below_gib: f64,
    pub archs: Vec<Arch>,
    pub token_budget: Figure,
    pub max_seqs: Figure,
}

/// Whether the memory of `gpu` is known to be less than `gib`.
fn is_below(gpu: &Gpu, gib: f64) -> bool {
    gpu.memory_bytes.0.is_some_and(|bytes| bytes / GIB < gib)
}

impl Scheduler {
    /// Default token budget and maximum number of sequences of each of `ranks` of attention DP on `gpu`.
    pub fn limits_on(&self, gpu: &Gpu, ranks: u32) -> (Figure, Figure) {
        let holds = |defaults: &&SmallerDefaults| {
            defaults.archs.contains(&gpu.arch) || is_below(gpu, defaults.below_gib)
        };
        let (budget, sequences) = match self.smaller.iter().find(holds) {
            Some(defaults) => (&defaults.token_budget, &defaults.max_seqs),
            None => (&self.token_budget, &self.max_seqs),
        };
        let of_rank = |budget: f64| f64::from(self.of_rank(budget as u32, ranks));
        (Figure(budget.0.map(of_rank), budget.1.clone()), sequences.clone())
    }

    /// The largest decode step with a CUDA graph, unless it is set at start-up.
    pub fn decode_graph(&self, gpu: &Gpu, parallel: Parallelism) -> Option<u32> {
        let gpus = parallel.gpus_per_stage();
        let holds = |rule: &&DecodeGraphs| {
            rule.below_gib.is_none_or(|gib| is_below(gpu, gib))
                && rule.below_gpus.is_none_or(|most| gpus < most)
        };
        self.decode_graphs.iter().find(holds)?.largest.0.map(|largest| largest as u32)
    }

    /// The share of each of `ranks` ranks of attention DP in a token budget or number of sequences given at start-up.
    pub fn of_rank(&self, given: u32, ranks: u32) -> u32 {
        if self.given_for_all_ranks { (given / ranks.max(1)).max(1) } else { given }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::catalog;

    #[test]
    fn defaults_follow_the_gpu() {
        let budget = |engine: &str, gpu: &str| {
            let engine = catalog().engine(engine).expect("in the catalog");
            let gpu = catalog().gpu(gpu).expect("in the catalog");
            engine.scheduler.limits_on(gpu, 1).0.0
        };
        assert_eq!(budget("vllm", "h100-sxm"), Some(8192.0));
        assert_eq!(budget("vllm", "a100-sxm-80gb"), Some(2048.0));
        assert_eq!(budget("vllm", "l40s"), Some(2048.0));
        assert_eq!(budget("sglang", "l4"), Some(2048.0));
        assert_eq!(budget("sglang", "l40s"), Some(4096.0));
        assert_eq!(budget("sglang", "h200-sxm"), Some(8192.0));
        assert_eq!(budget("sglang", "b200"), Some(16384.0));
        assert_eq!(budget("trtllm", "l4"), Some(8192.0));
    }
}
