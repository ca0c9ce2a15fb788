//! How server and clients of a measured closed loop were started.
//!
//! `training/launches.py` resolves the recorded launch scripts into `training/launch_plan.json`: plain fields for each
//! script, period, layout, lengths and number of clients. Here a case is looked up, and its labels are read.

mod bench;
mod label;
mod plan;
mod published;
mod script;

use serde::Deserialize;

use self::label::{disagreements, read_label};
use super::cases::ServedCase;
use crate::config::{Drafts, Dtype, Version};
use crate::serving::sim::{BalanceWait, BatchWait};

pub use self::label::LaunchLayout;
pub use self::plan::{SeriesRun, replace_plan};

/// Where the settings come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origin {
    /// The script that ran.
    #[default]
    Recorded,
    /// A script that probably ran; `doubts` says why only probably.
    Assumed,
    /// The command that the source publishes, and the engine's defaults for the rest.
    Published,
    /// The engine's defaults, for this reason.
    Defaults(String),
}

/// Everything about how a run was started that a simulation needs and the case does not say. All clients start at once,
/// and each sends its next request when the last one ends.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchSettings {
    #[serde(skip)]
    pub origin: Origin,
    /// What really ran, whatever the labels of the case.
    #[serde(skip)]
    pub layout: LaunchLayout,
    /// Attention DP over all GPUs; `None` if the label is correct.
    pub(super) attention_dp: Option<bool>,
    ep: ExpertRanks,

    /// The release whose kernels an image built between releases contains.
    #[serde(default)]
    pub built_like: Option<Version>,
    requests_per_client: u32,
    /// Shares of the nominal lengths between which lengths are drawn uniformly, independently for prompts and answers;
    /// `None` if all are equal. May differ from what the case says.
    pub length_range: Option<[f64; 2]>,
    pub cold_start: Option<ColdStart>,
    /// Tokens that the server counts in a prompt per token that the client intended: above one if the client's
    /// tokeniser is not the server's.
    #[serde(default = "one")]
    pub prompt_stretch: f64,
    /// Number of distinct prompts that are sent repeatedly; `None` if each is sent once.
    pub distinct_prompts: Option<u32>,

    /// Seconds that the API server spends on the chat template of each request before it takes the next; requests that
    /// arrive meanwhile are forwarded together. Zero if negligible.
    #[serde(skip)]
    pub template_s: f64,

    /// Tokens a step may hold; for SGLang, prompt tokens of a chunk. Per rank under attention DP.
    pub token_budget: u32,
    /// Prompt tokens of the requests that SGLang admits to one prefill.
    pub max_prefill_tokens: Option<u32>,
    /// Whether sequences also decode in SGLang's steps with prompts.
    #[serde(default)]
    pub mixed_chunk: bool,
    /// Requests running at once; `None` if only the KV cache limits them.
    pub max_seqs: Option<u32>,
    /// Prompts may be split over steps.
    pub chunked: bool,
    /// Decode steps between two checks for new requests (SGLang); a prefill step is always followed by one.
    #[serde(default = "every_step")]
    pub receive_interval: u32,
    batch_wait: Option<ShareWait>,
    /// How long prompts wait until every rank of attention DP has one (TensorRT-LLM).
    pub balance_wait: Option<BalanceWait>,
    pub prefix_cache: bool,
    /// This run and those before it on the same server, if the source ran a known series and the prefix cache was on.
    #[serde(skip)]
    pub series: Vec<SeriesRun>,
    /// SGLang's admission reserves a share of the outputs, scaled by this; `None` if it looks ahead instead.
    #[serde(default)]
    pub conservativeness: Option<f64>,
    /// The host prepares a step while the GPU runs the last one.
    pub async_scheduling: bool,
    /// Tokens between two messages to a client; the first is always sent at once.
    #[serde(default = "every_step")]
    pub stream_interval: u32,

    /// None if the engine works it out for itself.
    pub memory_share: Option<f64>,
    kv_cache: KvCache,
    /// Bytes per element of recurrent states, if the script names their format.
    pub state_bytes: Option<u32>,
    /// None for the engine's default.
    pub kv_block_tokens: Option<u32>,

    /// Kernels of attention and of the experts, if they were named at start-up.
    pub attention: Option<String>,
    pub moe: Option<String>,
    /// Whether the all-reduce is fused with the norm after it; `None` if the engine decides by model.
    pub all_reduce_fusion: Option<bool>,
    pub graphs: Graphs,
    /// What a launch without a graph takes on the host of this node, as a multiple of the engine's time.
    pub launch_times: Option<f64>,
    /// The largest batch with a CUDA graph of its own; larger ones run without. `None` for the engine's default.
    pub graph_batch: Option<u32>,

    /// Speculative decoding.
    #[serde(skip)]
    pub drafts: Drafts,
    /// Passes of a separate draft model in each step; zero if the model drafts with a layer of its own.
    #[serde(skip)]
    pub draft_passes: u32,
    /// Why the run is left out of every comparison: it says nothing about a single server.
    pub excluded: Option<String>,
    /// What may have been different, in words.
    #[serde(default)]
    pub doubts: Vec<String>,
    /// What no script or source states and was inferred from runs like this one: their errors are not those of a
    /// prediction.
    #[serde(default)]
    pub inferred: Vec<String>,
}

/// What a server that handled only one request before the run still compiles or tunes during it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColdStart {
    /// Prompt tokens of the first step that needs it.
    pub tokens: u32,
    /// Additional seconds of that step.
    pub seconds: f64,
}

/// Prompts are held back until they fill this share of the token budget, or this many iterations have passed.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShareWait {
    share: f64,
    iterations: u32,
}

/// What CUDA graphs cover.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Graphs {
    /// Whole decode steps.
    #[default]
    DecodeOnly,
    /// All steps, with attention launched between the pieces.
    Piecewise,
    /// Whole decode steps, and other steps in pieces.
    FullAndPiecewise,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KvCache {
    /// The model's own.
    #[default]
    Auto,
    /// The one that NVIDIA's checkpoint has scales for.
    Checkpoint,
    Fp8,
}

/// GPUs that the experts are spread over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExpertRanks {
    One,
    Gpus,
    #[default]
    Label,
    /// vLLM's switch: all GPUs or one, whatever the number in the label.
    GpusIfLabelled,
}

fn one() -> f64 {
    1.0
}

fn every_step() -> u32 {
    1
}

/// How the server and the clients of `case` were started.
pub fn launch(case: &ServedCase) -> Result<LaunchSettings, String> {
    let plan = plan::plan()?;
    if let Some(published) = &case.published {
        return published::launch(plan, case, published);
    }
    let label = read_label(case);
    let mut launch = script::launch(plan, case, label)?;
    let attention_dp = *launch.attention_dp.get_or_insert(label.attention_dp);
    let ranks = if attention_dp { label.gpus } else { 1 };
    let ep = match launch.ep {
        ExpertRanks::One => 1,
        ExpertRanks::Gpus => label.gpus,
        ExpertRanks::GpusIfLabelled if label.ep > 1 => label.gpus,
        ExpertRanks::GpusIfLabelled | ExpertRanks::Label => label.ep,
    };
    launch.layout = LaunchLayout { gpus: label.gpus, tp: label.gpus / ranks, ep, attention_dp: ranks };
    launch.doubts.extend(disagreements(case, label, launch.layout));
    launch.length_range = case.length_range.or(launch.length_range);
    if plan.drafts.made(case, label) {
        launch.drafts = Drafts { drafted: plan.drafts.drafted, accepted: plan.drafts.accepted };
        launch.inferred.push(plan.drafts.inferred.clone());
    }
    Ok(launch)
}

/// Tokens accepted per step out of `drafted`, on average: each draft has the same probability once the one before it
/// was accepted, chosen to match the runs of one server with multi-token prediction.
pub fn accepted(drafted: u32) -> Result<f64, String> {
    let known = &plan::plan()?.drafts;
    let sum = |chance: f64, drafts: u32| (1..=drafts).map(|place| chance.powi(place as i32)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if sum(middle, known.drafted) < known.accepted { low = middle } else { high = middle }
    }
    Ok(sum(low, drafted))
}

impl LaunchSettings {
    /// Whether the script that ran is recorded.
    pub fn matched(&self) -> bool {
        matches!(self.origin, Origin::Recorded | Origin::Published)
    }

    /// Prompts of a run with this many clients, not counting the warm-up.
    pub fn requests(&self, clients: u32) -> u32 {
        self.requests_per_client.saturating_mul(clients)
    }

    /// Tokens of the largest step with prompts that replays a CUDA graph; none if the engine decides.
    pub fn graph_tokens(&self, case: &ServedCase) -> Option<u32> {
        let version = case.engine_version.as_ref().filter(|version| version.is_numbered());
        match self.graphs {
            // SGLang captures prompts by default from 0.5.10 on.
            Graphs::DecodeOnly if case.engine == "sglang" => {
                version.is_none_or(|version| *version < Version::from("0.5.10")).then_some(0)
            }
            Graphs::DecodeOnly => Some(0),
            // Measured runs of TensorRT-LLM do not show it.
            Graphs::FullAndPiecewise if case.engine == "trtllm" => Some(0),
            Graphs::Piecewise | Graphs::FullAndPiecewise => self.graph_batch,
        }
    }

    /// How long prompts wait for others to join them while others decode (TensorRT-LLM without attention DP).
    pub fn batch_wait(&self) -> Option<BatchWait> {
        self.batch_wait.filter(|_| self.attention_dp != Some(true)).map(|wait| BatchWait {
            tokens: (wait.share * f64::from(self.token_budget)).ceil() as u32,
            iterations: wait.iterations,
        })
    }

    /// The format of the KV cache beside weights in this format.
    pub fn kv(&self, weights: Dtype) -> Dtype {
        match self.kv_cache {
            KvCache::Fp8 => Dtype::Fp8,
            KvCache::Checkpoint if weights.has_cache_scales() => Dtype::Fp8,
            KvCache::Checkpoint | KvCache::Auto => Dtype::Bf16,
        }
    }
}
