//! A serving engine's record: the defaults of one named version, and its host-side costs.

use serde::{Deserialize, Serialize};

use super::budget::WindowPool;
use super::kernels::{GemmChoice, GemmSource, KernelChoice, UntunedExperts, VariantChoice, WeightRule};
use super::model::{Attention, GqaTrait, Model};
use super::{Budget, ChatTemplate, Figure, Padding, Scheduler, Version, VersionDefaults};

/// Host-side time, which kernel models do not include.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostTime {
    /// Scheduler, sampling and detokenising, per decode step under CUDA graphs, in µs.
    pub decode_step_us: Figure,
    /// Scheduler, sampling and detokenising, per step with prompt tokens, in µs.
    pub prefill_step_us: Figure,
    /// Per sequence in a step, in µs: scheduling, sampling, detokenising and streaming. Hidden behind the GPU with
    /// asynchronous scheduling.
    pub sequence_us: Figure,
    /// One kernel launched without a graph, in µs; hidden while the GPU is busy longer.
    pub eager_launch_us: Figure,
    pub launches: EagerLaunches,
    /// From when the API server takes a request until it can take the next, in µs: HTTP, template, queues.
    pub frontend_us: Figure,
    /// From the client to the scheduler and back, in µs per request: connection, HTTP, inter-process queues.
    pub admission_us: Figure,
    /// Tokenising a prompt, in µs per token.
    pub prompt_token_us: Figure,
    /// One token of one answer on its way from the scheduler to the client, in µs of the process that takes longest for it.
    /// The tokens of a step follow each other, and a new request waits for those before it.
    pub stream_us: Figure,
    /// Tokens that come faster than that queue. Only of servers that were measured at this limit.
    #[serde(default)]
    pub stream_queues: bool,
    /// Each rank of attention DP has an API server of its own, as by `vllm serve`'s default.
    #[serde(default)]
    pub server_per_rank: bool,
}

impl HostTime {
    /// A host whose part in steps takes no time: no hardware limits it.
    pub fn without_steps(&self) -> Self {
        let mut host = self.clone();
        let times = [
            &mut host.decode_step_us,
            &mut host.prefill_step_us,
            &mut host.sequence_us,
            &mut host.eager_launch_us,
        ];
        times.into_iter().for_each(|time| time.0 = Some(0.0));
        host
    }
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
    /// The model is served like any other.
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
    /// How many leading numbers of a version identify a feature release; later ones count fixes.
    pub release_numbers: usize,
    pub scheduler: Scheduler,
    /// Start-up memory by version, oldest first.
    pub budgets: Vec<Budget>,
    /// How its kernels pad experts.
    pub paddings: Vec<Padding>,
    /// How it caches layers with a window; the first that applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<WindowPool>,
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
    #[serde(default)]
    pub weight_rules: Vec<WeightRule>,
    /// Kinds of attention that it serves otherwise, or not at all.
    #[serde(default)]
    pub exceptions: Vec<Exception>,
    /// Server defaults, ascending by version.
    #[serde(default)]
    pub versions: Vec<VersionDefaults>,
}

/// The models for which the norm after an all-reduce is fused into it.
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
    /// The release that `version` belongs to; calibration distinguishes releases.
    pub fn release(&self, version: &Version) -> String {
        version.release(self.release_numbers)
    }

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
