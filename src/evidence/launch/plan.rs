//! The plan of launches: the committed one, unless replaced.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::LaunchSettings;
use super::label::Label;
use crate::config::Version;
use crate::evidence::cases::ServedCase;

static PLAN: OnceLock<Result<LaunchPlan, String>> = OnceLock::new();

fn read(text: &str) -> Result<LaunchPlan, String> {
    serde_json::from_str(text).map_err(|error| format!("the plan of launches: {error}"))
}

/// The plan that this release ships, or the one set by [`replace_plan`].
pub(super) fn plan() -> Result<&'static LaunchPlan, String> {
    let shipped = || read(include_str!("../../../training/launch_plan.json"));
    PLAN.get_or_init(shipped).as_ref().map_err(String::clone)
}

/// Replaces the plan for as long as the program runs.
///
/// # Errors
/// Not a plan, or the shipped one was used before.
pub fn replace_plan(text: &str) -> Result<(), String> {
    PLAN.set(Ok(read(text)?)).map_err(|_| "the plan of launches is in use".to_owned())
}

#[derive(Debug, Deserialize)]
pub(super) struct LaunchPlan {
    /// All pairs of nominal prompt and answer lengths, in tokens, that the scripts run.
    pub lengths: Vec<[u32; 2]>,
    /// The day assumed for undated rows that copy runs of the scripts: the last day whose runs are visible.
    pub copied_until: String,
    pub drafts: DraftedRuns,
    pub series: Vec<RunSeries>,
    /// Runs of the project that published the scripts, without a recorded script of their own, by engine.
    pub unrecorded: BTreeMap<String, Launches>,
    /// Runs of other projects, by engine.
    pub others: BTreeMap<String, Launches>,
    pub scripts: Vec<Script>,
}

/// Runs that a source makes on one server, one after another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunSeries {
    source: String,
    /// Where the order of the runs is published.
    #[serde(rename = "from")]
    _from: String,
    runs: Vec<SeriesRun>,
}

/// A run of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeriesRun {
    /// Longest prompt and answer, in tokens.
    pub isl: u32,
    pub osl: u32,
    pub requests: u32,
}

impl LaunchPlan {
    /// The run of `case` and those before it on its server; empty if it belongs to no known series.
    pub fn series(&self, case: &ServedCase, requests: u32) -> &[SeriesRun] {
        let run = SeriesRun { isl: case.isl, osl: case.osl, requests };
        let of_source = self.series.iter().filter(|series| series.source == case.source);
        let until = |runs: &'_ [SeriesRun]| runs.iter().position(|&other| other == run);
        of_source.filter_map(|series| Some(&series.runs[..=until(&series.runs)?])).next().unwrap_or_default()
    }
}

/// Runs with multi-token prediction. The labels do not say so; the project's sweeps do: those of `dsr1-*-trt-mtp` began on
/// 2026-01-14 and took a new image on 2026-02-05 and 2026-02-06, and of Qwen3.5 in FP8 on B200 only
/// `qwen3.5-fp8-b200-sglang-mtp` ran TP 4 without EP.
#[derive(Debug, Deserialize)]
pub(super) struct DraftedRuns {
    pub drafted: u32,
    /// How many of the drafted tokens are accepted on average: the value that brings these runs in line with the
    /// others.
    pub accepted: f64,
    pub inferred: String,
    batches: Vec<DraftedBatch>,
}

#[derive(Debug, Deserialize)]
struct DraftedBatch {
    models: Vec<String>,
    engine: String,
    version: String,
    /// Days of the runs; if left out, every day, and runs without a date.
    from: Option<String>,
    until: Option<String>,
    gpu: Option<String>,
    precisions: Option<Vec<String>>,
    /// GPUs and EP as labelled.
    tp: Option<u32>,
    ep: Option<u32>,
}

impl DraftedRuns {
    /// Whether `case` is one of these runs.
    pub fn made(&self, case: &ServedCase, label: Label) -> bool {
        let name = case.model.rsplit_once('/').map_or("", |(_, name)| name);
        let (day, version) = (case.measured_on.as_deref(), case.engine_version.as_ref().map(Version::text));
        self.batches.iter().any(|batch| {
            batch.models.iter().any(|model| model == name)
                && batch.engine == case.engine
                && version == Some(&batch.version)
                && batch.from.as_deref().is_none_or(|from| day.is_some_and(|day| from <= day))
                && batch.until.as_deref().is_none_or(|until| day.is_some_and(|day| day <= until))
                && batch.gpu.as_ref().is_none_or(|gpu| *gpu == case.gpu)
                && batch.precisions.as_ref().is_none_or(|all| all.contains(&case.precision))
                && batch.tp.is_none_or(|tp| tp == label.gpus)
                && batch.ep.is_none_or(|ep| ep == label.ep)
        })
    }
}

/// One launch script over one period.
#[derive(Debug, Deserialize)]
pub(super) struct Script {
    pub models: Vec<String>,
    pub precisions: Vec<String>,
    pub gpu: String,
    pub engine: String,
    /// Day of the commit that introduced the settings.
    pub from: String,
    /// Day of the commit that replaced them.
    pub until: Option<String>,
    /// Prefixes of the image tags the script ran.
    #[serde(default)]
    pub images: Vec<String>,
    /// Why the settings are assumed although no script for this GPU is recorded.
    pub assumed: Option<String>,
    #[serde(flatten)]
    pub launches: Launches,
}

/// The fields that are the same in all cases, and the cases with the rest: the first that covers a run applies.
#[derive(Debug, Deserialize)]
pub(super) struct Launches {
    launch: Map<String, Value>,
    cases: Vec<Covered>,
}

/// At least the first value, and below the second, where given.
type Range<T> = Option<(Option<T>, Option<T>)>;

#[derive(Debug, Deserialize)]
struct Covered {
    when: CaseFilter,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// The runs that a case of the plan covers: all of them if it names none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFilter {
    lengths: Option<Vec<[u32; 2]>>,
    gpu: Option<Vec<String>>,
    /// Parts of the image's name.
    image: Option<Vec<String>>,
    /// Attention DP, GPUs and EP as labelled.
    dp: Option<bool>,
    gpus: Range<u32>,
    ep: Range<u32>,
    clients: Range<u32>,
    /// Days sort as text; a run without a day comes after all of them.
    day: Range<String>,
    /// The leading numbers of the version.
    version: Range<Vec<u32>>,
}

/// A run's place in the plan.
pub(super) struct RunKey<'a> {
    pub case: &'a ServedCase,
    pub label: Label,
    pub day: Option<&'a str>,
}

impl CaseFilter {
    fn covers(&self, place: &RunKey) -> bool {
        let RunKey { case, label, day } = place;
        let version = case.engine_version.as_ref().filter(|version| version.is_numbered());
        let numbers = version.map_or_else(|| vec![u32::MAX], |version| version.numbers().to_vec());
        let named = |names: &Option<Vec<String>>, is: &dyn Fn(&str) -> bool| {
            names.as_ref().is_none_or(|names| names.iter().any(|name| is(name)))
        };
        self.lengths.as_ref().is_none_or(|lengths| lengths.contains(&[case.isl, case.osl]))
            && named(&self.gpu, &|gpu| gpu == case.gpu)
            && named(&self.image, &|part| case.image.as_deref().unwrap_or_default().contains(part))
            && self.dp.is_none_or(|dp| dp == label.attention_dp)
            && within(&self.gpus, &label.gpus)
            && within(&self.ep, &label.ep)
            && within(&self.clients, &case.concurrency)
            && within(&self.day, &day.unwrap_or("unknown").to_owned())
            && within(&self.version, &numbers)
    }
}

fn within<T: PartialOrd>(range: &Range<T>, value: &T) -> bool {
    range.as_ref().is_none_or(|(from, before)| {
        from.as_ref().is_none_or(|from| value >= from) && before.as_ref().is_none_or(|before| value < before)
    })
}

/// An amount that depends on the number of clients and the prompt length.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Amount {
    per_client: f64,
    per_prompt: f64,
    plus: f64,
    step: f64,
    at_least: f64,
    at_most: f64,
}

impl Default for Amount {
    fn default() -> Self {
        Self { per_client: 0.0, per_prompt: 0.0, plus: 0.0, step: 1.0, at_least: 0.0, at_most: f64::INFINITY }
    }
}

impl Amount {
    /// The fields that may hold one.
    const FIELDS: [&str; 5] =
        ["token_budget", "max_prefill_tokens", "max_seqs", "graph_batch", "distinct_prompts"];

    fn of(&self, case: &ServedCase) -> u32 {
        let (clients, prompt) = (f64::from(case.concurrency), f64::from(case.isl));
        let whole = clients * self.per_client + prompt * self.per_prompt + self.plus;
        let stepped = (whole / self.step).floor() * self.step;
        stepped.min(self.at_most).max(self.at_least) as u32
    }
}

impl Launches {
    pub fn of(&self, place: &RunKey) -> Result<LaunchSettings, String> {
        let covered = self.cases.iter().find(|one| one.when.covers(place));
        self.read(covered.ok_or("the plan of launches does not cover this run")?, place.case)
    }

    fn read(&self, covered: &Covered, case: &ServedCase) -> Result<LaunchSettings, String> {
        let mut fields = covered.fields.clone();
        fields.extend(self.launch.clone());
        let wrong = |error: serde_json::Error| format!("the plan of launches: {error}");
        for name in Amount::FIELDS {
            if let Some(value) = fields.get_mut(name).filter(|value| value.is_object()) {
                let amount: Amount = serde_json::from_value(value.take()).map_err(wrong)?;
                *value = amount.of(case).into();
            }
        }
        serde_json::from_value(fields.into()).map_err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_those_of_the_sweeps_that_name_them() {
        let drafts = &plan().unwrap().drafts;
        let run = |engine: &str, model: &str, version: &str, day: Option<&str>| ServedCase {
            engine: engine.into(),
            model: model.into(),
            engine_version: Some(version.into()),
            measured_on: day.map(str::to_owned),
            gpu: "b200".into(),
            precision: "fp8".into(),
            ..ServedCase::default()
        };
        let label = |gpus, ep| Label { gpus, ep, attention_dp: false };
        let qwen = run("sglang", "Qwen/Qwen3.5-397B-A17B", "0.5.9", None);
        assert!(drafts.made(&qwen, label(4, 1)));
        assert!(!drafts.made(&qwen, label(4, 4)) && !drafts.made(&qwen, label(8, 1)));
        let deepseek = |day| run("trtllm", "deepseek-ai/DeepSeek-R1", "1.2.0rc6.post3", day);
        assert!(drafts.made(&deepseek(Some("2026-02-06")), label(8, 1)));
        assert!(
            !drafts.made(&deepseek(Some("2026-02-03")), label(8, 1))
                && !drafts.made(&deepseek(None), label(8, 1))
        );
    }

    #[test]
    fn every_case_reads() {
        let plan = plan().unwrap();
        let scripts = plan.scripts.iter().map(|script| &script.launches);
        for launches in scripts.chain(plan.unrecorded.values()).chain(plan.others.values()) {
            for case in &launches.cases {
                launches.read(case, &ServedCase::default()).unwrap();
            }
        }
    }
}
