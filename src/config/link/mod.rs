//! The scenario as text: the fragment of a link, and the JSON form with the same fields.
//!
//! `#v=1&m=qwen3-32b&g=h100-sxm&tp=2&w=fp8&kv=fp8&c=32`: pairs of [`keys::KEYS`], joined by `&`. A link
//! names only what differs from the defaults of its schema version, which are frozen: version 1's are
//! `Scenario::default()`. Reading never fails and never panics: what cannot be read becomes an issue
//! beside its field, keys of no meaning are kept.

mod compared;
mod custom;
mod form;
mod grammar;
pub mod keys;
mod split;
mod values;

use super::issue::excerpt;
use super::{Field, Issue, Scenario};
use keys::{Draft, Key};

pub use compared::MOST_COMPARED;
pub use grammar::grammar;
pub use values::{histogram, real, show_histogram};

/// The schema this release writes, and the newest it reads.
pub const VERSION: u32 = 1;

/// What stands unescaped in a value, beside letters and digits. RFC 3986 calls all but the comma unreserved; a fragment
/// may hold commas, and they keep lists readable.
const PLAIN: &[u8] = b"-._~,";

/// A link, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    pub scenario: Scenario,
    /// The schema version it was written in.
    pub version: u32,
    /// The release of data and weights it was made with, if it pins one.
    pub data_release: Option<String>,
    /// Configurations to set beside it, [`MOST_COMPARED`] at most.
    pub compared: Vec<Scenario>,
    /// Keys this release does not know, in order, decoded.
    pub extra: Vec<(String, String)>,
}

impl Link {
    pub fn new(scenario: Scenario) -> Self {
        Self { scenario, version: VERSION, data_release: None, compared: Vec::new(), extra: Vec::new() }
    }

    /// The fragment, without `#`. Written in this release's schema version.
    pub fn encode(&self) -> String {
        let known = self.pairs().map(|(key, value)| pair(key, &value));
        let extra = self.extra.iter().map(|(key, value)| pair(key, value));
        known.chain(extra).collect::<Vec<String>>().join("&")
    }

    /// What differs from the defaults, by key.
    fn pairs(&self) -> impl Iterator<Item = (&'static str, String)> {
        let default = Self::new(Scenario::default());
        keys::all().filter_map(move |key| {
            let value = (key.show)(self)?;
            let needed = key.field == Field::Version || (key.show)(&default).as_ref() != Some(&value);
            needed.then_some((key.key, value))
        })
    }

    /// What to keep in mind where the link was made with other data and weights than those of `release`.
    pub fn then_and_now(&self, release: &str) -> Option<Issue> {
        let then = self.data_release.as_deref().filter(|then| *then != release)?;
        let text = format!(
            "this link was made with release {} of data and weights: the numbers here are of {release}, and may differ",
            excerpt(then)
        );
        Some(Issue::warning(Field::Data, text))
    }
}

fn pair(key: &str, value: &str) -> String {
    escaped(key, PLAIN) + "=" + &escaped(value, PLAIN)
}

/// With every byte but letters, digits and `plain` as `%` and two digits. The table of all 256 that the crate has is a part
/// of a kilobyte of the page's first download.
fn escaped(text: &str, plain: &[u8]) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.extend(['%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
    out
}

/// The fragment of a link to `scenario`, without `#`.
pub fn encode(scenario: &Scenario) -> String {
    Link::new(scenario.clone()).encode()
}

/// Reads a link: a whole address, its fragment or query with or without the leading mark.
///
/// Keys of the fragment count over those of the query. Unknown keys of a query belong to the page
/// around it and are dropped, those of a fragment are kept.
pub fn decode(text: &str) -> (Link, Vec<Issue>) {
    let mut issues = Vec::new();
    let parts = split::split(text, &mut issues);
    let mut draft = Draft::new(Link::new(Scenario::default()));
    let mut seen: Vec<&'static Key> = Vec::new();
    for (key, value) in &parts.query {
        if let Some(key) = keys::by_key(key) {
            draft.read(key, value, &mut issues);
        }
    }
    for (name, value) in parts.fragment {
        match keys::by_key(&name) {
            Some(key) => {
                clash(key, &seen, &mut issues);
                seen.push(key);
                draft.read(key, &value, &mut issues);
            }
            None => draft.link.extra.push((name, value)),
        }
    }
    (draft.finish(&mut issues), issues)
}

/// Says so where a key repeats, or names what another one named: `c` and `b`, `m` and `x`.
fn clash(key: &'static Key, seen: &[&'static Key], issues: &mut Vec<Issue>) {
    let topic = |field| match field {
        Field::Concurrency | Field::Batch => Field::Load,
        other => other,
    };
    if let Some(other) = seen.iter().find(|other| topic(other.field) == topic(key.field)) {
        let text = match other.key == key.key {
            true => format!("`{}` is given twice: the last one counts", excerpt(key.key)),
            false => format!("`{}` and `{}` are both given: the last one counts", other.key, key.key),
        };
        issues.push(Issue::warning(topic(key.field), text));
    }
}
