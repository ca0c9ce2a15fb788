//! Typed reading of single keys, each problem named by its key.

use serde_json::Value;

use crate::config::issue::excerpt;
use crate::config::model::limits::{HEAD_DIM, Limit};
use crate::config::{Field, Issue, json};
use crate::units::decimal;

/// A reader of one object that collects what is wrong with it.
///
/// A key with dots (`linear_attn_config.head_dim`) leads into objects. What cannot be read is `None` with an
/// error among the issues, and an import with errors has no model: callers may go on with any default.
pub struct Fields<'a> {
    object: &'a Value,
    issues: Vec<Issue>,
}

impl<'a> Fields<'a> {
    pub fn new(object: &'a Value) -> Self {
        Self { object, issues: Vec::new() }
    }

    pub fn into_issues(self) -> Vec<Issue> {
        self.issues
    }

    pub fn object(&self) -> &'a Value {
        self.object
    }

    pub fn warn(&mut self, text: String) {
        self.issues.push(Issue::warning(Field::Model, text));
    }

    pub fn error(&mut self, text: String) {
        self.issues.push(Issue::error(Field::Model, text));
    }

    /// The value under a key, through objects where it has dots; `null` counts as left out.
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        let value = key.split('.').try_fold(self.object, |object, key| object.get(key));
        value.filter(|value| !value.is_null())
    }

    /// A whole number that has to be there.
    pub fn count(&mut self, limit: Limit) -> Option<u32> {
        if self.get(limit.key).is_none() {
            let Limit { key, min, max } = limit;
            self.error(format!("`{key}` is missing: a whole number from {min} to {max}"));
        }
        self.optional(limit)
    }

    /// The same under another of its names.
    pub fn count_as(&mut self, key: &'static str, limit: Limit) -> Option<u32> {
        self.count(Limit { key, ..limit })
    }

    /// A whole number with a default; none only where what is given is wrong.
    pub fn count_or(&mut self, limit: Limit, default: u32) -> Option<u32> {
        match self.get(limit.key) {
            None => Some(default),
            Some(_) => self.optional(limit),
        }
    }

    /// A whole number that may be left out, and then is nought.
    pub fn some_of(&mut self, key: &'static str, limit: Limit) -> u32 {
        self.optional(Limit { key, min: 0, ..limit }).unwrap_or(0)
    }

    pub fn optional(&mut self, limit: Limit) -> Option<u32> {
        let objection = match self.get(limit.key)? {
            Value::Number(number) => {
                let value = number.as_f64().unwrap_or(f64::NAN);
                match limit.objection(value) {
                    None => return Some(value as u32),
                    objection => objection,
                }
            }
            other => Some(limit.against(&shown(other))),
        };
        objection.into_iter().for_each(|text| self.error(text));
        None
    }

    /// `true`, `false`, or none where it is left out.
    pub fn flag(&mut self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Value::Bool(flag) => Some(*flag),
            other => {
                let text = format!("`{key}` is {}: true or false is right", json::kind(other));
                self.error(text);
                None
            }
        }
    }

    /// An entry for each layer; none where the key is left out, or its length is wrong.
    pub fn per_layer(&mut self, key: &str, layers: usize) -> Option<&'a [Value]> {
        let list = self.list(key)?;
        if list.len() != layers {
            let given = list.len();
            self.error(format!(
                "`{key}` has {given} entries and the model {layers} layers: one a layer is right"
            ));
            return None;
        }
        Some(list)
    }

    pub fn list(&mut self, key: &str) -> Option<&'a [Value]> {
        match self.get(key)? {
            Value::Array(items) => Some(items),
            other => {
                let text = format!("`{key}` is {}: a list is right", json::kind(other));
                self.error(text);
                None
            }
        }
    }

    /// Layers that a list of whole numbers names.
    pub fn layers(&mut self, key: &str) -> Vec<f64> {
        let mut numbers = Vec::new();
        for item in self.list(key).unwrap_or_default() {
            let Some(number) = item.as_f64() else {
                self.error(format!("`{key}` holds {}: numbers of layers are right", json::kind(item)));
                break;
            };
            numbers.push(number);
        }
        numbers
    }

    /// That an entry of a list is none of those known.
    pub fn stranger(&mut self, key: &str, place: usize, entry: &Value, right: &str) {
        self.error(format!("`{key}[{place}]` is {}: {right} is right", shown(entry)));
    }

    /// The head dimension, which many configs leave to be derived.
    pub fn head_dim(&mut self, hidden: Option<u32>, heads: Option<u32>) -> Option<u32> {
        // Nemotron-H's name of it.
        for key in [HEAD_DIM.key, "attention_head_dim"] {
            if self.get(key).is_some() {
                return self.optional(Limit { key, ..HEAD_DIM });
            }
        }
        let (hidden, heads) = (hidden?, heads?);
        if !hidden.is_multiple_of(heads) {
            self.error(format!(
                "`hidden_size` is {hidden} and `num_attention_heads` {heads}: the second has to divide the first, \
                 or `head_dim` has to be given"
            ));
            return None;
        }
        Some(hidden / heads)
    }
}

/// A value for a sentence: text and numbers as they are given, of the rest what it is.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{}\"", excerpt(text)),
        Value::Number(number) => decimal(number.as_f64().unwrap_or(f64::NAN)),
        other => json::kind(other).to_owned(),
    }
}
