//! The JSON form of a link: one object, its keys the fields' ids, its values those of a link.

use serde_json::{Map, Number, Value};

use super::keys::{self, Draft, Kind};
use super::{Link, values};
use crate::config::issue::excerpt;
use crate::config::measured::paste;
use crate::config::{Field, Issue, Lengths, Measured, Metric, ModelChoice, Scenario, json};
use crate::units::decimal;

impl Link {
    /// Reads `{"model": "qwen3-32b", "gpu": "h100-sxm", "tp": 2, ...}`; what is left out takes its default.
    /// `isl` may be a list of lengths, `model` an object like those of the model catalog.
    ///
    /// Without a link the issues hold at least one error. A field of another name is an error: it is
    /// more likely a slip than a wish to have it ignored.
    pub fn from_json(text: &str) -> (Option<Self>, Vec<Issue>) {
        let object = match json::parse(text) {
            Ok(object) => object,
            Err(reason) => return (None, vec![Issue::error(Field::Link, reason)]),
        };
        let mut issues = Vec::new();
        let mut draft = Draft::new(Self::new(Scenario::default()));
        for name in json::repeated(text) {
            issues.push(Issue::error(Field::Link, format!("`{}` is given twice", excerpt(&name))));
        }
        let loads = [Field::Concurrency, Field::Rate, Field::Batch].map(Field::id);
        let given: Vec<&str> = loads.into_iter().filter(|name| object.get(name).is_some()).collect();
        if given.len() > 1 {
            let text = format!("`{}` are given together: one of them is right", given.join("` and `"));
            issues.push(Issue::error(Field::Load, text));
        }
        for (name, value) in object.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            match (keys::by_field(name), value) {
                (None, _) => issues.push(unknown(name)),
                (Some(key), Value::Object(_)) if key.field == Field::Model => match json::of(value) {
                    Ok(model) => draft.link.scenario.model = ModelChoice::Custom(Box::new(model)),
                    Err(fault) => issues.push(Issue::error(Field::Model, fault)),
                },
                (Some(key), Value::Object(_)) if key.field == Field::Measured => {
                    let (measured, found) = paste::of(value);
                    issues.extend(found);
                    draft.link.scenario.measured = measured.unwrap_or_default();
                }
                (Some(key), value) => match plain(value, key.kind) {
                    Ok(text) => draft.read(key, &text, &mut issues),
                    Err(reason) => issues.push(Issue::error(key.field, format!("`{name}` is {reason}"))),
                },
            }
        }
        let link = draft.finish(&mut issues);
        let sound = !issues.iter().any(Issue::is_error);
        (sound.then_some(link), issues)
    }

    /// The JSON form with every field that holds a value.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        for key in keys::all() {
            if let Some(text) = (key.show)(self).filter(|_| key.in_json()) {
                map.insert(key.field.id().into(), typed(&text, key.kind));
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
    /// As [`Link::from_json`], without what a link holds beside its scenario.
    pub fn from_json(text: &str) -> (Option<Self>, Vec<Issue>) {
        let (link, issues) = Link::from_json(text);
        (link.map(|link| link.scenario), issues)
    }

    pub fn to_json(&self) -> Value {
        Link::new(self.clone()).to_json()
    }
}

fn unknown(name: &str) -> Issue {
    let known: Vec<&str> = keys::all().filter(|key| key.in_json()).map(|key| key.field.id()).collect();
    Issue::error(
        Field::Link,
        format!("no field is named `{}`; {} are known", excerpt(name), known.join(", ")),
    )
}

/// A JSON value as the text a link would hold, or what it is instead.
fn plain(value: &Value, kind: Kind) -> Result<String, String> {
    let wanted = match kind {
        Kind::Id | Kind::Format | Kind::Histogram | Kind::Packed | Kind::Links => "text",
        Kind::Measured => "an object or text",
        Kind::Whole => "a whole number",
        Kind::Real => "a number",
        Kind::Lengths => "a whole number or a list of them",
    };
    match (value, kind) {
        (
            Value::String(text),
            Kind::Id | Kind::Format | Kind::Histogram | Kind::Measured | Kind::Packed | Kind::Links,
        ) => Ok(text.clone()),
        (Value::Number(number), Kind::Whole | Kind::Real | Kind::Lengths) => Ok(shown(number)),
        (Value::Array(items), Kind::Lengths) => {
            let lengths = items.iter().map(|item| match item {
                Value::Number(number) => values::whole(&shown(number)),
                other => Err(format!("a list with {} in it: {wanted} is right", json::kind(other))),
            });
            Ok(values::show_lengths(&Lengths::Each(lengths.collect::<Result<_, _>>()?)))
        }
        (other, _) => Err(format!("{}: {wanted} is right", json::kind(other))),
    }
}

fn shown(number: &Number) -> String {
    decimal(number.as_f64().unwrap_or(f64::NAN))
}

fn typed(text: &str, kind: Kind) -> Value {
    match kind {
        Kind::Whole => text.parse::<u64>().map_or(Value::Null, Value::from),
        Kind::Real => values::real(text).map_or(Value::Null, Value::from),
        Kind::Lengths => match values::lengths(text) {
            Ok(Lengths::Fixed(length)) => length.into(),
            Ok(Lengths::Each(all)) => all.into(),
            Err(_) => Value::Null,
        },
        Kind::Measured => values::measured(text).map_or(Value::Null, |measured| named(&measured)),
        Kind::Id | Kind::Format | Kind::Histogram | Kind::Packed | Kind::Links => text.into(),
    }
}

/// A measurement by the names that `vllm bench serve` gives its numbers.
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
