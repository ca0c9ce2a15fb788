//! Configurations set beside the one of a link: links inside its `vs`, without characters that would be escaped.
//!
//! `v~1~g~h200-sxm~tp~2` is `v=1&g=h200-sxm&tp=2`; two of them are joined by `~~`. A `~` inside a value, which no
//! catalog has, is escaped.

use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};

use super::keys::{self, Draft, Kind};
use super::{ESCAPED, Link, VERSION};
use crate::config::issue::excerpt;
use crate::config::{Field, Scenario};

/// Beside the form's own.
pub const MOST_COMPARED: usize = 3;

const BETWEEN: &str = "~~";
const WITHIN: char = '~';

/// Escaped in a value before the whole is escaped again.
const ESCAPED_WITHIN: &AsciiSet = &ESCAPED.add(b'~');

pub fn encode(compared: &[Scenario]) -> String {
    compared.iter().map(one).collect::<Vec<_>>().join(BETWEEN)
}

fn one(scenario: &Scenario) -> String {
    let link = Link::new(scenario.clone());
    let pair = |(key, value): (&str, String)| {
        format!("{key}{WITHIN}{}", utf8_percent_encode(&value, ESCAPED_WITHIN))
    };
    link.pairs().map(pair).collect::<Vec<_>>().join("~")
}

/// # Errors
/// The first thing in it that does not read: a comparison with half of what was meant would mislead.
pub fn decode(text: &str) -> Result<Vec<Scenario>, String> {
    let all: Vec<&str> = text.split(BETWEEN).filter(|one| !one.is_empty()).collect();
    if all.len() > MOST_COMPARED {
        return Err(format!(
            "{} configurations are to be compared: at most {MOST_COMPARED} are right",
            all.len()
        ));
    }
    all.into_iter().enumerate().map(|(index, text)| read(index + 1, text)).collect()
}

fn read(number: usize, text: &str) -> Result<Scenario, String> {
    let mut draft = Draft::new(Link::new(Scenario::default()));
    let mut parts = text.split(WITHIN);
    let mut issues = Vec::new();
    while let Some(name) = parts.next() {
        let value =
            parts.next().ok_or_else(|| format!("compared {number}: `{}` has no value", excerpt(name)))?;
        let value = &*percent_decode_str(value).decode_utf8_lossy();
        match keys::by_key(name).filter(|key| key.kind != Kind::Links) {
            // What a newer version adds is left out, as in a link.
            None => {}
            Some(key) if key.field == Field::Version && value != VERSION.to_string() => {
                return Err(format!("compared {number} is of another version than {VERSION}"));
            }
            Some(key) => draft.read(key, value, &mut issues),
        }
    }
    let link = draft.finish(&mut issues);
    match issues.into_iter().find(crate::config::Issue::is_error) {
        Some(issue) => Err(format!("compared {number}: {}", issue.text)),
        None => Ok(link.scenario),
    }
}
