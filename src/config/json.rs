//! JSON as people paste it: Python's `NaN` and `Infinity` from model publishers, keys given twice.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Largest text read. Published configs end at about 60 KB.
pub const MAX_BYTES: usize = 1 << 20;

/// Any JSON value. Unlike `serde_json::Value` it keeps the keys that were given twice.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Object),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object {
    pairs: BTreeMap<String, Json>,
    /// Keys given more than once; the last value counts, as in Python.
    pub repeated: Vec<String>,
}

impl Object {
    pub const EMPTY: Self = Self { pairs: BTreeMap::new(), repeated: Vec::new() };

    /// The value under `key`; `null` counts as left out.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.pairs.get(key).filter(|value| **value != Json::Null)
    }

    /// Whether the key stands there at all, `null` included.
    pub fn mentions(&self, key: &str) -> bool {
        self.pairs.contains_key(key)
    }

    pub fn object(&self, key: &str) -> Option<&Object> {
        match self.get(key) {
            Some(Json::Object(object)) => Some(object),
            _ => None,
        }
    }

    pub fn list(&self, key: &str) -> Option<&[Json]> {
        match self.get(key) {
            Some(Json::List(items)) => Some(items),
            _ => None,
        }
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Json::as_text)
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key) {
            Some(Json::Number(number)) => Some(*number),
            _ => None,
        }
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key) {
            Some(Json::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// Keys and values in order of key, `null` included.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.pairs.iter().map(|(key, value)| (&**key, value))
    }

    pub fn values(&self) -> impl Iterator<Item = &Json> {
        self.pairs.values()
    }
}

impl Json {
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What it is, for a sentence.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// Reads one object, or says in a sentence why `text` holds none.
pub fn parse(text: &str) -> Result<Object, String> {
    if text.len() > MAX_BYTES {
        let (size, most) = (text.len() / 1024, MAX_BYTES / 1024);
        return Err(format!("the text is {size} KiB: at most {most} KiB are read"));
    }
    // Byte-order mark, as some editors write it.
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err("the text is empty: an object in braces is right".into());
    }
    match serde_json::from_str::<Json>(&quote_python_numbers(text)) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(other) => Err(format!("this is {}: an object in braces is right", other.kind())),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

/// Python's `json` writes `NaN`, `Infinity` and `-Infinity`, which JSON does not know. They become
/// text, so that a field holding one is refused by its name and others do not matter.
fn quote_python_numbers(text: &str) -> std::borrow::Cow<'_, str> {
    const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let (mut quoted, mut escaped) = (false, false);
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let word = WORDS.iter().find(|word| !quoted && rest.starts_with(**word));
        if let Some(word) = word {
            out.extend(["\"", word, "\""]);
            rest = &rest[word.len()..];
            continue;
        }
        quoted ^= next == '"' && !escaped;
        escaped = quoted && next == '\\' && !escaped;
        out.push(next);
        rest = &rest[next.len_utf8()..];
    }
    out.into()
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    // Counts are at most 2^32, which f64 holds exactly.
    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut object = Object::default();
        while let Some((key, value)) = access.next_entry::<String, Json>()? {
            if object.pairs.insert(key.clone(), value).is_some() {
                object.repeated.push(key);
            }
        }
        Ok(Json::Object(object))
    }
}
