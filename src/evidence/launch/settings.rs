//! The committed launch settings and their small language of rules.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::{BalanceWait, ColdStart, Excluded, Graphs, Warmup};

static FILE: LazyLock<SettingsFile> =
    LazyLock::new(|| serde_json::from_str(include_str!("settings.json")).unwrap_or_default());

/// The settings of this release. Empty if the file did not parse, which a test excludes.
pub(super) fn settings() -> &'static SettingsFile {
    &FILE
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingsFile {
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "attribution")]
    _attribution: String,
    /// Published names by the name the records use.
    pub models: BTreeMap<String, Vec<String>>,
    /// The records' names of formats that cases name otherwise.
    pub precisions: BTreeMap<String, String>,
    /// Nominal prompt and answer, in tokens, that the scripts run at all.
    pub lengths: Vec<[u32; 2]>,
    /// Shares of them between which the scripts' client draws each length.
    pub length_range: [f64; 2],
    /// The day to which rows without one are put that copy runs of the scripts: the last of the visible ones.
    pub copied_until: String,
    /// What holds for every run of the recorded scripts.
    pub inferencex: Settings,
    /// What is assumed of other runs, and of those of each engine before that.
    pub others: Settings,
    pub others_by_engine: BTreeMap<String, Settings>,
    /// What engines do when a script sets nothing.
    pub defaults: BTreeMap<String, Settings>,
    pub records: Vec<Record>,
    /// Runs that drafted tokens though neither label nor script says so.
    pub drafts: Drafts,
}

/// Batches of runs whose answers come 1.2 to 1.8 times as fast as in all other runs of the same
/// configurations, at the same or a longer TTFT: the multi-token-prediction recipes of the same models.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Drafts {
    pub drafted: u32,
    /// Of which are accepted, on average; what brings these runs in line with the others.
    pub accepted: f64,
    pub batches: Vec<DraftedBatch>,
}

/// One batch: a model by the records' name, an engine, days, and the image.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DraftedBatch {
    pub model: String,
    pub engine: String,
    pub from: String,
    pub until: String,
    pub version: String,
}

/// One launch script over one period.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    pub model: String,
    pub precisions: Vec<String>,
    pub gpu: String,
    pub engines: Vec<String>,
    /// Day of the commit that brought the settings.
    pub from: String,
    /// Day of the commit that replaced them.
    pub until: Option<String>,
    /// Beginnings of the image tags the script ran.
    pub images: Vec<String>,
    /// Why the settings are taken although no script of this GPU is recorded.
    #[serde(default)]
    pub assumed: Option<String>,
    pub settings: Settings,
}

/// What a layer of settings says; the first layer that says something holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Settings {
    pub requests_per_client: Option<Rule<u32>>,
    pub warmup: Option<Rule<Warmup>>,
    pub cold_start: Option<Rule<ColdStart>>,
    pub prompt_stretch: Option<Rule<f64>>,
    pub exact_lengths: Option<Rule<bool>>,
    pub chat_template: Option<Rule<bool>>,
    pub attention_dp: Option<Rule<Switch>>,
    pub ep: Option<Rule<ExpertRanks>>,
    pub token_budget: Option<Rule<Number>>,
    pub max_prefill_tokens: Option<Rule<Number>>,
    pub mixed_chunk: Option<Rule<bool>>,
    pub distinct_prompts: Option<Rule<u32>>,
    pub max_seqs: Option<Rule<Number>>,
    pub chunked: Option<Rule<bool>>,
    pub receive_interval: Option<Rule<u32>>,
    pub batch_wait: Option<Rule<ShareWait>>,
    pub balance_wait: Option<Rule<BalanceWait>>,
    pub prefix_cache: Option<Rule<bool>>,
    pub async_scheduling: Option<Rule<bool>>,
    pub stream_interval: Option<Rule<u32>>,
    pub memory_share: Option<Rule<f64>>,
    pub kv_cache: Option<Rule<KvCache>>,
    pub kv_block_tokens: Option<Rule<u32>>,
    pub attention: Option<Rule<String>>,
    pub moe: Option<Rule<String>>,
    pub all_reduce_fusion: Option<Rule<bool>>,
    pub symmetric_memory: Option<Rule<bool>>,
    pub graphs: Option<Rule<Graphs>>,
    pub graph_batch: Option<Rule<Number>>,
    pub excluded: Vec<Choice<Excluded>>,
    pub doubts: Vec<Choice<String>>,
    pub inferred: Vec<Choice<String>>,
}

/// A value, or the first choice whose conditions hold.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Rule<T> {
    Always(T),
    Choices(Vec<Choice<T>>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice<T> {
    #[serde(rename = "if", default)]
    pub when: When,
    #[serde(rename = "is")]
    pub value: T,
}

/// Conditions that must all hold; those that are absent always do.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct When {
    isl: Option<u32>,
    osl: Option<u32>,
    /// GPUs, which the scripts call TP whether attention is split or dealt.
    tp: Option<u32>,
    tp_from: Option<u32>,
    tp_below: Option<u32>,
    ep: Option<u32>,
    ep_from: Option<u32>,
    /// The label deals experts over more than one GPU.
    labelled_ep: Option<bool>,
    attention_dp: Option<bool>,
    clients_from: Option<u32>,
    clients_below: Option<u32>,
    /// First day on which the rule holds.
    from: Option<String>,
    /// First day on which it no longer does.
    before: Option<String>,
    gpus: Vec<String>,
    /// Part of the image's name.
    image: Option<String>,
    version_below: Option<Vec<u32>>,
}

/// What conditions and numbers refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'a> {
    pub isl: u32,
    pub osl: u32,
    pub clients: u32,
    pub gpus: u32,
    pub ep: u32,
    pub labelled_ep: u32,
    pub attention_dp: bool,
    /// Empty where the case does not say.
    pub day: &'a str,
    pub gpu: &'a str,
    pub image: &'a str,
    pub version: &'a str,
}

impl When {
    pub fn holds(&self, facts: &Facts) -> bool {
        fn all<T>(condition: Option<T>, holds: impl FnOnce(T) -> bool) -> bool {
            condition.is_none_or(holds)
        }
        all(self.isl, |isl| facts.isl == isl)
            && all(self.osl, |osl| facts.osl == osl)
            && all(self.tp, |tp| facts.gpus == tp)
            && all(self.tp_from, |tp| facts.gpus >= tp)
            && all(self.tp_below, |tp| facts.gpus < tp)
            && all(self.ep, |ep| facts.ep == ep)
            && all(self.ep_from, |ep| facts.ep >= ep)
            && all(self.labelled_ep, |labelled| (facts.labelled_ep > 1) == labelled)
            && all(self.attention_dp, |dp| facts.attention_dp == dp)
            && all(self.clients_from, |clients| facts.clients >= clients)
            && all(self.clients_below, |clients| facts.clients < clients)
            && all(self.from.as_deref(), |day| !facts.day.is_empty() && facts.day >= day)
            && all(self.before.as_deref(), |day| !facts.day.is_empty() && facts.day < day)
            && (self.gpus.is_empty() || self.gpus.iter().any(|gpu| gpu == facts.gpu))
            && all(self.image.as_deref(), |image| facts.image.contains(image))
            && all(self.version_below.as_ref(), |below| {
                let version = numbers(facts.version);
                !version.is_empty() && version < *below
            })
    }
}

/// The leading numbers of a version; none of a name.
fn numbers(version: &str) -> Vec<u32> {
    version.trim_start_matches('v').split('.').map_while(|part| part.parse().ok()).collect()
}

impl<T: Clone> Rule<T> {
    fn at(&self, facts: &Facts) -> Option<T> {
        match self {
            Self::Always(value) => Some(value.clone()),
            Self::Choices(choices) => {
                choices.iter().find(|choice| choice.when.holds(facts)).map(|choice| choice.value.clone())
            }
        }
    }
}

/// What the first of `layers` says that says something at all.
pub(super) fn pick<T: Clone>(
    layers: &[&Settings],
    facts: &Facts,
    field: impl Fn(&Settings) -> Option<&Rule<T>>,
) -> Option<T> {
    layers.iter().find_map(|layer| field(layer)?.at(facts))
}

/// A number, or how a script computes it.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
pub(super) enum Number {
    Is(u32),
    Computed(Computed),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Computed {
    Clients,
    QuarterOfClients,
    EighthOfClients,
    TwiceThePrompt,
    /// One prompt and room for the tokens of a chat template.
    #[serde(rename = "prompt_and_1500")]
    PromptAnd1500,
    #[serde(rename = "clients_prompt_and_1500")]
    ClientsPromptAnd1500,
    /// A cap that its script names and runs with more clients do not show.
    #[serde(rename = "clients_from_128")]
    ClientsFrom128,
    /// Clients and one prompt, rounded up to 64 tokens with room to spare.
    Rounded,
    #[serde(rename = "rounded_from_8192")]
    RoundedFrom8192,
    /// vLLM captures graphs up to twice the sequences it may run, and never above 512.
    #[serde(rename = "twice_the_sequences_to_512")]
    TwiceTheSequencesTo512,
}

impl Number {
    pub fn at(self, facts: &Facts, max_seqs: Option<u32>) -> u32 {
        let rounded = facts.clients.saturating_add(facts.isl).saturating_add(127) / 64 * 64;
        match self {
            Self::Is(number) => number,
            Self::Computed(Computed::Clients) => facts.clients,
            Self::Computed(Computed::QuarterOfClients) => facts.clients / 4,
            Self::Computed(Computed::EighthOfClients) => facts.clients / 8,
            Self::Computed(Computed::TwiceThePrompt) => facts.isl.saturating_mul(2),
            Self::Computed(Computed::PromptAnd1500) => facts.isl.saturating_add(1500),
            Self::Computed(Computed::ClientsPromptAnd1500) => {
                facts.clients.saturating_add(facts.isl).saturating_add(1500)
            }
            Self::Computed(Computed::ClientsFrom128) => facts.clients.max(128),
            Self::Computed(Computed::Rounded) => rounded,
            Self::Computed(Computed::RoundedFrom8192) => rounded.max(8192),
            Self::Computed(Computed::TwiceTheSequencesTo512) => {
                max_seqs.map_or(512, |most| most.saturating_mul(2).min(512))
            }
        }
    }
}

/// A wait as TensorRT-LLM is told it: a share of the token budget.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShareWait {
    pub share: f64,
    pub iterations: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KvCache {
    /// As the activations.
    Auto,
    Fp8,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Switch {
    On,
    Off,
    Label,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExpertRanks {
    One,
    Gpus,
    Label,
    /// vLLM's switch: over all GPUs or none, whatever number the label gives.
    GpusIfLabelled,
}
