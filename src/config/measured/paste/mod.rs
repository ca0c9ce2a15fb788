//! Pasted benchmark reports: the table or JSON of `vllm bench serve`, output of SGLang's bench_serving,
//! trtllm-bench, genai-perf, aiperf, GuideLLM and inference-perf, and InferenceX records.

mod against;
mod dialects;
mod name;
mod runs;
mod text;

use serde_json::Value;

use super::{Measured, Metric};
use crate::config::catalog::catalog;
use crate::config::names::resolve;
use crate::config::{Field, Issue, Model, Scenario, excerpt, json, link};
use crate::units::significant;
use against::{Fact, Stated};
use name::{Name, Statistic};

pub use runs::runs;

/// Digits kept of a number: repeated runs differ in the third.
const DIGITS: i32 = 5;

/// What stands for no number.
const ABSENT: [&str; 7] = ["", "-", "–", "n/a", "na", "none", "null"];

/// How many unrecognised names a note lists.
const NAMED: usize = 5;

/// Reads a report of a run of `scenario`. Contradictions between the report and `scenario` are warnings.
///
/// Without a measurement the issues hold an error that says what was expected.
pub fn read(text: &str, scenario: &Scenario) -> (Option<Measured>, Vec<Issue>) {
    let text = text.trim_start_matches('\u{feff}').trim();
    let report = match is_json(text) {
        true => of_json(text),
        false => Ok(text::titled(text, text.contains(runs::TITLE))),
    };
    match report {
        Ok(report) => {
            let left_out = left_out(std::slice::from_ref(&report));
            let (measured, issues) = report.finish(Some(scenario));
            (measured, issues.into_iter().chain(left_out).collect())
        }
        Err(fault) => (None, vec![Issue::error(Field::Measured, fault)]),
    }
}

/// A note if reports have percentiles, which nothing is compared with.
fn left_out(reports: &[ParsedReport]) -> Option<Issue> {
    let text = "only means and medians are compared: other percentiles, such as P99, are left out";
    reports.iter().any(|report| report.has_percentiles).then(|| Issue::note(Field::Measured, text))
}

/// Reads a report that is a single parsed JSON object, without comparing it with a scenario.
pub fn of(object: &Value) -> (Option<Measured>, Vec<Issue>) {
    let mut report = ParsedReport::default();
    report.take_all(object);
    report.finish(None)
}

/// Whether a text is JSON rather than a log whose lines begin with `[INFO]`.
fn is_json(text: &str) -> bool {
    let list = || text.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(['{', '"', ']']));
    text.starts_with('{') || list()
}

/// The items of a list, or one value after another.
fn values(text: &str) -> Result<Vec<Value>, String> {
    match json::any(text) {
        Ok(Value::Array(all)) => Ok(all),
        Ok(one) => Ok(vec![one]),
        Err(fault) => json::sequence(text).ok_or(fault),
    }
}

/// One object, or one per line, of which the last counts: SGLang appends each run to its file.
fn of_json(text: &str) -> Result<ParsedReport, String> {
    let mut all: Vec<ParsedReport> = values(text)?.iter().flat_map(dialects::reports).collect();
    let count = all.len();
    let mut last = all.pop().unwrap_or_default();
    if count > 1 {
        last.issues.push(Issue::note(Field::Measured, format!("the last of {count} runs was read")));
    }
    Ok(last)
}

/// The state while reading.
#[derive(Default)]
struct ParsedReport {
    measured: Measured,
    stated: Stated,
    /// The model and the engine that the report names.
    model: Option<String>,
    engine: Option<String>,
    gpu: Option<String>,
    precision: Option<String>,
    has_percentiles: bool,
    unknown: Vec<String>,
    issues: Vec<Issue>,
}

impl ParsedReport {
    fn take_all(&mut self, object: &Value) {
        for (name, value) in object.as_object().into_iter().flatten() {
            match value {
                Value::Number(number) => {
                    self.take(name, Statistic::Named, number.as_f64().unwrap_or(f64::NAN))
                }
                Value::String(text) => self.take_text(name, Statistic::Named, text),
                // genai-perf and aiperf: `{"unit": "ms", "avg": 16.3, "p50": 15.9}`.
                Value::Object(_) => {
                    let named = match value["unit"].as_str() {
                        Some(unit) => format!("{name} ({unit})"),
                        None => name.to_owned(),
                    };
                    for (part, statistic) in [("avg", Statistic::Mean), ("p50", Statistic::Median)] {
                        if let Some(number) = value[part].as_f64() {
                            self.take(&named, statistic, number);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Records a text about the run: its model, engine, hardware or kind of load.
    fn take_name(&mut self, name: &str, text: &str) {
        let slot = match &*name.trim().to_ascii_lowercase() {
            "model" | "model_id" => &mut self.model,
            "backend" | "framework" => &mut self.engine,
            "hw" => &mut self.gpu,
            "precision" => &mut self.precision,
            "strategy" => {
                return match text {
                    "synchronous" => self.stated.set(Fact::Concurrency, 1.0),
                    "throughput" => self.stated.set(Fact::Rate, f64::INFINITY),
                    "constant" => self.stated.set(Fact::Burstiness, f64::INFINITY),
                    "poisson" => self.stated.set(Fact::Burstiness, 1.0),
                    _ => {}
                };
            }
            _ => return,
        };
        *slot = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    }

    /// Records a printed number, or the name of the model or engine; other text is ignored.
    fn take_text(&mut self, name: &str, statistic: Statistic, text: &str) {
        self.take_name(name, text);
        let meant = text.split_whitespace().next().and_then(link::pointed);
        match (number(text), meant) {
            (Some(number), _) => self.take(name, statistic, number),
            (None, Some(meant)) if name::of(name, statistic) != Name::Unknown => {
                let wanted = format!("`{}` was not read: use a decimal point, as in {meant}", excerpt(text));
                self.warn(name, &wanted);
            }
            // Not a line of a log: a name with a unit, or a number with a slip in it.
            (None, None)
                if name.trim_end().ends_with(')')
                    || text.trim().starts_with(|letter: char| letter.is_ascii_digit()) =>
            {
                self.warn_of_text(name, statistic, text);
            }
            (None, _) => {}
        }
    }

    /// Records a cell like [`Self::take_text`], but warns of any other text: only a line of a log may contain it.
    fn take_cell(&mut self, name: &str, text: &str) {
        let before = self.issues.len();
        self.take_text(name, Statistic::Named, text);
        if self.issues.len() == before && number(text).is_none() {
            self.warn_of_text(name, Statistic::Named, text);
        }
    }

    /// Warns that a figure of the report has no number.
    fn warn_of_text(&mut self, name: &str, statistic: Statistic, text: &str) {
        let first = text.split_whitespace().next().unwrap_or_default();
        let is_known = matches!(name::of(name, statistic), Name::Measured { .. } | Name::Stated(_));
        if is_known && !ABSENT.contains(&&*first.to_ascii_lowercase()) {
            self.warn(name, &format!("`{}` is not a number and was ignored", excerpt(text.trim())));
        }
    }

    /// Records one number of the report.
    fn take(&mut self, name: &str, statistic: Statistic, number: f64) {
        match name::of(name, statistic) {
            Name::Measured { metric, median, scale: Ok(scale) } => {
                self.set(name, metric, median, number * scale);
            }
            Name::Measured { scale: Err(wanted), .. } => self.warn(name, wanted),
            Name::Stated(fact) => self.stated.set(fact, number),
            Name::Percentile => self.has_percentiles = true,
            Name::Unused => {}
            Name::Unknown => self.unknown.push(excerpt(name.trim())),
        }
    }

    fn set(&mut self, name: &str, metric: Metric, median: bool, number: f64) {
        if metric == Metric::Requests {
            self.stated.set(Fact::Served, number);
        }
        let known = self.measured.of(metric);
        let before = if median { known.median } else { known.mean };
        match self.measured.set(metric, median, number) {
            // Printed by runs without a second token.
            Err(_) if number == 0.0 && metric == Metric::Tpot => {}
            Err(fault) => self.warn(name, &fault),
            Ok(()) if before.is_some_and(|before| before != number) => {
                self.warn(name, "given more than once: the last number counts");
            }
            Ok(()) => {}
        }
    }

    fn warn(&mut self, name: &str, text: &str) {
        self.issues.push(Issue::warning(Field::Measured, format!("`{}`: {text}", excerpt(name.trim()))));
    }

    fn finish(mut self, scenario: Option<&Scenario>) -> (Option<Measured>, Vec<Issue>) {
        if self.measured.is_empty() {
            let text = "no measurement found: expected the table that `vllm bench serve` or SGLang's bench_serving \
                prints, such as `Mean TTFT (ms): 123.4`, or the JSON it saves";
            self.issues.push(Issue::error(Field::Measured, text));
            return (None, self.issues);
        }
        if !self.unknown.is_empty() {
            self.unknown.dedup();
            let more = self.unknown.len().saturating_sub(NAMED);
            self.unknown.truncate(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let text = format!("not recognised and ignored: `{}`{more}", self.unknown.join("`, `"));
            self.issues.push(Issue::note(Field::Measured, text));
        }
        if let Some(scenario) = scenario {
            if let Some((named, own)) = self.model.as_deref().zip(scenario.model.record()) {
                let other = is_of(named, own);
                let is_another = other.as_ref().is_some_and(Issue::is_error);
                self.issues.extend(other);
                if is_another {
                    return (None, self.issues);
                }
            }
            self.issues.extend(self.stated.against(scenario));
            self.issues.extend(self.system(scenario));
            self.measured.map(|number| significant(number, DIGITS));
        }
        (Some(self.measured), self.issues)
    }
}

impl ParsedReport {
    /// Warnings where the run's GPU or format is another. Names that may mean several are all right.
    fn system(&self, scenario: &Scenario) -> Vec<Issue> {
        let differs = |named: &Option<String>, own: &str, is: &dyn Fn(&str) -> bool| {
            let named = named.as_deref().filter(|named| !is(named))?;
            let text = format!("measured with {}, configured with {own}", excerpt(named));
            Some(Issue::warning(Field::Measured, text))
        };
        let is_gpu = |named: &str| {
            // `h200-trt`.
            let of = |name: &str| catalog().gpus_named(name);
            let all = Some(of(named)).filter(|all| !all.is_empty());
            let all = all.unwrap_or_else(|| of(named.split(['-', '_']).next().unwrap_or_default()));
            all.is_empty() || all.iter().any(|gpu| gpu.id == scenario.gpu)
        };
        let format = scenario.weights_format().map_or("", |format| format.id());
        let is_format = |named: &str| format.is_empty() || format.contains(&*named.to_ascii_lowercase());
        let gpu = differs(&self.gpu, &scenario.gpu, &is_gpu);
        gpu.into_iter().chain(differs(&self.precision, format, &is_format)).collect()
    }
}

/// Why a run of the model `named` may not be a run of `own`: an error if their architectures differ.
fn is_of(named: &str, own: &Model) -> Option<Issue> {
    let shapes = |model: &Model| (model.hidden, model.vocab, model.blocks.clone());
    let (short, name) = (excerpt(named), &own.name);
    match resolve(named) {
        Ok(of) if of.model.id == own.id || shapes(of.model) == shapes(own) => None,
        Ok(_) => {
            let text = format!("a run of `{short}`, not of {name}: choose that model to use it");
            Some(Issue::error(Field::Measured, text))
        }
        Err(_) => {
            let text =
                format!("a run of `{short}`, which the catalog does not have: treated as one of {name}");
            Some(Issue::warning(Field::Measured, text))
        }
    }
}

/// `1,234.5`, `123 ms`, `inf`, `nan`.
fn number(text: &str) -> Option<f64> {
    let first = text.split_whitespace().next()?;
    link::ungrouped(first).parse().ok()
}

#[cfg(test)]
mod tests;
