//! Configurations nested in a link: those to compare with (`vs`) and measured runs (`run`), without characters that
//! would need escaping.
//!
//! `v~1~g~h200-sxm~tp~2` is `v=1&g=h200-sxm&tp=2`; `~~` separates configurations. A `~` inside a value, which no
//! catalog has, is escaped.

use percent_encoding::{AsciiSet, utf8_percent_encode};

use super::{Draft, ESCAPED, Link, VERSION, split};
use crate::config::inputs::{self, InputKind};
use crate::config::{Issue, Scenario, excerpt};

/// Most configurations to compare with, in addition to the link's own.
pub const MOST_COMPARED: usize = 3;
/// Most measured runs: keeps a link short enough to send.
pub const MOST_RUNS: usize = 100;

const BETWEEN: &str = "~~";
const WITHIN: char = '~';

/// Escaped within a value before the whole is escaped again.
const ESCAPED_WITHIN: &AsciiSet = &ESCAPED.add(b'~');

pub fn encode(all: &[Scenario]) -> String {
    all.iter().map(one).collect::<Vec<_>>().join(BETWEEN)
}

fn one(scenario: &Scenario) -> String {
    let link = Link::new(scenario.clone());
    let pair = |(key, value): (&str, String)| {
        format!("{key}{WITHIN}{}", utf8_percent_encode(&value, ESCAPED_WITHIN))
    };
    link.pairs().map(pair).collect::<Vec<_>>().join("~")
}

/// The configurations to compare with. Fails at the first part that cannot be read: a comparison with half of what
/// was meant would mislead.
pub fn read(text: &str) -> Result<Vec<Scenario>, String> {
    decode(text, MOST_COMPARED)
}

/// The measured runs. Fails at the first part that cannot be read, and on a run without a measurement.
pub fn read_runs(text: &str) -> Result<Vec<Scenario>, String> {
    let runs = decode(text, MOST_RUNS)?;
    match runs.iter().position(|run| run.measured.is_empty()) {
        Some(index) => Err(format!("run {} has no measurements", index + 1)),
        None => Ok(runs),
    }
}

fn decode(text: &str, most: usize) -> Result<Vec<Scenario>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut parts = text.split(WITHIN).peekable();
    let mut all = Vec::new();
    // An empty part separates two links.
    loop {
        while parts.next_if(|part| part.is_empty()).is_some() {}
        if parts.peek().is_none() {
            break;
        }
        let number = all.len() + 1;
        if number > most {
            return Err(format!("at most {most} configurations can be given here"));
        }
        let mut draft = Draft::default();
        let mut issues = Vec::new();
        while let Some(name) = parts.next_if(|part| !part.is_empty()) {
            let Some(value) = parts.next() else {
                return Err(format!("configuration {number}: `{}` has no value", excerpt(name)));
            };
            // Additions of a newer version are dropped.
            if let Some(input) = inputs::by_key(name)
                .filter(|input| !matches!(input.kind(), InputKind::Links | InputKind::Wishes))
            {
                draft.read(input, &split::decode(value), &mut issues);
            }
        }
        let newer = draft.link.version != VERSION;
        let link = draft.finish(&mut issues);
        if newer || issues.iter().any(Issue::is_error) {
            let reason = issues.first().map_or("", |issue| &issue.text);
            return Err(format!("configuration {number}: {reason}"));
        }
        all.push(link.scenario);
    }
    Ok(all)
}
