//! Lenient JSON: with a byte-order mark, with Python's `NaN` and `Infinity`, with repeated keys.

use std::fmt;
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};
use serde::Deserializer as _;
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::objects::from_value;

/// Largest text read. Published configs are at most about 60 KB.
pub const MAX_BYTES: usize = 1 << 20;

/// Parses one object, or says in a sentence why `text` holds none.
pub fn parse(text: &str) -> Result<Value, String> {
    if text.len() > MAX_BYTES {
        let (size, most) = (text.len() / 1024, MAX_BYTES / 1024);
        return Err(format!("the text is {size} KiB: the limit is {most} KiB"));
    }
    object(text)
}

/// Parses one object of any size, or says in a sentence why `text` holds none.
pub fn object(text: &str) -> Result<Value, String> {
    match any(text)? {
        value @ Value::Object(_) => Ok(value),
        other => Err(format!("this is {}: it should be a JSON object in braces", kind(&other))),
    }
}

/// Parses a value of any kind and size, or says in a sentence why `text` holds none.
pub fn any(text: &str) -> Result<Value, String> {
    let text = trimmed(text);
    if text.is_empty() {
        return Err("the text is empty: it should be a JSON object in braces".into());
    }
    let value =
        serde_json::from_str(text).or_else(|fault| match text.contains("NaN") || text.contains("Inf") {
            true => serde_json::from_str(&quote_non_finite(text)),
            false => Err(fault),
        });
    match value {
        Ok(value) => Ok(value),
        Err(fault) if fault.is_eof() => {
            Err(format!("not JSON: it ends early, at line {} column {}", fault.line(), fault.column()))
        }
        Err(_) if !text.starts_with(['{', '[']) => {
            Err("this is not JSON: it should be a JSON object in braces".into())
        }
        Err(fault) => Err(format!("not JSON: {fault}")),
    }
}

/// Values one after another, on lines or not; `None` if any is none.
pub fn sequence(text: &str) -> Option<Vec<Value>> {
    let text = quote_non_finite(trimmed(text));
    serde_json::Deserializer::from_str(&text).into_iter().collect::<Result<_, _>>().ok()
}

fn trimmed(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim_end()
}

/// Python's `json` writes numbers that JSON lacks. Quoted, a field holding one is refused by name and others do not
/// matter.
pub fn quote_non_finite(text: &str) -> String {
    static TOKENS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#""(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)"#).ok());
    let Some(tokens) = &*TOKENS else { return text.to_owned() };
    let quoted = tokens.replace_all(text, |found: &Captures<'_>| match &found[0] {
        string if string.starts_with('"') => string.to_owned(),
        number => format!("\"{number}\""),
    });
    quoted.into_owned()
}

/// A value to quote in a message: text as it is, anything else as JSON.
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads a record from parsed JSON, or says which field does not fit and why.
pub fn of<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    from_value(value).map_err(|fault| fault.to_string())
}

/// Splits off the first JSON value; returns the whole text if it does not start with one.
pub fn first(text: &str) -> (&str, &str) {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => text.split_at_checked(values.byte_offset()).unwrap_or((text, "")),
        _ => (text, ""),
    }
}

/// The object under a key.
pub fn inner<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|inner| inner.is_object())
}

/// The type of a value in words.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Keys given more than once in an object; the last value counts, as in Python.
pub fn repeated(text: &str) -> Vec<String> {
    struct Keys;
    impl<'de> Visitor<'de> for Keys {
        type Value = Vec<String>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
            let (mut seen, mut repeated) = (std::collections::BTreeSet::new(), Vec::new());
            while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                if !seen.insert(key.clone()) {
                    repeated.push(key);
                }
            }
            Ok(repeated)
        }
    }
    let text = quote_non_finite(trimmed(text));
    serde_json::Deserializer::from_str(&text).deserialize_map(Keys).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_unescaped() {
        let object = parse(r#"{"a":"\u00e9\ud83d\ude00\n\"\\ é"}"#).expect("JSON");
        assert_eq!(object["a"], "é😀\n\"\\ é");
        for text in [
            r#"{"a":"\ud83d"}"#,
            r#"{"a":"\ud83d\u0041"}"#,
            r#"{"a":"\ude00"}"#,
            r#"{"a":"\x"}"#,
            "{\"a\":\"\n\"}",
            r#"{"a":"\u12"}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn errors_report_their_position() {
        let fault = |text: &str| parse(text).expect_err(text);
        assert!(fault("{\"a\" 1}").starts_with("not JSON: expected `:` at line 1 column"));
        assert!(fault("{\n\"a\": [1 2]}").contains("at line 2 column"));
        assert_eq!(fault("{\"model_type\": \"llama\", "), "not JSON: it ends early, at line 1 column 23");
    }

    #[test]
    fn a_second_object_is_a_separate_value() {
        assert_eq!(first("{\"a\": 1}\n{\"b\": 2}"), ("{\"a\": 1}", "\n{\"b\": 2}"));
        for whole in ["{\"a\": 1}", "{\"a\"", "", "x {}"] {
            assert_eq!(first(whole), (whole, ""));
        }
    }

    #[test]
    fn keys_given_twice_are_found() {
        assert_eq!(repeated("\u{feff}{\"a\": NaN, \"b\": {\"a\": 1}, \"a\": \"NaN \\\" NaN\"}"), ["a"]);
        assert_eq!(repeated("[1]"), [""; 0]);
    }
}
