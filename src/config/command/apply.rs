//! Applies an engine's command-line arguments to a scenario.

use super::benchmark::Client;
use super::find::LaunchCommand;
use super::flags::{Flag, flags, of_words};
use super::graphs::level;
use super::options::{Program, Setting, is_heavy, setting};
use super::{HostCacheUnit, launches};
use crate::config::names::settle;
use crate::config::{
    Dtype, Field, Issue, ModelChoice, Overrides, Parallelism, Prefill, Scenario, catalog, excerpt,
};
use crate::units::{GIB, count};

/// How many unrecognised arguments a warning lists.
const NAMED: usize = 20;

/// Reads arguments into a scenario: what is found on the way, and values that several of them determine together.
#[derive(Default)]
pub(super) struct CommandReader {
    pub issues: Vec<Issue>,
    pub unknown: Vec<String>,
    /// Unrecognised arguments that change results considerably.
    heavy: Vec<String>,
    pub quantization: Option<Flag>,
    pub kv: Option<Dtype>,
    pub dp: u32,
    pub dp_attention: bool,
    pub ep: Option<u32>,
    pub ep_over_all: bool,
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
    let mut reader = CommandReader::default();
    reader.bench(&mut scenario, client, arguments);
    reader.issues.extend(listed(NOT_RECOGNISED, &reader.unknown));
    (scenario, reader.issues)
}

pub fn apply(launch: &LaunchCommand, onto: Scenario, own: Option<&ModelChoice>) -> (Scenario, Vec<Issue>) {
    let words: Vec<&str> = launch.arguments.iter().map(String::as_str).collect();
    let (flags_given, others) = of_words(&words);
    let mut reader = CommandReader { dp: 1, ..CommandReader::default() };
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
    let options = flags(&launch.options.join("\n"));
    let model = |of: &[Flag]| given(of, Setting::Model).and_then(|flag| flag.value.clone());
    let named = model(&flags_given).or_else(|| others.next().map(str::to_owned)).or_else(|| model(&options));
    let published = named.as_deref().filter(|_| own.is_none()).unwrap_or_default();
    match &named {
        _ if own.is_some() => scenario.model = own.cloned().unwrap_or(scenario.model),
        // TensorRT-LLM's subcommand, which starts its workers from a file.
        Some(name) if name == "disaggregated" => reader.issues.push(Issue::error(
            Field::Model,
            "the file that describes prefill and decode workers is not read: give the command of a decode worker, and enter \
             the prefill workers",
        )),
        Some(name) => scenario.model = ModelChoice::Catalog(name.clone()),
        None => reader
            .issues
            .push(Issue::error(Field::Model, "the command names no model: give it as `--model NAME`")),
    }
    scenario.workload.turns.host_gib = 0.0;
    // What is read last counts.
    let file_overrides = launches().of(launch.engine).is_some_and(|of| of.file_overrides);
    if file_overrides {
        flags_given.iter().for_each(|flag| reader.set(&mut scenario, flag));
    }
    options.iter().for_each(|option| reader.option(&mut scenario, option));
    if !file_overrides {
        flags_given.iter().for_each(|flag| reader.set(&mut scenario, flag));
    }
    reader.unknown.extend(others.map(str::to_owned));
    reader.unknown.extend(launch.unread.iter().chain(&launch.manifest.unread).cloned());
    // What the text writes into such a file is read above.
    let file = given(&flags_given, Setting::OptionsFile).filter(|_| launch.options.is_empty());
    file.into_iter().for_each(|flag| reader.unknown(flag));
    if !reader.issues.iter().any(Issue::is_error) {
        reader.issues.extend(settle(&mut scenario));
    }
    reader.quantised(&mut scenario);
    reader.cache(&mut scenario, published);
    reader.drafts(&mut scenario);
    reader.host_cache(&mut scenario);
    reader.ranks(&mut scenario);
    reader.apply_manifest(&mut scenario, &launch.manifest);
    reader.starts_one(&scenario, before);
    if let Some((client, arguments)) = &launch.bench {
        reader.bench(&mut scenario, *client, arguments);
    }
    let all = if file_overrides { [flags_given, options] } else { [options, flags_given] };
    reader.prefixes(&mut scenario, &all.concat());
    reader.issues.extend(reader.too_long(&scenario));
    reader.issues.extend(listed(NOT_RECOGNISED, &reader.unknown));
    reader.issues.extend(listed(CHANGES_RESULTS, &reader.heavy));
    if launch.others > 0 {
        reader
            .issues
            .push(Issue::warning(Field::Model, "the text starts several engines: the first one is used"));
    }
    (scenario, reader.issues)
}

impl CommandReader {
    fn set(&mut self, scenario: &mut Scenario, flag: &Flag) {
        let Some(setting) = setting(&flag.name) else { return self.unknown(flag) };
        let value = flag.value.as_deref();
        match setting {
            Setting::Model
            | Setting::PrefixCache
            | Setting::NoPrefixCache
            | Setting::OptionsFile
            | Setting::Idle => {}
            Setting::DraftModel | Setting::Uncounted => self.unknown(flag),
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
            Setting::Ep if value.is_none() && experts_over_all(scenario) => self.ep_over_all = true,
            Setting::Ep => self.ep = self.whole(Field::Ep, flag),
            Setting::EpOverAll => self.ep_over_all = flag.on() && value != Some("none"),
            // SGLang's value for prompts that are not chunked.
            Setting::TokenBudget | Setting::PrefillChunk if value == Some("-1") => self.unknown(flag),
            Setting::TokenBudget | Setting::PrefillChunk => {
                scenario.overrides.token_budget = self.whole(Field::TokenBudget, flag);
            }
            Setting::MaxSeqs => scenario.overrides.max_seqs = self.whole(Field::MaxSeqs, flag),
            Setting::MemoryShare => match flag.number().filter(|share| share.is_finite()) {
                Some(share) => scenario.overrides.memory_share = Some(share),
                None => self.bad(Field::MemoryShare, flag, "a share of memory such as 0.9"),
            },
            Setting::LargestGraph | Setting::GraphSizes | Setting::Eager | Setting::GraphMode => {
                self.graphs(scenario, setting, flag)
            }
            Setting::OptimizationLevel if level(flag).is_some() => self.graphs(scenario, setting, flag),
            // Older versions take the JSON as `-O`.
            Setting::OptimizationLevel | Setting::Compilation => {
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

    /// A line of an options file written by the text itself.
    fn option(&mut self, scenario: &mut Scenario, option: &Flag) {
        match (option.name.as_str(), option.value.as_deref()) {
            ("enable_attention_dp", _) => self.dp_attention = option.on(),
            (_, None) => {}
            ("cuda_graph_config", Some("null" | "~")) => scenario.overrides.largest_graph = Some(0),
            ("host_cache_size", Some(bytes)) if bytes.parse::<f64>().is_ok() => {
                self.host = option.number().map(|bytes| bytes / GIB);
            }
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
        let (Some(of), Some(engine)) = (launches().of(&scenario.engine), catalog().engine(&scenario.engine))
        else {
            return;
        };
        let [switch, size] =
            [Setting::HostCacheOn, Setting::HostCache].map(|of| of.written(Program::of(engine)));
        let text = match (self.hierarchical, self.host) {
            (true, None) if !switch.is_empty() => format!(
                "`{switch}` without `{size}` sizes the host cache as a multiple of the GPU's KV cache: enter its size per GPU"
            ),
            (false, Some(_)) if !switch.is_empty() => format!("`{size}` has no effect without `{switch}`"),
            (_, None) => return,
            (_, Some(size)) => {
                let gpus = scenario.parallel.tp.saturating_mul(scenario.parallel.pp).max(1);
                scenario.workload.turns.host_gib = match of.host_cache {
                    HostCacheUnit::GibOfAllGpus => size / f64::from(gpus),
                    HostCacheUnit::GbPerGpu => size * 1e9 / GIB,
                    HostCacheUnit::GibPerGpu => size,
                };
                return;
            }
        };
        self.issues.push(Issue::warning(Field::HostCache, text));
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
        let list = if is_heavy(&flag.name) { &mut self.heavy } else { &mut self.unknown };
        list.push(format!("{}{value}", shown(&flag.name)));
    }
}

/// The first of the flags that sets `wanted`.
fn given(flags: &[Flag], wanted: Setting) -> Option<&Flag> {
    flags.iter().find(|flag| setting(&flag.name) == Some(wanted))
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
