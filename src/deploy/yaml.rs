//! JSON values as YAML.

use serde_json::Value;

/// Prints documents in order.
pub fn print(documents: &[Value]) -> String {
    let all: Vec<String> = documents.iter().map(|document| lines(document).join("\n") + "\n").collect();
    all.join("---\n")
}

fn lines(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| under(&format!("{name}:"), value)).collect()
        }
        Value::Array(items) => items.iter().flat_map(in_list).collect(),
        scalar => vec![print_scalar(scalar)],
    }
}

fn under(name: &str, value: &Value) -> Vec<String> {
    let is_empty = lines(value).is_empty();
    match value {
        Value::Object(_) if is_empty => vec![format!("{name} {{}}")],
        Value::Array(_) if is_empty => vec![format!("{name} []")],
        Value::Object(_) | Value::Array(_) => std::iter::once(name.to_owned())
            .chain(lines(value).iter().map(|line| format!("  {line}")))
            .collect(),
        Value::String(text) if text.contains('\n') => {
            let text = text.trim_end().lines().map(|line| format!("  {line}"));
            std::iter::once(format!("{name} |")).chain(text).collect()
        }
        scalar => vec![format!("{name} {}", print_scalar(scalar))],
    }
}

fn in_list(item: &Value) -> Vec<String> {
    if item.as_str().is_some_and(|text| text.contains('\n')) {
        return under("-", item);
    }
    let indented = |(index, line): (usize, String)| format!("{}{line}", if index == 0 { "- " } else { "  " });
    lines(item).into_iter().enumerate().map(indented).collect()
}

/// JSON scalars are valid YAML; unambiguous words are left unquoted.
fn print_scalar(value: &Value) -> String {
    let is_plain = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./".contains(letter))
            && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
                .contains(&&*text.to_ascii_lowercase())
    };
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn printed_values_round_trip() {
        let value = json!({"a": {"b": [1, "two", "3", {"c": true, "d": []}, "u\n  v"], "e": "x: y"}, "f": "p\nq\n", "g": {}});
        let text = "a:\n  b:\n    - 1\n    - two\n    - \"3\"\n    - c: true\n      d: []\n    - |\n      u\n        v\n  e: \"x: y\"\nf: |\n  p\n  q\ng: {}\n";
        assert_eq!(print(&[value]), text);
        assert_eq!(print(&[json!({"a": "yes"}), json!({"b": "--tp"})]), "a: \"yes\"\n---\nb: \"--tp\"\n");
    }
}
