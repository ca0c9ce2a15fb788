//! From a scenario to a prediction.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Failure, FailureKind};
use crate::calibration::KnownRun;
use crate::config::link::{self, Link, MOST_RUNS};
use crate::config::measured::given;
use crate::config::model::import::import_files;
use crate::config::objects::from_json;
use crate::config::{Field, Issue, ModelChoice, Scenario, Setup, catalog, check};
use crate::efficiency::{Efficiencies, Rows, UNANSWERED};
use crate::serving::deviation::{Deviation, deviations};
use crate::serving::run::{Bands, Commands, OwnRuns, Point, Run, Runner, Sweep, Trace};
use crate::serving::table::Tables;
use crate::serving::{Report, answer, plan_among};

/// A scenario as given, and the issues found.
#[derive(Debug, Clone, Default)]
pub struct ParsedScenario {
    /// `None` if a part could not be read.
    pub link: Option<Link>,
    /// `None` if there are errors.
    pub setup: Option<Setup>,
    pub issues: Vec<Issue>,
}

/// Options of a prediction; off by default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Uses ideal kernel times instead of learned efficiencies: needs no models.
    pub roofline: Option<bool>,
    /// Also simulates other loads, and finds the largest that meets the SLOs: takes seconds.
    pub sweep: Option<bool>,
    /// Measured runs to calibrate on, in addition to the link's: links, objects with the inputs that differ from the
    /// configuration and `measured`, or reports of benchmarks; or one text with such objects, reports or a CSV.
    #[cfg_attr(test, ts(type = "Array<string | Config | object> | string"))]
    pub measured: Option<Value>,
    /// The text of a `config.json`, optionally followed by `hf_quant_config.json`: its model replaces the
    /// configuration's.
    pub model_config: Option<String>,
    /// A link that supplies what a launch command leaves open, such as GPU and load.
    pub base: Option<String>,
    /// The text of a trace (CSV or JSON Lines) to replay instead of the configuration's load and lengths.
    pub trace: Option<String>,
}

/// The scenario as understood, all issues, and the answer if there is one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Prediction {
    /// The fragment of a link to the scenario as understood; empty if a part could not be read.
    pub link: String,
    /// Issues with the input and notes on the answer; includes the issues of `report`.
    pub issues: Vec<Issue>,
    /// `None` after a failure, or if an issue has severity `error`. It has no `headline` if the configuration does
    /// not fit.
    pub report: Option<Report>,
    /// The scenario's measurements next to the prediction without runs of your own; empty without measurements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<Deviation>>", optional))]
    pub measured: Vec<Deviation>,
    /// Shell commands that start this configuration and measure it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub commands: Option<Commands>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub sweep: Option<Curve>,
    /// Why there is no (full) answer although the input may be valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub failure: Option<Failure>,
}

/// A curve over loads.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Curve {
    pub points: Vec<Point>,
    /// The largest load that meets the SLOs, if there are any: clients and users start one after another, where the points'
    /// start at once.
    pub largest: Option<f64>,
    /// The largest load that meets the SLOs with the configuration's start, as at the points: all at once by default.
    pub largest_as_stated: Option<f64>,
}

impl Options {
    /// Parses `{"roofline": true, "sweep": true}`; all are optional.
    pub fn from_json(text: &str) -> Result<Self, Issue> {
        from_json(text)
            .map_err(|fault| Issue::error(Field::Link, format!("the options of the call: {fault}")))
    }
}

impl ParsedScenario {
    /// Reads a link, a JSON scenario or a launch command.
    pub fn read(text: &str) -> Self {
        Self::with(text, &Options::default())
    }

    /// Reads a link, a JSON scenario or a launch command, with [`Options::base`] and [`Options::model_config`].
    pub fn with(text: &str, options: &Options) -> Self {
        let base = options.base.as_deref().map(link::decode);
        let (model, found) = options.model_config.as_deref().map(import_files).unwrap_or_default();
        let own = model.map(|model| ModelChoice::Custom(Box::new(model)));
        let on = base.as_ref().map(|(base, _)| &base.scenario);
        let (mut link, mut issues) = Link::read_onto(text, on, own.as_ref());
        issues.extend(base.into_iter().flat_map(|(_, found)| found));
        issues.extend(found);
        if let (Some(link), Some(own)) = (&mut link, own) {
            let model = &mut link.scenario.model;
            // A command's is already replaced.
            if *model != own && *model != Scenario::default().model {
                issues.push(Issue::error(Field::Model, "a model and a config.json are given: leave one out"));
            }
            *model = own;
        }
        let checked = link.as_ref().map(|link| check(&link.scenario, catalog()));
        let (setup, mut found) = checked.unwrap_or_default();
        // The notes of an imported model.
        found.retain(|issue| !issues.contains(issue));
        // A value that could not be read has its default in the scenario, which is not what was meant.
        let is_read = !issues.iter().any(Issue::is_error);
        let setup = setup.filter(|_| is_read);
        link = link.filter(|_| is_read);
        // An unknown model name was already reported.
        let named = issues.iter().any(|issue| issue.field == Field::Model && issue.is_error());
        let again = |issue: &Issue| named && issue.field == Field::Model && issue.given.is_some();
        issues.extend(found.into_iter().filter(|issue| !again(issue)));
        if let (Some(link), Some(runs)) = (&mut link, &options.measured) {
            let (runs, found) = given::any(runs, link);
            link.runs.extend(runs);
            issues.extend(found);
        }
        Self { link, setup, issues }
    }

    /// The prediction. `ask` runs the models.
    pub fn predict(
        self,
        options: &Options,
        ask: impl Fn(&Rows) -> Result<Efficiencies, Failure>,
    ) -> Prediction {
        self.predict_among(options, &mut Tables::default(), ask)
    }

    /// One of many predictions: those of other requests to the same setup share its table of steps in `tables`.
    pub fn predict_among(
        mut self,
        options: &Options,
        tables: &mut Tables,
        ask: impl Fn(&Rows) -> Result<Efficiencies, Failure>,
    ) -> Prediction {
        let own = self.link.as_ref().map(|link| link.runs.clone()).unwrap_or_default();
        if let Some(link) = self.link.as_mut().filter(|link| link.runs.len() > MOST_RUNS) {
            link.runs.drain(..own.len() - MOST_RUNS);
            let text = format!("all {} runs count; the answer's link holds the last {MOST_RUNS}", own.len());
            self.issues.push(Issue::note(Field::Runs, text));
        }
        let mut prediction = Prediction {
            link: self.link.as_ref().map(Link::encode).unwrap_or_default(),
            issues: self.issues,
            ..Prediction::default()
        };
        let Some(setup) = self.setup else { return prediction };
        let trace = match options.trace.as_deref().map(Trace::parse) {
            Some((None, found)) => {
                prediction.issues.extend(found);
                return prediction;
            }
            Some((trace, found)) => {
                prediction.issues.extend(found);
                prediction.issues.retain(|issue| issue.is_error() || issue.field != Field::Requests);
                prediction.issues.push(Trace::stands_for(&setup));
                trace
            }
            None => None,
        };
        let answered = OwnRuns::default().of(&own, &ask).and_then(|(own, found)| {
            prediction.issues.extend(found);
            prediction.answer(&setup, trace, (options, &own, tables), ask)
        });
        prediction.failure = answered.err();
        if let (Some(link), Some(report)) = (&self.link, &prediction.report) {
            let measured = deviations(&link.comparable(), report);
            prediction.measured = measured.into_iter().map(|(_, deviation)| deviation).collect();
        }
        let release = prediction.report.as_ref().and_then(|report| report.basis.release());
        if let (Some(link), Some(release)) = (self.link, release) {
            prediction.issues.extend(link.then_and_now(release));
        }
        prediction
    }
}

impl Prediction {
    /// Whether there are numbers.
    pub fn is_answered(&self) -> bool {
        self.report.as_ref().is_some_and(|report| report.headline.is_some())
    }

    fn answer(
        &mut self,
        setup: &Setup,
        trace: Option<Trace>,
        (options, own, tables): (&Options, &Arc<[KnownRun]>, &mut Tables),
        ask: impl Fn(&Rows) -> Result<Efficiencies, Failure>,
    ) -> Result<(), Failure> {
        self.commands = Some(Commands::of(setup));
        let (plan, rows) = match plan_among(setup, trace, tables) {
            Ok(planned) => planned,
            Err(found) => {
                self.issues.extend(found);
                return Ok(());
            }
        };
        let unanswered = || Failure::new(FailureKind::Models, UNANSWERED);
        let (report, runner) = answer(&plan.calibrated_on(own), &ask(&rows)?).ok_or_else(unanswered)?;
        self.issues.extend(report.issues.iter().cloned());
        let bands = report.calibrated.as_ref().map(|calibrated| calibrated.bands.clone());
        let run = report.run.clone().map(|run| (run, bands));
        if let Some((run, _)) = &run
            && setup.workload.load.is_rate()
        {
            self.commands = Some(Commands::of(&run.repeated(setup)));
        }
        self.report = Some(report);
        if let (Some(true), Some(runner)) = (options.sweep, runner) {
            self.sweep = Some(self.sweep(&runner, run));
        }
        Ok(())
    }

    fn sweep(&mut self, runner: &Runner, known: Option<(Run, Option<Bands>)>) -> Curve {
        let mut sweep = Sweep::of(runner, known);
        loop {
            match sweep.advance(runner) {
                Ok(true) => {}
                Ok(false) => break,
                Err(issue) => {
                    self.issues.push(issue);
                    break;
                }
            }
        }
        Curve {
            points: sweep.curve().to_vec(),
            largest: sweep.largest(),
            largest_as_stated: sweep.largest_as_stated(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roofline(config: &str) -> Prediction {
        let options = Options::from_json(r#"{"roofline": true}"#).expect("known options");
        ParsedScenario::read(config).predict(&options, |_| Ok(Efficiencies::Roofline))
    }

    #[test]
    fn not_fitting_is_among_the_issues() {
        let prediction = roofline(r#"{"model": "deepseek-r1", "gpu": "l4"}"#);
        let report = prediction.report.expect("memory is known");
        assert!(report.headline.is_none());
        let errors: Vec<&Issue> = report.issues.iter().filter(|issue| issue.is_error()).collect();
        assert!(!errors.is_empty() && errors.iter().all(|error| prediction.issues.contains(error)));
        assert!(!roofline("v=1").issues.iter().any(Issue::is_error));
    }

    const CONFIG: &str = r#"{"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072}"#;

    fn errors(asked: &ParsedScenario) -> Vec<&str> {
        let errors = asked.issues.iter().filter(|issue| issue.is_error());
        errors.map(|issue| issue.text.as_str()).collect()
    }

    #[test]
    fn a_config_replaces_the_model() {
        let with = |text: &str, files: &str| {
            ParsedScenario::with(text, &Options { model_config: Some(files.into()), ..Options::default() })
        };
        let own = with("v=1&g=h200-sxm", CONFIG);
        let model = own.setup.as_ref().map(|setup| (setup.model.id.as_str(), setup.gpu.id.as_str()));
        assert_eq!((model, errors(&own)), (Some(("custom", "h200-sxm")), vec![]));
        let unlisted = with("v=1", &CONFIG.replace("\"llama\"", "\"newcomer\"")).issues;
        assert_eq!(unlisted.iter().filter(|issue| issue.text.contains("newcomer")).count(), 1);
        let both = with("v=1&m=qwen3-32b", CONFIG);
        assert!(both.setup.is_none() && errors(&both)[0].contains("leave one out"));
        let command = with("vllm serve ours/Unlisted-7B -tp 2", CONFIG);
        assert_eq!((command.setup.map(|setup| setup.parallel.tp), command.issues), (Some(2), vec![]));
        let broken = with("v=1", "{");
        assert!(broken.setup.is_none() && errors(&broken)[0].contains("JSON"), "{:?}", broken.issues);
    }

    #[test]
    fn a_base_link_fills_what_a_command_leaves_open() {
        let on = |text: &str| {
            let base = Some("v=1&g=h200-sxm&isl=77".into());
            ParsedScenario::with(text, &Options { base, ..Options::default() })
        };
        let asked = on("vllm serve Qwen/Qwen3-8B -tp 2");
        let link = asked.link.as_ref().map(Link::encode);
        assert_eq!(link.as_deref(), Some("v=1&m=qwen3-8b&g=h200-sxm&tp=2&isl=77"));
        for whole in ["v=1", "{\"tp\": 2}"] {
            assert!(errors(&on(whole))[0].contains("applies only to launch commands"));
        }
    }

    #[test]
    fn an_answer_has_no_link_to_less_than_was_asked() {
        for wrong in ["v=1&m=qwen3-32b&n=3&tp=2", "v=1&sp=-3", "v=1&isl=abc", r#"{"isl": "abc"}"#] {
            assert_eq!(roofline(wrong).link, "", "{wrong}");
        }
        // What can be read but not served is kept, with its issue.
        assert_eq!(roofline("v=1&st=0").link, "v=1&st=0");
    }

    #[test]
    fn a_trace_is_replayed() {
        let replayed = |trace: &str| {
            let options = Options { roofline: Some(true), trace: Some(trace.into()), ..Options::default() };
            ParsedScenario::read("v=1").predict(&options, |_| Ok(Efficiencies::Roofline))
        };
        let lines: String = (0..50).map(|at| format!("{at},100,20\n")).collect();
        let answer = replayed(&format!("arrival,prompt,output\n{lines}"));
        let run = answer.report.and_then(|report| report.run).expect("a run");
        assert_eq!((run.requests, run.load), (50, 1.0));
        let refused = replayed("arrival,prompt\n0,1\n");
        assert!(refused.report.is_none() && refused.issues[0].is_error(), "{:?}", refused.issues);
    }

    #[test]
    fn unknown_options_are_named() {
        let issue = Options::from_json(r#"{"rofline": true}"#).expect_err("a slip");
        assert!(issue.text.contains("rofline"), "{}", issue.text);
    }
}
