//! What a request varies: inputs with the values to try.

use std::collections::BTreeSet;

use serde_json::Value;

use super::layouts::{self, Varied};
use crate::config::inputs::{self, Input};
use crate::config::link::{Draft, VARIES, plain};
use crate::config::names::gpu_id;
use crate::config::{Field, Issue, excerpt, json};

/// `{"tp": [1, 2, 4], "gpu": "all"}`.
pub(super) fn read(value: &Value, issues: &mut Vec<Issue>) -> Varied {
    let Some(object) = value.as_object() else {
        let text = format!(
            "`vary` must be an object that maps inputs to lists of values, not {}: GPUs, engines and degrees that are not stated are tried \
            anyway, and others by name, such as {{\"weights\": \"all\"}}",
            json::kind(value)
        );
        issues.push(Issue::error(Field::Vary, text));
        return Varied::default();
    };
    let mut varied = Varied::default();
    for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
        let input = inputs::by_name(name).filter(|input| VARIES.contains(&input.field));
        let Some(input) = input else {
            let known: Vec<&str> = VARIES.iter().map(|field| field.id()).collect();
            let text = format!("`{}` cannot vary: choose from {}", excerpt(name), known.join(", "));
            issues.push(Issue::error(Field::Vary, text));
            continue;
        };
        match values(input, value) {
            Ok(values) => varied.push((input.field, values)),
            Err(found) => issues.extend(found),
        }
    }
    varied
}

fn values(input: &Input, value: &Value) -> Result<Vec<String>, Vec<Issue>> {
    let refuse = |text: String| vec![Issue::error(input.field, text)];
    let listed = match value {
        Value::String(all) if all == layouts::ALL => {
            let why = format!("`{}` cannot be \"all\": list the values to try", input.field.id());
            return layouts::all(input.field).ok_or_else(|| refuse(why));
        }
        Value::Array(values) if !values.is_empty() => values,
        other => {
            let wanted = "a list of values to try, or \"all\"";
            return Err(refuse(format!(
                "`{}` in `vary` must be {wanted}, not {}",
                input.field.id(),
                json::kind(other)
            )));
        }
    };
    let (mut texts, mut issues) = (Vec::new(), Vec::new());
    for value in listed {
        match plain(value, input.kind()) {
            Ok(text) => {
                let is_gpu = matches!(input.field, Field::Gpu | Field::PrefillGpu);
                let text = if is_gpu { gpu_id(&text).to_owned() } else { text };
                issues.extend(unusable(input, &text));
                texts.push(text);
            }
            Err(wanted) => issues.extend(refuse(match (value, &input.number) {
                (Value::String(text), Some(_)) => input.wanted(text),
                _ => format!("`{}` must be {wanted}, not {}", input.field.id(), json::kind(value)),
            })),
        }
    }
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    if issues.is_empty() { Ok(texts) } else { Err(issues) }
}

/// What is wrong with a single value on its own.
fn unusable(input: &Input, text: &str) -> Option<Issue> {
    let mut draft = Draft::default();
    if let Err(issue) = input.set(&mut draft, text) {
        return Some(issue);
    }
    let number = input.number.and_then(|number| (number.read)(&draft.link.scenario));
    number.and_then(|value| input.check(value)).or_else(|| layouts::unknown(input.field, text))
}
