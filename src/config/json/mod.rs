//! JSON: as people paste it, with Python's `NaN` and `Infinity` from model publishers and keys given twice,
//! and as records read and write it.
//!
//! Not serde_json: it brings 12 KB (gzip) to the page's first download, this 3.

mod parse;
mod read;
mod write;

use std::collections::BTreeMap;

pub use parse::{object, parse};
pub use read::read;
pub use write::write;

/// Largest text read. Published configs end at about 60 KB.
pub const MAX_BYTES: usize = 1 << 20;

/// Any JSON value.
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

    fn insert(&mut self, key: String, value: Json) {
        if self.pairs.insert(key.clone(), value).is_some() {
            self.repeated.push(key);
        }
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
