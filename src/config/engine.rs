//! A serving engine's record: the defaults of one named version, and its host-side costs.

use serde::{Deserialize, Serialize};

use super::kernels::{
    GemmChoice, GemmSource, KernelChoice, UnsupportedWeights, UntunedExperts, VariantChoice,
};
use super::model::{Attention, GqaTrait, Model};
use super::{Arch, Budget, ChatTemplate, Figure, Gpu, Padding, Version, VersionDefaults};
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

impl Scheduler {
    /// Default token budget and maximum number of sequences of each of `ranks` of attention DP on `gpu`.
    pub fn limits_on(&self, gpu: &Gpu, ranks: u32) -> (Figure, Figure) {
        let gib = gpu.memory_bytes.0.map(|bytes| bytes / GIB);
        let holds = |defaults: &&SmallerDefaults| {
            defaults.archs.contains(&gpu.arch) || gib.is_some_and(|gib| gib < defaults.below_gib)
        };
        let (budget, sequences) = match self.smaller.iter().find(holds) {
            Some(defaults) => (&defaults.token_budget, &defaults.max_seqs),
            None => (&self.token_budget, &self.max_seqs),
        };
        let of_rank = |budget: f64| f64::from(self.of_rank(budget as u32, ranks));
        (Figure(budget.0.map(of_rank), budget.1.clone()), sequences.clone())
    }

    /// The share of each of `ranks` ranks of attention DP in a token budget or number of sequences given at start-up.
    pub fn of_rank(&self, given: u32, ranks: u32) -> u32 {
        if self.given_for_all_ranks { (given / ranks.max(1)).max(1) } else { given }
    }
}

/// Host-side time, which kernel models do not include.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostTime {
    /// Scheduler, sampling and detokenising, per decode step under CUDA graphs, in µs.
    pub decode_step_us: Figure,
    /// The same for a step with prompt tokens, in µs.
    pub prefill_step_us: Figure,
    /// Per sequence in a step, in µs: scheduling, sampling, detokenising and streaming. Hidden behind the GPU with
    /// asynchronous scheduling.
    pub sequence_us: Figure,
    /// One kernel launched without a graph, in µs; hidden while the GPU is busy longer.
    pub eager_launch_us: Figure,
    pub launches: EagerLaunches,
    /// Time the API server spends on one request before it can take the next, in µs: HTTP, template, queues.
    pub frontend_us: Figure,
    /// From the client to the scheduler and back, in µs per request: connection, HTTP, inter-process queues.
    pub admission_us: Figure,
    /// Tokenising a prompt, in µs per token.
    pub prompt_token_us: Figure,
    /// One token of one answer on its way from the scheduler to the client, in µs of the process that takes longest for it.
    /// Only shows if the engine produces tokens faster; `None` if no measured server got that far.
    pub stream_us: Figure,
}

/// Launches of one call without a CUDA graph, where engines differ; `None` for as many as other kernels take. An operation
/// with much Python in front of its kernel counts as several.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EagerLaunches {
    /// Latent attention between its products, norms and rotation: splits, copies, the write to the KV cache.
    pub latent_attention: f64,
    /// Experts by TensorRT-LLM's generated kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated_experts: Option<f64>,
    /// Experts by OpenAI's Triton kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openai_experts: Option<f64>,
    /// A product with quantised activations by FlashInfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flashinfer_product: Option<f64>,
    pub source: String,
}

/// Which steps copy the recurrent states of decoding sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateCopies {
    #[default]
    None,
    /// vLLM: steps with prompts, which gather the states of delta rules and scatter them again, unless drafts are verified.
    Mixed,
    /// Steps that verify drafts: the state after the last accepted token replaces the sequence's own (SGLang's pull
    /// request 33722, TensorRT-LLM's 14869).
    Verified,
}

/// Which worker sends the client its first token with separate prefill workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstToken {
    /// The prefill worker, as soon as it is computed.
    #[default]
    Prefill,
    /// The decode worker, which receives it from the prefill worker and sends it once the sequence has a slot.
    Slot,
    /// The decode worker computes it, in the sequence's first step there.
    Step,
}

/// How an engine hands a prefilled request over to a decode worker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandOver {
    pub first_token: FirstToken,
    /// The KV cache of a chunk is sent while later chunks are computed.
    pub by_chunk: bool,
    /// Id of a source.
    pub source: String,
}

/// How far an engine serves a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// Like any other.
    #[default]
    Full,
    No,
    /// Up to this version.
    UpTo(Version),
    /// Decode steps without images are launched kernel by kernel: the captured graphs are of steps with images.
    TextEagerly,
    /// Only what text needs is loaded.
    TextAlone,
}

/// A kind of attention that an engine does not serve like any other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    pub attention: GqaTrait,
    pub support: Support,
    /// Id of a source.
    pub source: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    pub id: String,
    pub name: String,
    pub version: Version,
    pub scheduler: Scheduler,
    /// Start-up memory by version, oldest first.
    pub budgets: Vec<Budget>,
    /// How its kernels pad experts.
    pub paddings: Vec<Padding>,
    pub host: HostTime,
    /// Handover from separate prefill workers.
    pub hand_over: HandOver,
    /// The attention kernels apply the rotary embedding themselves.
    pub rope_in_attention: bool,
    /// With a single scale, activations are quantised to FP8 by the kernel before the GEMM.
    pub quantises_before: bool,
    /// Shared experts run in parallel with the routed ones and add only the resources they occupy.
    pub shared_beside_routed: bool,
    /// With attention DP the ranks of all groups share the LM head, and gather the tokens' states before it (SGLang without
    /// `--enable-dp-lm-head`).
    #[serde(default)]
    pub shares_head: bool,
    /// Between pipeline stages each rank sends its share of the tokens' states, and the next stage gathers them;
    /// otherwise each rank sends all of them.
    #[serde(default)]
    pub shards_states: bool,
    pub norm_in_all_reduce: FusedNorms,
    pub copies_states: StateCopies,
    /// Formats whose GEMMs were measured with extra launches that serving does not make.
    pub gemm_sources: Vec<GemmSource>,
    /// The kernels of its GEMMs by format of the weights.
    pub gemms: Vec<GemmChoice>,
    pub kernels: Vec<KernelChoice>,
    /// Experts with default tiles. `evidence::older` sets this and what else only measured runs of older versions need.
    #[serde(skip)]
    pub untuned: Vec<UntunedExperts>,
    /// Rules with a decay per head read copies of queries, keys and values, and gates and output gates are projected separately from
    /// these unless the checkpoint joins them.
    #[serde(skip)]
    pub computes_older_delta_rules: bool,
    /// The host waits for the GPU in steps with prompts of delta rules, so that nothing is scheduled ahead.
    #[serde(skip)]
    pub waits_for_delta_rules: bool,
    /// A waiting request starts once its first chunk fits in the KV cache; otherwise the rest of its prompt must fit, too.
    #[serde(skip)]
    pub admits_by_chunk: bool,
    /// Tokens of the largest step with prompts that replays a CUDA graph, if a run was not started with the default.
    #[serde(skip)]
    pub graph_tokens: Option<u32>,
    /// Server time spent on the template of each chat request, by version.
    #[serde(default)]
    pub chat_templates: Vec<ChatTemplate>,
    /// Default kernels of the attention variants.
    pub variants: Vec<VariantChoice>,
    pub unsupported: Vec<UnsupportedWeights>,
    /// Kinds of attention that it serves otherwise, or not at all.
    #[serde(default)]
    pub exceptions: Vec<Exception>,
    /// Server defaults, ascending by version.
    #[serde(default)]
    pub versions: Vec<VersionDefaults>,
}

/// For which models the norm after an all-reduce is fused into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FusedNorms {
    #[default]
    None,
    All,
    /// All but those without experts whose attention normalises queries and keys: TensorRT-LLM's Qwen3 (its
    /// `modeling_qwen3.py`) adds the residual and normalises after the all-reduce.
    AllButDenseQkNorm,
}

impl FusedNorms {
    pub fn of(self, model: &Model) -> bool {
        let is_dense_qk_norm = || {
            let normalises = |attention: &Attention| matches!(attention, Attention::Gqa(gqa) if gqa.qk_norm);
            !model.has_experts() && model.attentions().any(normalises)
        };
        match self {
            Self::None => false,
            Self::All => true,
            Self::AllButDenseQkNorm => !is_dense_qk_norm(),
        }
    }
}

impl Engine {
    /// How far it serves `model`, in its own version.
    pub fn support(&self, model: &Model) -> Support {
        let exception = self.exceptions.iter().find(|exception| model.has(exception.attention));
        match exception.map(|exception| &exception.support) {
            Some(Support::UpTo(last)) if self.version.is_numbered() && self.version <= *last => Support::Full,
            Some(support) => support.clone(),
            None => Support::Full,
        }
    }

    /// The engine called in-process: no server in between, and no streaming.
    pub fn without_server(&self) -> Self {
        let mut engine = self.clone();
        let host = &mut engine.host;
        for figure in [
            &mut host.sequence_us,
            &mut host.frontend_us,
            &mut host.admission_us,
            &mut host.prompt_token_us,
            &mut host.stream_us,
        ] {
            figure.0 = figure.0.map(|_| 0.0);
        }
        engine
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
