//! The scenario as text: a link's fragment, or JSON with the same inputs.
//!
//! `#v=1&m=qwen3-32b&g=h100-sxm&tp=2&w=fp8&kv=fp8&c=32`: pairs of a key of [`INPUTS`](super::inputs::INPUTS) and a value,
//! joined by `&`. A link names only what differs from the defaults of its schema version, which are frozen: those of
//! version 1 are `Scenario::default()`. Reading never fails and never panics: what cannot be read becomes an issue beside
//! its field, unknown keys are kept.

pub(super) mod compared;
pub(super) mod custom;
mod docs;
mod draft;
mod json;
pub(super) mod search_space;
mod split;
mod unknown;
pub(super) mod values;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::command;
use super::inputs::{self, Input};
use super::issue::excerpt;
use super::names::settle;
use super::{Field, Issue, Load, Measured, ModelChoice, Scenario, comparable};

pub use compared::{MOST_COMPARED, MOST_RUNS};
pub use docs::{fields, keys_script};
pub use draft::Draft;
pub(super) use draft::{all_gpus, set_version};
pub(crate) use json::plain;
pub use json::repeated;
pub use search_space::{BY_GPU, POOLED, SearchSpace, VARIES};
pub(crate) use unknown::name as unknown_name;
pub use values::{histogram, pointed, real, show_histogram, ungrouped, whole};

/// The schema this release writes, and the newest it reads.
pub const VERSION: u32 = 1;

/// What a page opened without a link shows: a deployment that meets its limits, of a model and GPU with many
/// measured runs.
pub const FRESH: &str = "v=1&m=llama-3.3-70b-instruct&tp=4&w=fp8&r=4&st=1000&sp=30";

/// What is escaped in a value: all but RFC 3986's unreserved characters, and the comma, which fragments allow and
/// which keeps lists readable.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',');

/// A link, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    pub scenario: Scenario,
    /// The schema version it was written in.
    pub version: u32,
    /// The release of data and weights it was made with, if it pins one.
    pub data_release: Option<String>,
    /// Configurations to compare with, up to [`MOST_COMPARED`].
    pub compared: Vec<Scenario>,
    /// Your own measured runs, up to [`MOST_RUNS`].
    pub runs: Vec<Scenario>,
    /// The search, if plans are requested.
    pub find: Option<SearchSpace>,
    /// Keys unknown to this release, in order, decoded.
    pub extra: Vec<(String, String)>,
}

impl Link {
    /// What was measured of the scenario, to compare with its prediction.
    pub fn comparable(&self) -> Measured {
        comparable(&self.scenario, &self.runs)
    }

    pub fn new(scenario: Scenario) -> Self {
        Self {
            scenario,
            version: VERSION,
            data_release: None,
            compared: Vec::new(),
            runs: Vec::new(),
            find: None,
            extra: Vec::new(),
        }
    }

    /// Replaces published names by catalog ids.
    pub fn settle(&mut self) -> Vec<Issue> {
        // Issues of the others are reported where they are compared.
        for scenario in self.compared.iter_mut().chain(&mut self.runs) {
            settle(scenario);
        }
        settle(&mut self.scenario)
    }

    /// Reads a link, the JSON form of a scenario, or the command that starts an engine. Models may be given by
    /// their published names.
    ///
    /// If there is no link, the issues hold at least one error.
    pub fn read(text: &str) -> (Option<Self>, Vec<Issue>) {
        Self::read_onto(text, None, None)
    }

    /// Reads a text like [`Self::read`]; for commands only, `base` supplies what a command leaves open, and `model`
    /// replaces the one it names.
    pub fn read_onto(
        text: &str,
        base: Option<&Scenario>,
        model: Option<&ModelChoice>,
    ) -> (Option<Self>, Vec<Issue>) {
        let text = text.trim_start_matches(BYTE_ORDER_MARK).trim();
        if text.is_empty() {
            return (
                None,
                vec![Issue::error(Field::Link, "the text is empty: give a link, or an object in JSON")],
            );
        }
        let json = text.starts_with(['{', '[', '"']);
        // A command of several lines, as one line of JSON Lines.
        let quoted: Option<String> = serde_json::from_str(text).ok();
        let command = || {
            let text = quoted.as_deref().or(Some(text).filter(|_| !json))?;
            command::read_with(text, &base.cloned().unwrap_or_default(), model)
        };
        let (mut link, mut issues) = if let Some((scenario, issues)) = command() {
            (scenario.map(Self::new), issues)
        } else if base.is_some() {
            let text = "`--base` applies only to launch commands, and this is not one: give the command that starts the \
                server, with a benchmark after it";
            (None, vec![Issue::error(Field::Link, text)])
        } else if json {
            Self::from_json(text)
        } else if names_nothing(text) {
            // The page opens its own address so, but a program is asked about something.
            (None, vec![unknown::no_input(text)])
        } else {
            let (link, issues) = decode(text);
            let read = !issues.iter().any(|issue| issue.is_error() && issue.field == Field::Link);
            (read.then_some(link), issues)
        };
        issues.extend(link.iter_mut().flat_map(Self::settle));
        (link, issues)
    }

    /// The fragment, without `#`. Written in this release's schema version.
    pub fn encode(&self) -> String {
        let known = self.pairs().map(|(key, value)| pair(key, &value));
        let extra = self.extra.iter().map(|(key, value)| pair(key, value));
        known.chain(extra).collect::<Vec<String>>().join("&")
    }

    /// The pairs that differ from the defaults.
    fn pairs(&self) -> impl Iterator<Item = (&'static str, String)> {
        let default = Self::new(Scenario::default());
        inputs::in_links().filter_map(move |input| {
            let value = input.get(self)?;
            let needed = input.field == Field::Version || input.get(&default).as_ref() != Some(&value);
            needed.then_some((input.key, value))
        })
    }

    /// A warning if the link was made with a different release of data and weights than `release`.
    pub fn then_and_now(&self, release: &str) -> Option<Issue> {
        let then = self.data_release.as_deref().filter(|then| *then != release)?;
        let text = format!(
            "this link was made with release {} of data and weights; the numbers here are from {release} and may differ",
            excerpt(then)
        );
        Some(Issue::warning(Field::Data, text))
    }
}

fn pair(key: &str, value: &str) -> String {
    format!("{}={}", utf8_percent_encode(key, ESCAPED), utf8_percent_encode(value, ESCAPED))
}

/// The fragment of a link to `scenario`, without `#`.
pub fn encode(scenario: &Scenario) -> String {
    Link::new(scenario.clone()).encode()
}

/// Put before a text by some editors.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a link: a whole address, its fragment or query with or without the leading mark.
///
/// Keys in the fragment take precedence over those in the query. Unknown query keys belong to the surrounding page
/// and are dropped; unknown fragment keys are kept.
pub fn decode(text: &str) -> (Link, Vec<Issue>) {
    let text = text.trim_start_matches(BYTE_ORDER_MARK).trim();
    let mut issues = Vec::new();
    let parts = split::split(text, &mut issues);
    let mut draft = Draft::default();
    // What the fragment says too.
    let own: Vec<Field> = parts
        .fragment
        .iter()
        .filter_map(|(key, _)| inputs::by_key(key))
        .map(|input| topic(input.field))
        .collect();
    let query = parts.query.iter().filter_map(|(key, value)| Some((inputs::by_key(key)?, value)));
    let query = query.filter(|(input, _)| !own.contains(&topic(input.field)));
    let mut read = 0;
    for (input, value) in query {
        draft.read(input, value, &mut issues);
        read += 1;
    }
    let mut seen: Vec<&'static Input> = Vec::new();
    let mut unknown = Vec::new();
    for (key, value) in parts.fragment {
        match inputs::by_key(&key) {
            Some(input) => {
                clash(input, &seen, &mut issues);
                seen.push(input);
                draft.read(input, &value, &mut issues);
            }
            None => unknown.push((key, value)),
        }
    }
    let is_empty =
        unknown.is_empty() && (text.contains("://") || text.trim_matches(['#', '?', '/']).is_empty());
    if read + seen.len() > 0 || is_empty {
        draft.link.extra = unknown::keep(unknown, draft.link.version, &mut issues);
    } else if !issues.iter().any(Issue::is_error) {
        let fragment = text.split_once('#').map_or(text, |(_, fragment)| fragment);
        issues.push(unknown::no_input(&split::decode(fragment)));
    }
    (draft.finish(&mut issues), issues)
}

/// Whether an address has no content that a link would read.
pub fn names_nothing(address: &str) -> bool {
    let parts = split::split(address.trim(), &mut Vec::new());
    parts.fragment.is_empty() && !parts.query.iter().any(|(key, _)| inputs::by_key(key).is_some())
}

/// What a field determines: all load sizes determine the load, ramp and stagger the start.
fn topic(field: Field) -> Field {
    match field {
        Field::Stagger => Field::Ramp,
        size if Load::sizes().contains(&size) => Field::Load,
        field => field,
    }
}

/// Says that, of two inputs that set the same thing, the last one counts.
pub fn exclude(first: &str, last: &str) -> String {
    format!("only one of `{first}` and `{last}` can be set: the last one, `{last}`, counts")
}

/// Warns if a key repeats, or sets the same thing as another: `c` and `b`, `m` and `x`.
fn clash(input: &'static Input, seen: &[&'static Input], issues: &mut Vec<Issue>) {
    if let Some(other) = seen.iter().rfind(|other| topic(other.field) == topic(input.field)) {
        let (first, last) = (other.key, input.key);
        let text = match first == last {
            true => format!("`{last}` is given twice; the last one counts"),
            false => exclude(first, last),
        };
        issues.push(Issue::warning(topic(input.field), text));
    }
}
