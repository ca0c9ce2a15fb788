//! The keys of a contributed runs file. The checker uses this table, and `runs/schema.json` is generated from it.

use chrono::NaiveDate;
use regex_lite::Regex;
use serde_json::{Map, Value, json};

use crate::config::inputs::{self, Input, InputKind};
use crate::config::{Field, Metric, excerpt, json as text};

/// The version of the form.
const SCHEMA: u32 = 1;
/// Maximum runs per file.
pub const MOST_RUNS: usize = 1000;
/// Licences (SPDX) that allow shipping measurements along with what is fitted on them.
const LICENCES: [&str; 10] = [
    "CC0-1.0",
    "CC-BY-4.0",
    "CDLA-Permissive-2.0",
    "ODC-By-1.0",
    "PDDL-1.0",
    "Apache-2.0",
    "MIT",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
];
/// Inputs that must be given: a default would be a guess at what ran.
pub const GIVEN: [Field; 8] = [
    Field::Model,
    Field::Gpu,
    Field::Engine,
    Field::Weights,
    Field::Tp,
    Field::Isl,
    Field::Osl,
    Field::Measured,
];
/// The loads calibration learns from; a run has one of them.
pub const LOADS: [Field; 4] = [Field::Concurrency, Field::Rate, Field::ConstantRate, Field::Offline];

/// A key of the file or of one of its runs.
pub struct ContributedKey {
    pub name: &'static str,
    pub required: bool,
    /// The key's meaning, and how to give it.
    about: &'static str,
    form: Form,
}

enum Form {
    Is(u32),
    Text,
    Day,
    /// A regular expression, and its description.
    Pattern(&'static str, &'static str),
    OneOf(&'static [&'static str]),
    Whole,
    Runs,
    Scenario,
}

const fn key(name: &'static str, required: bool, form: Form, about: &'static str) -> ContributedKey {
    ContributedKey { name, required, about, form }
}

pub const HEAD: [ContributedKey; 7] = [
    key("schema", true, Form::Is(SCHEMA), "the version of this form"),
    key("contributor", true, Form::Text, "your name or handle, which the evidence and the calibration name"),
    key(
        "licence",
        true,
        Form::OneOf(&LICENCES),
        "the SPDX identifier of the licence that you give these measurements, such as CC0-1.0",
    ),
    key("date", true, Form::Day, "the day of the measurements"),
    key(
        "how",
        true,
        Form::Text,
        "how it was measured: where the client ran, what warmed the server up, what was repeated",
    ),
    key(
        "source",
        false,
        Form::Pattern("^https://.+", "an address that begins with https://"),
        "where the benchmark's own output can be read",
    ),
    key("runs", true, Form::Runs, "the measured runs"),
];

pub const RUN: [ContributedKey; 6] = [
    key(
        "engine_version",
        true,
        Form::Pattern(r"^\d+\.\d+\.\d+.*$", "an exact version such as 0.11.0 or 1.1.0rc5"),
        "the engine's exact version, as it prints it",
    ),
    key(
        "launch",
        true,
        Form::Text,
        "the command that started the engine, whole, with the published name of the model",
    ),
    key("benchmark", true, Form::Text, "the command that measured, whole"),
    key("repeats", false, Form::Whole, "how many runs the measurement is the mean of; 1 if left out"),
    key("note", false, Form::Text, "what else a reader should know of this run"),
    key(
        "scenario",
        true,
        Form::Scenario,
        "what ran and what was measured: the JSON form of a configuration (docs/links.md), as `predict` reads it",
    ),
];

impl Form {
    /// What a value of this form must be; `None` if `value` is valid.
    fn wanted(&self, value: &Value) -> Option<String> {
        let fits = match self {
            Self::Is(number) => value.as_u64() == Some(u64::from(*number)),
            Self::Text => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Self::Day => value.as_str().is_some_and(is_day),
            Self::Pattern(pattern, _) => {
                let matches = |text: &str| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text));
                value.as_str().is_some_and(matches)
            }
            Self::OneOf(all) => value.as_str().is_some_and(|text| all.contains(&text)),
            Self::Whole => value.as_u64().is_some_and(|number| number >= 1),
            Self::Runs => value.as_array().is_some_and(|runs| (1..=MOST_RUNS).contains(&runs.len())),
            Self::Scenario => value.is_object(),
        };
        let wanted = || match self {
            Self::Is(number) => number.to_string(),
            Self::Text => "text".into(),
            Self::Day => "a day as YYYY-MM-DD".into(),
            Self::Pattern(_, words) => (*words).to_owned(),
            Self::OneOf(all) => format!("one of {}", all.join(", ")),
            Self::Whole => "a whole number of at least 1".into(),
            Self::Runs => format!("a list of 1 to {MOST_RUNS} runs"),
            Self::Scenario => "an object".into(),
        };
        (!fits).then(wanted)
    }

    fn schema(&self) -> Value {
        match self {
            Self::Is(number) => json!({ "const": number }),
            Self::Text => json!({ "type": "string", "minLength": 1 }),
            Self::Day => json!({ "type": "string", "format": "date" }),
            Self::Pattern(pattern, _) => json!({ "type": "string", "pattern": pattern }),
            Self::OneOf(all) => json!({ "enum": all }),
            Self::Whole => json!({ "type": "integer", "minimum": 1 }),
            Self::Runs => {
                json!({ "type": "array", "minItems": 1, "maxItems": MOST_RUNS, "items": of_keys(&RUN) })
            }
            Self::Scenario => scenario(),
        }
    }
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

/// Missing, unknown or malformed keys of an object, a sentence each.
pub fn faults(object: &Map<String, Value>, keys: &[ContributedKey]) -> Vec<String> {
    let given = |key: &ContributedKey| object.get(key.name).filter(|value| !value.is_null());
    let of_key = |key: &ContributedKey| match given(key) {
        None => key.required.then(|| format!("`{}` is missing: give {}", key.name, key.about)),
        Some(value) => {
            let shown = match value {
                Value::String(text) => format!("`{}`", excerpt(text)),
                Value::Number(number) => number.to_string(),
                Value::Array(all) => format!("a list of {}", all.len()),
                other => text::kind(other).to_owned(),
            };
            key.form.wanted(value).map(|wanted| format!("`{}` must be {wanted}, not {shown}", key.name))
        }
    };
    let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
    let unknown = object.keys().filter(|name| !names.contains(&name.as_str())).map(|name| {
        let place = match inputs::by_name(name) {
            Some(_) => "it belongs in `scenario`".to_owned(),
            None => format!("choose one of {}", names.join(", ")),
        };
        format!("`{}` is not a key here: {place}", excerpt(name))
    });
    keys.iter().filter_map(of_key).chain(unknown).collect()
}

/// The format as JSON Schema, for editors and authors.
pub fn schema() -> Value {
    let mut schema = of_keys(&HEAD);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "Measured runs, contributed to Rooflight".into();
    schema
}

fn of_keys(keys: &[ContributedKey]) -> Value {
    let property = |key: &ContributedKey| {
        let mut schema = key.form.schema();
        schema["description"] = key.about.into();
        (key.name.to_owned(), schema)
    };
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let properties: Map<String, Value> = keys.iter().map(property).collect();
    json!({ "type": "object", "required": required, "additionalProperties": false, "properties": properties })
}

/// The JSON form of a configuration, from the table of inputs.
fn scenario() -> Value {
    let property = |input: &Input| (input.field.id().to_owned(), of_input(input));
    let properties: Map<String, Value> =
        inputs::in_links().filter(|input| input.in_json()).map(property).collect();
    let one_load = LOADS.map(|load| json!({ "required": [load.id()] }));
    json!({
        "type": "object", "required": GIVEN.map(Field::id), "oneOf": one_load,
        "additionalProperties": false, "properties": properties,
    })
}

fn of_input(input: &Input) -> Value {
    let mut schema = match (input.kind(), &input.number) {
        (kind @ (InputKind::Whole | InputKind::Real), Some(number)) => json!({
            "type": if kind == InputKind::Whole { "integer" } else { "number" },
            "minimum": number.range.min, "maximum": number.range.max,
        }),
        (InputKind::Whole, None) => json!({ "type": "integer" }),
        (InputKind::Real, None) => json!({ "type": "number" }),
        (InputKind::Lengths, _) => json!({ "type": ["integer", "array"] }),
        (InputKind::Measured, _) => {
            let names = Metric::ALL.iter().map(|metric| json!({ "required": [metric.key(false)] }));
            json!({ "type": "object", "anyOf": names.collect::<Vec<_>>() })
        }
        _ => json!({ "type": "string" }),
    };
    schema["description"] = input.help.into();
    schema
}
