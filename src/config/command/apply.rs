//! Applies an engine's command-line arguments to a scenario.

use super::benchmark::Client;
use super::find::LaunchCommand;
use super::flags::{Flag, flags, of_words};
use super::settings::HEAVY;
use super::{DataParallel, EngineLaunch, HostCacheUnit, Setting, launches, setting};
use crate::config::names::settle;
use crate::config::{
    Dtype, Field, Issue, ModelChoice, Overrides, Parallelism, Prefill, Scenario, catalog, excerpt,
};
use crate::units::{GIB, count};

/// How many unrecognised arguments a warning lists.
const NAMED: usize = 20;

/// Values read in addition to the scenario's fields.
#[derive(Default)]
pub(super) struct OtherSettings {
    pub issues: Vec<Issue>,
    pub unknown: Vec<String>,
    /// Unrecognised arguments of [`HEAVY`].
    heavy: Vec<String>,
    pub quantization: Option<Flag>,
    pub kv: Option<Dtype>,
    dp: u32,
    dp_attention: bool,
    ep: Option<u32>,
    ep_over_all: bool,
    /// Host memory for KV cache, in the engine's unit.
    host: Option<f64>,
    /// SGLang's switch for it.
    hierarchical: bool,
    /// Tokens drafted per step.
    drafted: Option<u32>,
    /// Tokens verified per step.
    verified: Option<u32>,
    /// A flag that asks for drafts without saying how many.
    drafted_how: Option<String>,
    /// Tokens of the longest request served.
    longest: Option<f64>,
}

/// The start of a warning of arguments that are not modelled.
pub const CHANGES_RESULTS: &str = "ignored, although it would change the results considerably";
const NOT_RECOGNISED: &str = "not recognised and ignored";

/// `scenario` with the load that `client` sends.
pub fn loaded(client: Client, arguments: &[String], mut scenario: Scenario) -> (Scenario, Vec<Issue>) {
    let mut rest = OtherSettings::default();
    rest.bench(&mut scenario, client, arguments);
    rest.issues.extend(listed(NOT_RECOGNISED, &rest.unknown));
    (scenario, rest.issues)
}

pub fn apply(launch: &LaunchCommand, onto: Scenario, own: Option<&ModelChoice>) -> (Scenario, Vec<Issue>) {
    let words: Vec<&str> = launch.arguments.iter().map(String::as_str).collect();
    let (flags_given, others) = of_words(&words);
    let mut rest = OtherSettings { dp: 1, ..OtherSettings::default() };
    let before = (onto.replicas, onto.prefill.workers);
    let mut scenario = Scenario {
        engine: launch.engine.into(),
        parallel: Parallelism::NONE,
        replicas: 1,
        prefill: Prefill::default(),
        weights: None,
        overrides: Overrides {
            token_budget: None,
            max_seqs: None,
            memory_share: None,
            largest_graph: None,
            ..onto.overrides
        },
        ..onto
    };
    let mut others = others.into_iter();
    let of_flag = flags_given.iter().find(|flag| setting(&flag.name) == Some(Setting::Model));
    let named = of_flag.and_then(|flag| flag.value.clone()).or_else(|| others.next().map(str::to_owned));
    let published = named.as_deref().filter(|_| own.is_none()).unwrap_or_default();
    match &named {
        _ if own.is_some() => scenario.model = own.cloned().unwrap_or(scenario.model),
        // TensorRT-LLM's subcommand, which starts its workers from a file.
        Some(name) if name == "disaggregated" => rest.issues.push(Issue::error(
            Field::Model,
            "the file that describes prefill and decode workers is not read: give the command of a decode worker, and enter \
             the prefill workers",
        )),
        Some(name) => scenario.model = ModelChoice::Catalog(name.clone()),
        None => rest
            .issues
            .push(Issue::error(Field::Model, "the command names no model: give it as `--model NAME`")),
    }
    scenario.workload.turns.host_gib = 0.0;
    flags_given.iter().for_each(|flag| rest.set(&mut scenario, flag));
    let options = flags(&launch.options.join("\n"));
    options.iter().for_each(|option| rest.option(&mut scenario, option));
    rest.unknown.extend(others.map(str::to_owned));
    rest.unknown.extend(launch.unread.iter().chain(&launch.manifest.unread).cloned());
    // What the text writes into such a file is read above.
    let file = flags_given.iter().find(|flag| setting(&flag.name) == Some(Setting::OptionsFile));
    file.into_iter().filter(|_| launch.options.is_empty()).for_each(|flag| rest.unknown(flag));
    if !rest.issues.iter().any(Issue::is_error) {
        rest.issues.extend(settle(&mut scenario));
    }
    rest.quantised(&mut scenario);
    rest.cache(&mut scenario, published);
    rest.drafts(&mut scenario);
    rest.host_cache(&mut scenario);
    rest.ranks(&mut scenario);
    rest.apply_manifest(&mut scenario, &launch.manifest);
    rest.starts_one(&scenario, before);
    if let Some((client, arguments)) = &launch.bench {
        rest.bench(&mut scenario, *client, arguments);
    }
    rest.prefixes(&mut scenario, &[flags_given, options].concat());
    rest.issues.extend(rest.too_long(&scenario));
    rest.issues.extend(listed(NOT_RECOGNISED, &rest.unknown));
    rest.issues.extend(listed(CHANGES_RESULTS, &rest.heavy));
    if launch.others > 0 {
        rest.issues
            .push(Issue::warning(Field::Model, "the text starts several engines: the first one is used"));
    }
    (scenario, rest.issues)
}

impl OtherSettings {
    fn set(&mut self, scenario: &mut Scenario, flag: &Flag) {
        let Some(setting) = setting(&flag.name) else { return self.unknown(flag) };
        let value = flag.value.as_deref();
        match setting {
            Setting::Model | Setting::PrefixCache | Setting::OptionsFile | Setting::Idle => {}
            // These three are neutral only at the value that serving uses.
            Setting::Dtype
                if !value.is_some_and(|value| value.starts_with("float32") || value == "float") => {}
            Setting::Backend if value.is_none_or(|value| value == "pytorch") => {}
            Setting::ChunkedPrefill if self.is_chunked(scenario, flag) => {}
            Setting::Dtype | Setting::Backend | Setting::ChunkedPrefill => self.unknown(flag),
            // Only chains of drafts are modelled, no trees.
            Setting::DraftTree if flag.number() > Some(1.0) => self.unknown(flag),
            Setting::DraftedHow | Setting::DraftTree => self.drafted_how = Some(shown(&flag.name)),
            Setting::Quantization => self.quantization = Some(flag.clone()),
            Setting::Tp => scenario.parallel.tp = self.whole(Field::Tp, flag).unwrap_or(scenario.parallel.tp),
            Setting::Pp => scenario.parallel.pp = self.whole(Field::Pp, flag).unwrap_or(scenario.parallel.pp),
            Setting::Dp => self.dp = self.whole(Field::Dp, flag).unwrap_or(self.dp),
            Setting::DpAttention => self.dp_attention = flag.on(),
            // vLLM's `-ep` is the switch, and elsewhere a degree.
            Setting::Ep if flag.value.is_none() && experts_over_all(scenario) => self.ep_over_all = true,
            Setting::Ep => self.ep = self.whole(Field::Ep, flag),
            Setting::EpOverAll => {
                self.ep_over_all = flag.on() && flag.value.as_deref() != Some("none");
            }
            // SGLang's value for prompts that are not chunked.
            Setting::TokenBudget if flag.value.as_deref() == Some("-1") => self.unknown(flag),
            Setting::TokenBudget => scenario.overrides.token_budget = self.whole(Field::TokenBudget, flag),
            Setting::MaxSeqs => scenario.overrides.max_seqs = self.whole(Field::MaxSeqs, flag),
            Setting::MemoryShare => match flag.number().filter(|share| share.is_finite()) {
                Some(share) => scenario.overrides.memory_share = Some(share),
                None => self.bad(Field::MemoryShare, flag, "a share of memory such as 0.9"),
            },
            Setting::LargestGraph
            | Setting::GraphSizes
            | Setting::Eager
            | Setting::GraphMode
            | Setting::OptimizationLevel => self.graphs(scenario, setting, flag),
            Setting::Compilation => {
                self.compilation(flag).iter().for_each(|option| self.set(scenario, option));
            }
            Setting::Verified => self.verified = self.whole(Field::Drafted, flag),
            Setting::KvFormat => self.kv(flag),
            Setting::Drafted => self.drafted = self.whole(Field::Drafted, flag),
            Setting::Drafting => match drafted_in(flag) {
                Some(drafted) => self.drafted = Some(drafted),
                None => self.unknown(flag),
            },
            // `auto`, or as much as there is memory for, limits no request.
            Setting::Longest => self.longest = flag.amount().filter(|tokens| *tokens > 0.0),
            Setting::HostCacheOn => self.hierarchical = flag.on(),
            Setting::HostCache => match flag.number().filter(|size| size.is_finite() && *size >= 0.0) {
                Some(size) => self.host = Some(size),
                None => self.bad(Field::HostCache, flag, "an amount of memory such as 64"),
            },
        }
    }

    /// Whether a flag leaves prompts in chunks, or whole, as the engine does by default.
    fn is_chunked(&self, scenario: &Scenario, flag: &Flag) -> bool {
        let is_chunked = flag.on() != flag.name.starts_with("no_");
        launches().of(&scenario.engine).is_some_and(|of| is_chunked == of.chunked_prefill)
    }

    /// A warning if the server refuses the load's requests.
    fn too_long(&self, scenario: &Scenario) -> Option<Issue> {
        let tokens = scenario.workload.longest_sequence(u32::MAX);
        let longest = self.longest.filter(|longest| *longest < tokens)?;
        let text = format!(
            "this server refuses the load: it takes up to {} tokens of prompt and output together, and requests have up to {}. \
             Raise its limit or shorten the requests",
            count(longest),
            count(tokens),
        );
        Some(Issue::warning(Field::Isl, text))
    }

    /// A line of a TensorRT-LLM options file written by the text itself.
    fn option(&mut self, scenario: &mut Scenario, option: &Flag) {
        match (option.name.as_str(), option.value.as_deref()) {
            ("enable_attention_dp", _) => self.dp_attention = option.on(),
            ("decoding_type" | "speculative_model", _) => {}
            ("max_draft_len", Some(_)) => self.drafted = self.whole(Field::Drafted, option),
            (_, None) => {}
            ("cuda_graph_config", Some("null" | "~")) => scenario.overrides.largest_graph = Some(0),
            ("host_cache_size", Some(bytes)) if bytes.parse::<f64>().is_ok() => {
                self.host = option.number().map(|bytes| bytes / GIB);
            }
            // They replace those of the command.
            _ => self.set(scenario, option),
        }
    }

    /// A command says how many tokens are drafted, none unless it says so, but never how many are accepted.
    fn drafts(&mut self, scenario: &mut Scenario) {
        // SGLang drafts as many tokens as it verifies, but for the last accepted one.
        self.drafted = self.drafted.or(self.verified.map(|tokens| tokens.saturating_sub(1)));
        if let (Some(flag), None) = (&self.drafted_how, self.drafted) {
            let text = format!("`{flag}` alone leaves the number of draft tokens to the engine: enter it");
            self.issues.push(Issue::warning(Field::Drafted, text));
        }
        let drafts = &mut scenario.workload.drafts;
        drafts.drafted = self.drafted.unwrap_or(0);
        if drafts.accepted > f64::from(drafts.drafted) {
            drafts.accepted = 0.0;
        }
    }

    /// The host's copy of the KV cache, in the engine's unit; some engines also need a switch.
    fn host_cache(&mut self, scenario: &mut Scenario) {
        let Some(EngineLaunch { host_cache, .. }) = launches().of(&scenario.engine) else { return };
        let named = host_cache.switch.as_ref().zip(host_cache.size.as_ref());
        let text = match (named, self.hierarchical, self.host) {
            (Some((switch, size)), true, None) => format!(
                "`{switch}` without `{size}` sizes the host cache as a multiple of the GPU's KV cache: enter its size per GPU"
            ),
            (Some((switch, size)), false, Some(_)) => format!("`{size}` has no effect without `{switch}`"),
            (_, _, None) => return,
            (_, _, Some(size)) => {
                let gpus = scenario.parallel.tp.saturating_mul(scenario.parallel.pp).max(1);
                scenario.workload.turns.host_gib = match host_cache.unit {
                    HostCacheUnit::GibOfAllGpus => size / f64::from(gpus),
                    HostCacheUnit::GbPerGpu => size * 1e9 / GIB,
                    HostCacheUnit::GibPerGpu => size,
                };
                return;
            }
        };
        self.issues.push(Issue::warning(Field::HostCache, text));
    }

    /// Degrees of parallelism that several flags determine together.
    fn ranks(&mut self, scenario: &mut Scenario) {
        let data_parallel = launches().of(&scenario.engine).map(|of| of.data_parallel);
        let ranks = match data_parallel {
            Some(DataParallel::TimesTp) if scenario.has_experts() => {
                scenario.parallel.dp = self.dp;
                None
            }
            Some(DataParallel::WithinTp) if self.dp_attention => Some(self.dp),
            Some(DataParallel::IsTp) if self.dp_attention => Some(scenario.parallel.tp),
            _ => {
                scenario.replicas = self.dp.max(1);
                None
            }
        };
        match ranks {
            None => {}
            // All GPUs are given as tensor parallel; attention ranks are among them.
            Some(ranks) if ranks > 0 && scenario.parallel.tp.is_multiple_of(ranks) => {
                (scenario.parallel.tp, scenario.parallel.dp) = (scenario.parallel.tp / ranks, ranks);
                if let Some(engine) = catalog().engine(&scenario.engine) {
                    let of_rank = |all: u32| engine.scheduler.of_rank(all, ranks);
                    let given = &mut scenario.overrides;
                    given.token_budget = given.token_budget.map(of_rank);
                    given.max_seqs = given.max_seqs.map(of_rank);
                }
            }
            Some(ranks) => {
                let text = format!(
                    "{} GPUs (TP) are not divisible by {ranks} attention DP ranks: change one of them",
                    scenario.parallel.tp
                );
                self.issues.push(Issue::error(Field::Dp, text));
            }
        }
        let all = scenario.parallel.tp.saturating_mul(scenario.parallel.dp);
        scenario.parallel.ep = match (self.ep_over_all && scenario.has_experts(), self.ep) {
            (true, _) => all,
            (false, Some(ep)) => ep,
            (false, None) => 1,
        };
    }

    /// A whole number; vLLM also reads `8k` and `8K`.
    pub fn whole(&mut self, field: Field, flag: &Flag) -> Option<u32> {
        let whole = flag
            .amount()
            .filter(|number| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number));
        if whole.is_none() {
            self.bad(field, flag, "a whole number");
        }
        whole.map(|number| number as u32)
    }

    fn bad(&mut self, field: Field, flag: &Flag, wanted: &str) {
        let given = flag.value.as_deref().unwrap_or("nothing");
        let text = format!("`{}` is `{}`: expected {wanted}", shown(&flag.name), excerpt(given));
        self.issues.push(Issue::error(field, text));
    }

    pub fn unknown(&mut self, flag: &Flag) {
        let value = flag.value.as_deref().map(|value| format!(" {value}")).unwrap_or_default();
        let heavy = HEAVY.contains(&flag.name.as_str());
        let list = if heavy { &mut self.heavy } else { &mut self.unknown };
        list.push(format!("{}{value}", shown(&flag.name)));
    }
}

fn experts_over_all(scenario: &Scenario) -> bool {
    launches().of(&scenario.engine).is_some_and(|of| of.experts_over_all)
}

fn shown(name: &str) -> String {
    let dashes = if name.len() == 1 { "-" } else { "--" };
    format!("{dashes}{}", name.replace('_', "-"))
}

fn listed(why: &str, unknown: &[String]) -> Option<Issue> {
    let named: Vec<String> = unknown.iter().take(NAMED).map(|one| format!("`{}`", excerpt(one))).collect();
    let more = if unknown.len() > NAMED { " and others" } else { "" };
    let text = format!("{why}: {}{more}", named.join(", "));
    (!unknown.is_empty()).then(|| Issue::warning(Field::Model, text))
}

/// `{"method": "mtp", "num_speculative_tokens": 2}`.
fn drafted_in(flag: &Flag) -> Option<u32> {
    let config: serde_json::Value = serde_json::from_str(flag.value.as_deref()?).ok()?;
    config.get("num_speculative_tokens")?.as_u64()?.try_into().ok()
}
