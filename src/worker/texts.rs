//! What the texts hold that visitors paste, drop or open.

use super::protocol::{Read, Text};
use crate::config::measured::paste;
use crate::config::{Bin, Field, Issue, Lengths, Load, Measured, Scenario, Workload, link, pasted};
use crate::serving::run::{Trace, histogram};
use crate::units::{count, significant};

/// Digits of a trace's rate on the form.
const DIGITS: i32 = 3;

/// What the page is to know of it, and the trace to be kept.
pub fn read(asked: &Text) -> (Read, Option<Trace>) {
    let of = |scenario: Option<Scenario>, issues| {
        let link = scenario.map(|scenario| link::encode(&scenario)).unwrap_or_default();
        Read { field: asked.field, issues, link, trace: String::new() }
    };
    match asked.field {
        Field::Trace => match histogram::parse(&asked.text) {
            Some(Ok(bins)) => (of(Some(of_bins(bins)), Vec::new()), None),
            Some(Err(issue)) => (of(None, vec![issue]), None),
            None => {
                let (trace, issues) = Trace::parse(&asked.text);
                let read = of(trace.as_ref().map(of_trace), issues);
                (Read { trace: trace.as_ref().map(said).unwrap_or_default(), ..read }, trace)
            }
        },
        Field::Measured => {
            let (form, _) = link::decode(&asked.link);
            let (measured, issues) = paste::read(&asked.text, &form.scenario);
            (of(measured.map(of_measured), issues), None)
        }
        _ => {
            let (form, _) = link::decode(&asked.link);
            let (scenario, issues) = pasted::read(&asked.text, form.scenario);
            // All of it stands beside the text.
            let issues = issues.into_iter().map(|issue| Issue { field: asked.field, ..issue }).collect();
            (of(scenario, issues), None)
        }
    }
}

fn of_measured(measured: Measured) -> Scenario {
    Scenario { measured, ..Scenario::default() }
}

fn of_workload(workload: Workload) -> Scenario {
    Scenario { workload, ..Scenario::default() }
}

fn of_bins(histogram: Vec<Bin>) -> Scenario {
    of_workload(Workload { histogram, ..Workload::default() })
}

/// Its means: what a link keeps of it.
fn of_trace(trace: &Trace) -> Scenario {
    let (isl, osl) = means(trace);
    let rate = trace.rate().map(|rate| Load::Rate(significant(rate, DIGITS)));
    let default = Workload::default();
    of_workload(Workload { isl: Lengths::Fixed(isl), osl, load: rate.unwrap_or(default.load), ..default })
}

fn means(trace: &Trace) -> (u32, u32) {
    let whole = |tokens: f64| tokens.round().max(1.0) as u32;
    let (prompt, output) = trace.means();
    (whole(prompt), whole(output))
}

fn said(trace: &Trace) -> String {
    let ((isl, osl), (longest, most)) = (means(trace), trace.longest());
    let number = |value: u32| count(f64::from(value));
    format!(
        "Trace of {} requests: prompts of {} tokens on average, {} at most; outputs of {}, {} at most.",
        count(trace.requests.len() as f64),
        number(isl),
        number(longest),
        number(osl),
        number(most),
    )
}
