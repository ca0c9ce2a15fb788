//! The JSON form of a link: one object, its keys the fields' ids, its values those of a link.

use serde_json::{Map, Value};

use super::{Draft, Link, topic, unknown, values};
use crate::config::inputs::{self, InputKind};
use crate::config::measured::paste;
use crate::config::{Field, Issue, Lengths, Measured, Metric, ModelChoice, Scenario, excerpt, json};
use crate::units::decimal;

impl Link {
    /// Reads `{"model": "qwen3-32b", "gpu": "h100-sxm", "tp": 2, ...}`; what is left out takes its default.
    /// `isl` may be a list of lengths, `model` an object like those of the model catalog.
    ///
    /// If there is no link, the issues hold at least one error. An unknown field is an error: it is more likely a
    /// typo than meant to be ignored.
    pub fn from_json(text: &str) -> (Option<Self>, Vec<Issue>) {
        let object = match json::parse(text) {
            Ok(object) => object,
            Err(fault) => return (None, vec![Issue::error(Field::Link, fault)]),
        };
        let mut issues = repeated(text);
        let (link, found) = Self::from_value(&object);
        let sound = issues.is_empty();
        issues.extend(found);
        (link.filter(|_| sound), issues)
    }

    /// Reads a scenario, like [`Self::from_json`], from JSON that is already parsed.
    pub fn from_value(object: &Value) -> (Option<Self>, Vec<Issue>) {
        let several = |field| several(field, object);
        let mut issues: Vec<Issue> = [Field::Load, Field::Ramp].into_iter().filter_map(several).collect();
        let mut draft = Draft::default();
        for (name, value) in object.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            match (inputs::by_name(name), value) {
                (None, _) => issues.push(unknown::name(name, &[])),
                (Some(input), Value::Object(_)) if input.field == Field::Model => match json::of(value) {
                    Ok(model) => draft.link.scenario.model = ModelChoice::Custom(Box::new(model)),
                    Err(fault) => issues.push(Issue::error(Field::Model, fault)),
                },
                (Some(input), Value::Object(_)) if input.field == Field::Measured => {
                    let (measured, found) = paste::of(value);
                    issues.extend(found);
                    draft.link.scenario.measured = measured.unwrap_or_default();
                }
                (Some(input), value) => match plain(value, input.kind()) {
                    Ok(text) => draft.read(input, &text, &mut issues),
                    Err(wanted) => {
                        let text = format!("`{name}` must be {wanted}, not {}", json::kind(value));
                        issues.push(Issue::error(input.field, text));
                    }
                },
            }
        }
        let link = draft.finish(&mut issues);
        let sound = !issues.iter().any(Issue::is_error);
        (sound.then_some(link), issues)
    }

    /// The JSON form with every field that has a value.
    pub fn to_json(&self) -> Value {
        let default = Self::new(Scenario::default());
        let mut map = Map::new();
        for input in inputs::in_links().filter(|input| input.in_json()) {
            let left_out = |text: &String| input.later && input.get(&default).as_ref() == Some(text);
            if let Some(text) = input.get(self).filter(|text| !left_out(text)) {
                map.insert(input.field.id().into(), typed(&text, input.kind()));
            }
        }
        if let ModelChoice::Custom(model) = &self.scenario.model {
            let model = serde_json::to_value(model).unwrap_or_default();
            map.insert(Field::Model.id().into(), model);
        }
        Value::Object(map)
    }
}

impl Scenario {
    /// Reads a scenario's JSON like [`Link::from_json`], without the rest of a link.
    pub fn from_json(text: &str) -> (Option<Self>, Vec<Issue>) {
        let (link, issues) = Link::from_json(text);
        (link.map(|link| link.scenario), issues)
    }

    pub fn to_json(&self) -> Value {
        Link::new(self.clone()).to_json()
    }
}

/// An error for each name that a JSON text gives twice.
pub fn repeated(text: &str) -> Vec<Issue> {
    let twice = |name: String| Issue::error(Field::Link, format!("`{}` is given twice", excerpt(&name)));
    json::repeated(text).into_iter().map(twice).collect()
}

/// An error if several names for the same thing are given: several load sizes, or a ramp and a stagger.
fn several(field: Field, object: &Value) -> Option<Issue> {
    let names = Field::ALL.iter().filter(|name| topic(**name) == field).map(|name| name.id());
    let given: Vec<&str> =
        names.filter(|name| object.get(name).is_some_and(|value| !value.is_null())).collect();
    let text = format!("only one of `{}` can be set", given.join("` and `"));
    (given.len() > 1).then(|| Issue::error(field, text))
}

/// A JSON value as link text, or what it must be instead.
pub(crate) fn plain(value: &Value, kind: InputKind) -> Result<String, &'static str> {
    let number = |value: &Value| value.as_f64().map(decimal);
    match kind {
        InputKind::Whole => number(value).ok_or("a whole number"),
        InputKind::Real => number(value).ok_or("a number"),
        InputKind::Lengths => match value {
            Value::Array(items) => {
                let items = items.iter().map(|item| values::whole(&number(item)?).ok());
                let all = items.collect::<Option<_>>().ok_or("a whole number or a list of them")?;
                Ok(values::show_lengths(&Lengths::Each(all)))
            }
            value => number(value).ok_or("a whole number or a list of them"),
        },
        InputKind::Measured => value.as_str().map(str::to_owned).ok_or("an object or text"),
        _ => value.as_str().map(str::to_owned).ok_or("text"),
    }
}

fn typed(text: &str, kind: InputKind) -> Value {
    match kind {
        InputKind::Whole => text.parse::<u64>().map_or(Value::Null, Value::from),
        InputKind::Real => values::real(text).map_or(Value::Null, Value::from),
        InputKind::Lengths => match values::lengths(text) {
            Ok(Lengths::Fixed(length)) => length.into(),
            Ok(Lengths::Each(all)) => all.into(),
            Err(_) => Value::Null,
        },
        InputKind::Measured => values::measured(text).map_or(Value::Null, |measured| named(&measured)),
        _ => text.into(),
    }
}

/// A measurement under the names of `vllm bench serve`.
fn named(measured: &Measured) -> Value {
    let mut map = Map::new();
    for &metric in Metric::ALL {
        let (figure, mean) = (measured.of(metric), metric.key(false));
        let pairs = [(mean, figure.mean), (metric.key(true), figure.median)];
        let known = pairs.into_iter().filter_map(|(name, number)| Some((name.to_owned(), number?.into())));
        map.extend(known);
    }
    Value::Object(map)
}
