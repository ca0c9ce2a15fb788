//! Measured runs that state their own configuration: those in an API call, and those saved by the page.

use serde_json::Value;

use crate::config::excerpt;
use crate::config::link::Link;
use crate::config::measured::paste;
use crate::config::{Field, Issue, Load, Scenario};

/// The runs that a caller gives: a list, or the text of a file as [`paste::runs`] reads it. A list with neither links
/// nor runs that state their configuration contains reports.
pub fn any(given: &Value, base: &Link) -> (Vec<Scenario>, Vec<Issue>) {
    let (runs, issues) = match given {
        Value::Array(all) if all.is_empty() || all.iter().any(|run| run.is_string() || is_run(run)) => {
            return read(all, base);
        }
        Value::String(text) => paste::runs(text, &base.scenario),
        reports => paste::runs(&reports.to_string(), &base.scenario),
    };
    (runs, issues.into_iter().map(|issue| Issue { field: Field::Runs, ..issue }).collect())
}

/// The runs in `given`: each a link, or an object with the inputs that differ from `base`, and `measured`. Runs
/// that cannot be read are reported and dropped.
pub fn read(given: &[Value], base: &Link) -> (Vec<Scenario>, Vec<Issue>) {
    let (mut runs, mut issues) = (Vec::new(), Vec::new());
    for (number, value) in (1_u32..).zip(given) {
        let named = |issue: Issue| Issue {
            field: Field::Runs,
            text: format!("run {number}: {}", issue.text),
            ..issue
        };
        let (link, found) = match value {
            Value::String(text) => Link::read(text),
            value => Link::from_value(&merged(value, base)),
        };
        issues.extend(found.into_iter().map(named));
        match link.map(|link| link.scenario) {
            Some(run) if run.measured.is_empty() => {
                let text = format!(
                    "run {number} has no measurements: add `measured`, such as {{\"mean_ttft_ms\": 154}}"
                );
                issues.push(Issue::error(Field::Runs, text).with_given(excerpt(&value.to_string())));
            }
            Some(run) => runs.push(run),
            None => {}
        }
    }
    (runs, issues)
}

/// Whether an object is such a run rather than a benchmark's report.
pub fn is_run(value: &Value) -> bool {
    value.get(Field::Measured.id()).is_some_and(Value::is_object)
}

/// Runs as stored in a file, one per line: the full configuration and its measurements.
pub fn print(runs: &[Scenario]) -> String {
    runs.iter().map(|run| format!("{}\n", run.to_json())).collect()
}

/// `changes` applied to `base`. A different kind of load replaces its own.
fn merged(changes: &Value, base: &Link) -> Value {
    let (Value::Object(changes), Value::Object(mut all)) = (changes, base.scenario.to_json()) else {
        return changes.clone();
    };
    all.remove(Field::Measured.id());
    // Removes the inputs that a change replaces.
    let (degrees, lengths) = ([Field::Tp, Field::Pp, Field::Dp], [Field::Isl, Field::Osl]);
    let (sizes, starts) = (Load::sizes(), [Field::Ramp, Field::Stagger]);
    for (of, replaced) in [
        (&sizes[..], &sizes[..]),
        (&degrees, &[Field::Gpus]),
        (&lengths, &[Field::Histogram]),
        (&starts, &starts),
    ] {
        if of.iter().any(|field| changes.contains_key(field.id())) {
            replaced.iter().for_each(|field| drop(all.remove(field.id())));
        }
    }
    all.extend(changes.clone());
    Value::Object(all)
}
