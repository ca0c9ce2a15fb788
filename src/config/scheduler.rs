//! How an engine forms its steps, and the defaults of that.

use serde::{Deserialize, Serialize};

use super::{Arch, Figure, Gpu, Load, Parallelism, Workload};
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
    /// Tokens per step offline, without a server, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offline_token_budget: Option<Figure>,
    pub max_seqs: Figure,
    /// Sequences of all ranks of attention DP together while tokens are drafted, if that has a default of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafting_seqs: Option<Figure>,
    /// Token budget and number of sequences are given for all ranks of attention DP together, and each takes its share;
    /// the default number of sequences is each rank's.
    #[serde(default)]
    pub given_for_all_ranks: bool,
    /// GPUs with different defaults; the first match applies.
    pub smaller: Vec<SmallerDefaults>,
    /// The share, unless it is [derived](Self::share_on).
    pub memory_share: Figure,
    pub memory_share_of: MemoryShareOf,
    /// Tokens per KV block.
    pub kv_block_tokens: Figure,
    /// The largest decode steps with a CUDA graph, in sequences (vLLM: tokens, drafted ones too); the first match applies.
    pub decode_graphs: Vec<DecodeGraphs>,
    /// Sequences of the smallest decode steps with a CUDA graph (source: as for `decode_graphs`); powers of two if empty. Larger
    /// ones are as far apart as on all engines (SGLang's are twice as far from 256 on, which matters little).
    #[serde(default)]
    pub small_graphs: Vec<u32>,
    /// The same while tokens are drafted.
    #[serde(default)]
    pub drafting_graphs: Vec<u32>,
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
    /// No larger than this many times the tokens that all sequences decode at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times_decoding: Option<u32>,
}

/// Engine defaults for GPUs with little memory, or for some architectures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmallerDefaults {
    /// GiB of device memory at which these defaults stop applying.
    pub below_gib: f64,
    pub archs: Vec<Arch>,
    pub token_budget: Figure,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offline_token_budget: Option<Figure>,
    pub max_seqs: Figure,
}

/// What default limits depend on besides the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Ranks of attention DP.
    pub ranks: u32,
    /// Tokens verified per step and sequence: more than 1 if some are drafted.
    pub verified: u32,
    /// Whether the engine works off a queue of its own, without a server.
    pub offline: bool,
}

/// Whether the memory of `gpu` is known to be less than `gib`.
fn is_below(gpu: &Gpu, gib: f64) -> bool {
    gpu.memory_bytes.0.is_some_and(|bytes| bytes / GIB < gib)
}

impl Usage {
    /// A server that drafts nothing.
    pub fn plain(ranks: u32) -> Self {
        Self { ranks, verified: 1, offline: false }
    }

    pub fn of(parallel: Parallelism, workload: &Workload) -> Self {
        Self {
            ranks: parallel.dp,
            verified: workload.drafts.drafted.saturating_add(1),
            offline: matches!(workload.load, Load::Offline(_)),
        }
    }
}

impl Scheduler {
    /// Default token budget and maximum number of sequences of each rank of attention DP on `gpu`.
    pub fn limits_on(&self, gpu: &Gpu, usage: Usage) -> (Figure, Figure) {
        let holds = |defaults: &&SmallerDefaults| {
            defaults.archs.contains(&gpu.arch) || is_below(gpu, defaults.below_gib)
        };
        let (of_server, offline, sequences) = match self.smaller.iter().find(holds) {
            Some(smaller) => (&smaller.token_budget, &smaller.offline_token_budget, &smaller.max_seqs),
            None => (&self.token_budget, &self.offline_token_budget, &self.max_seqs),
        };
        let budget = offline.as_ref().filter(|_| usage.offline).unwrap_or(of_server);
        let of_rank = |Figure(all, source): &Figure| {
            let share = |all: f64| f64::from(self.of_rank(all as u32, usage.ranks));
            Figure(all.map(share), source.clone())
        };
        let drafting = self.drafting_seqs.as_ref().filter(|_| usage.verified > 1).map(of_rank);
        (of_rank(budget), drafting.unwrap_or_else(|| sequences.clone()))
    }

    /// The largest decode step with a CUDA graph, unless it is set at start-up; `decoding` tokens if all sequences decode.
    pub fn decode_graph(&self, gpu: &Gpu, parallel: Parallelism, decoding: u32) -> Option<u32> {
        let gpus = parallel.gpus_per_stage();
        let holds = |rule: &&DecodeGraphs| {
            rule.below_gib.is_none_or(|gib| is_below(gpu, gib))
                && rule.below_gpus.is_none_or(|most| gpus < most)
        };
        let rule = self.decode_graphs.iter().find(holds)?;
        let most = rule.times_decoding.map_or(u32::MAX, |times| decoding.saturating_mul(times));
        Some((rule.largest.0? as u32).min(most))
    }

    /// The share of each of `ranks` ranks of attention DP in a token budget or number of sequences given at start-up.
    pub fn of_rank(&self, given: u32, ranks: u32) -> u32 {
        if self.given_for_all_ranks { (given / ranks.max(1)).max(1) } else { given }
    }
}

#[cfg(test)]
mod tests {
    use super::{Parallelism, Usage};
    use crate::config::catalog;

    #[test]
    fn defaults_follow_the_gpu() {
        let budget = |engine: &str, gpu: &str| {
            let engine = catalog().engine(engine).expect("in the catalog");
            let gpu = catalog().gpu(gpu).expect("in the catalog");
            engine.scheduler.limits_on(gpu, Usage::plain(1)).0.0
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

    #[test]
    fn defaults_follow_what_the_engine_is_used_for() {
        let limits = |engine: &str, gpu: &str, usage: Usage| {
            let engine = catalog().engine(engine).expect("in the catalog");
            let (budget, seqs) =
                engine.scheduler.limits_on(catalog().gpu(gpu).expect("in the catalog"), usage);
            (budget.0.expect("known"), seqs.0.expect("known"))
        };
        let offline = Usage { offline: true, ..Usage::plain(1) };
        assert_eq!(limits("vllm", "h100-sxm", offline), (16384.0, 1024.0));
        assert_eq!(limits("vllm", "l40s", offline), (8192.0, 256.0));
        assert_eq!(limits("trtllm", "h100-sxm", offline), (8192.0, 2048.0));
        let drafting = |ranks: u32| Usage { verified: 4, ..Usage::plain(ranks) };
        assert_eq!(limits("sglang", "b200", drafting(1)).1, 48.0);
        assert_eq!(limits("sglang", "b200", drafting(8)).1, 6.0);
        assert_eq!(limits("vllm", "b200", drafting(1)).1, 1024.0);
        assert_eq!(limits("sglang", "b200", Usage::plain(8)).1, 2048.0);
    }

    #[test]
    fn vllm_captures_no_larger_graphs_than_its_sequences_use() {
        let scheduler = &catalog().engine("vllm").expect("in the catalog").scheduler;
        let gpu = catalog().gpu("h100-sxm").expect("in the catalog");
        let graph = |decoding: u32| scheduler.decode_graph(gpu, Parallelism::NONE, decoding);
        assert_eq!([graph(64), graph(1024), graph(u32::MAX)], [Some(128), Some(512), Some(512)]);
    }
}
