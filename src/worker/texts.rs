//! Reads the texts that visitors paste, drop or open.

use super::protocol::{Read, Text};
use crate::config::link::Link;
use crate::config::measured::{conditions, paste};
use crate::config::{Field, Issue, Lengths, Load, Scenario, Workload, link, pasted};
use crate::find::sentence;
use crate::serving::run::{Trace, histogram, longest, means};
use crate::units::{count, counted, significant};

/// Digits of a trace's rate on the form.
const DIGITS: i32 = 3;

/// The result for the page, and the trace to keep.
pub fn read(asked: &Text) -> (Read, Option<Trace>) {
    let of = |scenario: Option<Scenario>, issues| {
        let link = scenario.map(|scenario| link::encode(&scenario)).unwrap_or_default();
        Read { field: asked.field, issues, link, trace: String::new() }
    };
    match asked.field {
        Field::Trace => match histogram::parse(&asked.text) {
            Some(Ok(bins)) => {
                (of(Some(of_workload(Workload { histogram: bins, ..Workload::default() })), Vec::new()), None)
            }
            Some(Err(issue)) => (of(None, vec![issue]), None),
            None => {
                let (trace, issues) = Trace::parse(&asked.text);
                let read = of(trace.as_ref().map(of_trace), issues);
                (Read { trace: trace.as_ref().map(summary).unwrap_or_default(), ..read }, trace)
            }
        },
        Field::Vary => {
            let (form, _) = link::decode(&asked.link);
            let (link, issues) = match sentence::read(&asked.text, form) {
                Ok((link, issues)) => (link.encode(), issues),
                Err(issue) => (String::new(), vec![issue]),
            };
            // All issues are shown next to the text.
            let issues = issues.into_iter().map(|issue| Issue { field: Field::Vary, ..issue }).collect();
            (Read { field: Field::Vary, issues, link, trace: String::new() }, None)
        }
        Field::Measured => {
            let (form, _) = link::decode(&asked.link);
            let (runs, mut issues) = paste::runs(&asked.text, &form.scenario);
            if runs.len() > link::MOST_RUNS {
                let text =
                    format!("{} runs were read; only the last {} calibrate", runs.len(), link::MOST_RUNS);
                issues.push(Issue::note(Field::Measured, text));
            }
            let last = runs.len().saturating_sub(link::MOST_RUNS);
            let link = of_runs(&form.scenario, runs[last..].to_vec());
            let read = of(None, issues);
            (Read { link: link.map(|link| link.encode()).unwrap_or_default(), ..read }, None)
        }
        _ => {
            let (form, _) = link::decode(&asked.link);
            let (scenario, issues) = pasted::read(&asked.text, form.scenario);
            // All issues are shown next to the text.
            let issues = issues.into_iter().map(|issue| Issue { field: asked.field, ..issue }).collect();
            (of(scenario, issues), None)
        }
    }
}

/// The runs, plus the measurement for the form's own configuration if one of them has it; always for a single run.
fn of_runs(form: &Scenario, runs: Vec<Scenario>) -> Option<Link> {
    let same = |run: &&Scenario| conditions(run) == conditions(form);
    let compared = runs.iter().rfind(same).or(runs.first().filter(|_| runs.len() == 1));
    let measured = compared.map(|run| run.measured).unwrap_or_default();
    let scenario = Scenario { measured, ..Scenario::default() };
    (!runs.is_empty()).then(|| Link { runs, ..Link::new(scenario) })
}

fn of_workload(workload: Workload) -> Scenario {
    Scenario { workload, ..Scenario::default() }
}

/// A trace's mean lengths and its rate, which fit in a link.
fn of_trace(trace: &Trace) -> Scenario {
    let (isl, osl) = means(&trace.requests);
    let rate = trace.rate().map(|rate| Load::Rate(significant(rate, DIGITS)));
    let default = Workload::default();
    of_workload(Workload { isl: Lengths::Fixed(isl), osl, load: rate.unwrap_or(default.load), ..default })
}

fn summary(trace: &Trace) -> String {
    let ((isl, osl), (longest, most)) = (means(&trace.requests), longest(&trace.requests));
    let number = |value: u32| count(f64::from(value));
    format!(
        "Trace of {}: prompts of {} tokens on average, up to {}; outputs of {}, up to {}.",
        counted(trace.requests.len() as u32, "request"),
        number(isl),
        number(longest),
        number(osl),
        number(most),
    )
}
