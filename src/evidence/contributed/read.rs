//! Reads a file of contributed runs, and reports everything wrong with it.

use serde_json::{Map, Value};

use super::keys::{GIVEN, HEAD, LOADS, RUN, faults};
use super::{Finding, commands};
use crate::config::catalog::catalog;
use crate::config::link::Link;
use crate::config::measured::paste;
use crate::config::{Field, Issue, Measured, Metric, Scenario, Setup, Severity, Version, check, json};

/// A file of measured runs.
#[derive(Debug, Clone)]
pub struct Contribution {
    /// File name, as in issues.
    pub file: String,
    pub contributor: String,
    /// The valid runs.
    pub runs: Vec<Contributed>,
}

/// A measured run.
#[derive(Debug, Clone)]
pub struct Contributed {
    /// The run's number in the file, from 1.
    pub number: u32,
    /// Exact engine version.
    pub version: Version,
    /// The scenario with its measurements.
    pub scenario: Scenario,
    pub setup: Setup,
}

/// Reads a file. Invalid runs are left out and reported; without a contribution nothing in the file is usable.
pub fn read(file: &str, text: &str) -> (Option<Contribution>, Vec<Finding>) {
    let finding = |run: Option<u32>, issue: Issue| Finding::of(file, run, issue);
    let whole = |text: String| finding(None, Issue::error(Field::Runs, text));
    let object = match json::parse(text) {
        Ok(object) => object,
        Err(fault) => return (None, vec![whole(fault)]),
    };
    let Some(head) = object.as_object() else { return (None, Vec::new()) };
    let repeated = json::repeated(text).into_iter().map(|name| format!("`{name}` is given twice"));
    let mut findings: Vec<Finding> = repeated.chain(faults(head, &HEAD)).map(whole).collect();
    let text_of = |name: &str| head.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut runs = Vec::new();
    for (number, value) in (1_u32..).zip(head.get("runs").and_then(Value::as_array).into_iter().flatten()) {
        let (run, issues) = match value.as_object() {
            Some(object) => run(object, number),
            None => (None, vec![error(format!("it must be an object, not {}", json::kind(value)))]),
        };
        findings.extend(issues.into_iter().map(|issue| finding(Some(number), issue)));
        runs.extend(run);
    }
    // Anonymous runs are not used.
    let sound = !findings.iter().any(|one| one.run.is_none() && one.severity == Severity::Error);
    let read = Contribution { file: file.into(), contributor: text_of("contributor"), runs };
    (sound.then_some(read), findings)
}

fn error(text: impl Into<String>) -> Issue {
    Issue::error(Field::Runs, text)
}

fn run(object: &Map<String, Value>, number: u32) -> (Option<Contributed>, Vec<Issue>) {
    let mut issues: Vec<Issue> = faults(object, &RUN).into_iter().map(error).collect();
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let Some(given) = object.get("scenario").and_then(Value::as_object) else { return (None, issues) };
    issues.extend(left_out(given).into_iter().map(error));
    let Some(scenario) = scenario(given, &mut issues) else { return (None, issues) };
    let (setup, found) = check(&scenario, catalog());
    issues.extend(found.into_iter().filter(Issue::is_error));
    issues.extend(commands::launch(text("launch"), &scenario));
    issues.extend(commands::benchmark(text("benchmark"), &scenario));
    let sound = !issues.iter().any(Issue::is_error);
    let run =
        setup.map(|setup| Contributed { number, version: text("engine_version").into(), scenario, setup });
    (run.filter(|_| sound), issues)
}

/// Inputs that are optional elsewhere, but not here.
fn left_out(given: &Map<String, Value>) -> Vec<String> {
    let gives = |field: &Field| given.get(field.id()).is_some_and(|value| !value.is_null());
    let missing = GIVEN.iter().filter(|field| !gives(field)).map(|field| {
        format!("`{}` is missing in `scenario`: a default would be a guess at what ran", field.id())
    });
    let load = (!LOADS.iter().any(gives)).then(|| {
        format!(
            "`scenario` has no load that calibration learns from: give one of {}",
            LOADS.map(Field::id).join(", ")
        )
    });
    missing.chain(load).collect()
}

/// The scenario with its measurements. A benchmark's report may state more about its run: here it must agree.
fn scenario(given: &Map<String, Value>, issues: &mut Vec<Issue>) -> Option<Scenario> {
    let mut given = given.clone();
    let measured = given.remove(Field::Measured.id());
    let (link, found) = Link::from_value(&Value::Object(given));
    issues.extend(found.into_iter().filter(Issue::is_error));
    let mut link = link?;
    let unsettled: Vec<Issue> = link.settle().into_iter().filter(Issue::is_error).collect();
    if !unsettled.is_empty() {
        issues.extend(unsettled);
        return None;
    }
    let measured = measured?;
    if !measured.is_object() {
        let text = format!("`measured` must be an object, not {}", json::kind(&measured));
        issues.push(Issue::error(Field::Measured, text));
        return None;
    }
    issues.extend(zero(&measured));
    let (read, found) = paste::read(&measured.to_string(), &link.scenario);
    let stricter = |issue: Issue| match issue.severity {
        Severity::Note => issue,
        _ => Issue { severity: Severity::Error, ..issue },
    };
    issues.extend(found.into_iter().map(stricter));
    let read = read?;
    issues.extend(unread(&measured, &read));
    Some(Scenario { measured: read, ..link.scenario })
}

/// Figures given that are none.
fn unread(measured: &Value, read: &Measured) -> Vec<Issue> {
    let given = |metric: &Metric| {
        let keys = [false, true].map(|median| metric.key(median));
        keys.into_iter().find(|key| measured.get(key).is_some_and(|value| !value.is_null()))
    };
    let lost = Metric::ALL.iter().filter(|metric| read.of(**metric).value().is_none()).filter_map(given);
    lost.map(|key| {
        Issue::error(Field::Measured, format!("`{key}` is no positive number: correct it, or leave it out"))
    })
    .collect()
}

/// A TPOT of 0, printed by benchmarks without a second token, and ignored by report readers.
fn zero(measured: &Value) -> Option<Issue> {
    let zero = |key: &&str| measured.get(key).and_then(Value::as_f64) == Some(0.0);
    let key = [false, true].map(|median| Metric::Tpot.key(median)).into_iter().find(zero)?;
    let text = format!("`{key}` is 0: leave out what was not measured");
    Some(Issue::error(Field::Measured, text))
}
