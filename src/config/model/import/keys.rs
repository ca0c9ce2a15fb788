//! Config keys that nothing reads: harmless ones, known by name, and reasons to refuse.

use serde_json::Value;

use super::family;
use super::fields::Fields;
use crate::config::excerpt;

/// Whether a key changes no count in any family.
pub fn idle(key: &str) -> bool {
    let fits = |name: &str| match name.strip_prefix('*') {
        Some(part) => key.contains(part),
        None => name == key,
    };
    key.starts_with("rope") || key.ends_with("_id") || family::idle().any(fits)
}

/// Whether a value is equivalent to leaving the key out.
pub fn off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(true) => false,
    }
}

/// Keys that were not read and may change a count. `extra` lists keys without effect in this family, with `=` if
/// only for one value.
pub fn unread(fields: &Fields<'_>, extra: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    within(fields, extra, "", fields.object(), &mut found);
    found
}

fn within(fields: &Fields<'_>, extra: &[String], path: &str, object: &Value, found: &mut Vec<String>) {
    for (key, value) in object.as_object().into_iter().flatten() {
        let full = format!("{path}{key}");
        if off(value) || idle(key) || extra.iter().any(|rule| allows(rule, &full, value)) {
            continue;
        }
        let inner = format!("{full}.");
        if value.is_object() && fields.asked_within(&inner) {
            within(fields, extra, &inner, value, found);
        } else if !fields.was_read(&full) {
            found.push(format!("`{}`", excerpt(&full)));
        }
    }
}

fn allows(rule: &str, key: &str, value: &Value) -> bool {
    match rule.split_once('=') {
        None => rule == key,
        Some((name, only)) => {
            let number = value.as_f64();
            name == key && (value.as_str() == Some(only) || number.is_some() && number == only.parse().ok())
        }
    }
}
