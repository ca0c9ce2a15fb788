//! Typed access to config keys; every problem names its key.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::config::model::limits::{HEAD_DIM, Limit};
use crate::config::{Field, Issue, excerpt, json};
use crate::units::decimal;

/// A reader for one object that collects problems.
///
/// A dotted key (`linear_attn_config.head_dim`) descends into objects. What cannot be read becomes an error and
/// reads as 0, none or empty, so that reading continues and all problems are reported together: an import with
/// errors yields no model.
pub struct Fields<'a> {
    object: &'a Value,
    /// Overrides for keys of it.
    over: Vec<(&'a str, &'a Value)>,
    /// Put before every key in messages.
    prefix: String,
    issues: Vec<Issue>,
    /// Keys read so far, whether present or not.
    was_read: RefCell<BTreeSet<String>>,
}

impl<'a> Fields<'a> {
    pub fn new(object: &'a Value, over: Vec<(&'a str, &'a Value)>) -> Self {
        Self { over, ..Self::within(object, String::new()) }
    }

    /// The fields of an object inside another.
    pub fn within(object: &'a Value, prefix: String) -> Self {
        Self { object, over: Vec::new(), prefix, issues: Vec::new(), was_read: RefCell::default() }
    }

    /// Takes over the findings of an inner object.
    pub fn take(&mut self, inner: Self) {
        self.issues.extend(inner.issues);
    }

    pub fn into_issues(self) -> Vec<Issue> {
        self.issues
    }

    pub fn is_sound(&self) -> bool {
        !self.issues.iter().any(Issue::is_error)
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

    /// The value under a key, descending at dots; `null` counts as absent.
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.skip(&[key]);
        let over = self.over.iter().find(|(ours, _)| *ours == key);
        over.map(|(_, value)| *value).or_else(|| at(self.object, key))
    }

    /// Marks keys as understood that have no effect here.
    pub fn skip(&self, keys: &[&str]) {
        self.was_read.borrow_mut().extend(keys.iter().map(|&key| key.to_owned()));
    }

    /// Whether a key was read.
    pub fn was_read(&self, key: &str) -> bool {
        self.was_read.borrow().contains(key)
    }

    /// Whether a key with this prefix was read.
    pub fn asked_within(&self, path: &str) -> bool {
        self.was_read.borrow().iter().any(|key| key.starts_with(path))
    }

    /// A required whole number.
    pub fn count(&mut self, limit: Limit) -> u32 {
        if self.get(limit.key).is_none() {
            self.error(format!("`{}{}` is missing: expected {}", self.prefix, limit.key, limit.range()));
        }
        self.optional(limit).unwrap_or(0)
    }

    /// A required whole number under a different key.
    pub fn count_as(&mut self, key: &'static str, limit: Limit) -> u32 {
        self.count(Limit { key, ..limit })
    }

    /// A whole number with a default.
    pub fn count_or(&mut self, limit: Limit, default: u32) -> u32 {
        if self.get(limit.key).is_none() { default } else { self.count(limit) }
    }

    /// An optional whole number, 0 by default.
    pub fn some_of(&mut self, key: &'static str, limit: Limit) -> u32 {
        self.optional(Limit { key, min: 0, ..limit }).unwrap_or(0)
    }

    pub fn optional_as(&mut self, key: &'static str, limit: Limit) -> Option<u32> {
        self.optional(Limit { key, ..limit })
    }

    pub fn optional(&mut self, limit: Limit) -> Option<u32> {
        let value = self.get(limit.key)?;
        let number = value.as_f64().filter(|number| limit.objection(*number).is_none());
        if number.is_none() {
            self.expected(limit.key, value, &limit.range());
        }
        number.map(|number| number as u32)
    }

    /// A size computed from several keys, under the name that its limit has.
    pub fn derived(&mut self, limit: Limit, value: f64) -> u32 {
        limit.objection(value).into_iter().for_each(|text| self.error(text));
        value as u32
    }

    /// `true`, `false`, or `None` if absent.
    pub fn flag(&mut self, key: &str) -> Option<bool> {
        let value = self.get(key)?;
        if !value.is_boolean() {
            self.expected(key, value, "true or false");
        }
        value.as_bool()
    }

    pub fn list(&mut self, key: &str) -> Option<&'a Vec<Value>> {
        let value = self.get(key)?;
        if !value.is_array() {
            self.expected(key, value, "a list");
        }
        value.as_array()
    }

    /// One entry per layer; `of` reads one, and `wanted` says what it may be. With no layers their number is wrong,
    /// which is already an issue.
    pub fn per_layer<T>(
        &mut self,
        key: &str,
        layers: usize,
        wanted: &str,
        of: impl Fn(usize, &'a Value) -> Option<T>,
    ) -> Vec<T> {
        let Some(list) = self.list(key) else { return Vec::new() };
        // Step 3.5 also lists the layers that draft.
        let drafting = self.get("num_nextn_predict_layers").and_then(Value::as_f64).unwrap_or(0.0);
        let list = match list.len().checked_sub(layers) {
            Some(more) if more == drafting as usize => &list[..layers],
            _ => list.as_slice(),
        };
        if list.len() != layers && layers > 0 {
            self.error(format!(
                "`{key}` has {} entries for {layers} layers: expected one per layer",
                list.len()
            ));
            return Vec::new();
        }
        self.each(key, list, wanted, of)
    }

    /// Reads every entry of a list, up to the first invalid one.
    pub fn each<T>(
        &mut self,
        key: &str,
        list: &'a [Value],
        wanted: &str,
        of: impl Fn(usize, &'a Value) -> Option<T>,
    ) -> Vec<T> {
        let read: Vec<T> = list.iter().enumerate().map_while(|(place, entry)| of(place, entry)).collect();
        if let Some(entry) = list.get(read.len()) {
            self.expected(&format!("{key}[{}]", read.len()), entry, wanted);
        }
        read
    }

    /// Per layer, whether a 0/1 list marks it.
    pub fn marks(&mut self, key: &str, layers: usize) -> Vec<bool> {
        self.per_layer(key, layers, "0 or 1", |_, entry| match (entry.as_bool(), entry.as_f64()) {
            (Some(mark), _) => Some(mark),
            (None, Some(number)) if number == 0.0 || number == 1.0 => Some(number == 1.0),
            _ => None,
        })
    }

    /// Layers that a list gives by number, or a text with commas (Step 3.5).
    pub fn layers(&mut self, key: &str) -> Vec<f64> {
        if let Some(given @ Value::String(text)) = self.get(key) {
            let numbers: Result<Vec<u32>, _> = text.split(',').map(|number| number.trim().parse()).collect();
            return numbers.map_or_else(
                |_| {
                    self.expected(key, given, "numbers of layers with commas between them");
                    Vec::new()
                },
                |numbers| numbers.into_iter().map(f64::from).collect(),
            );
        }
        let list = self.list(key).map(Vec::as_slice).unwrap_or_default();
        self.each(key, list, "the number of a layer", |_, entry| entry.as_f64())
    }

    pub fn expected(&mut self, key: &str, given: &Value, wanted: &str) {
        self.error(format!("`{}{key}` is {}: expected {wanted}", self.prefix, shown(given)));
    }

    /// The head dimension, which many configs leave to be derived.
    pub fn head_dim(&mut self, hidden: u32, heads: u32) -> u32 {
        // The second is Nemotron-H's name.
        for key in [HEAD_DIM.key, "attention_head_dim"] {
            if self.get(key).is_some() {
                return self.count_as(key, HEAD_DIM);
            }
        }
        if !hidden.is_multiple_of(heads) && heads > 0 {
            self.error(format!(
                "`hidden_size` ({hidden}) is not divisible by `num_attention_heads` ({heads}), and `head_dim` is missing"
            ));
        }
        hidden.checked_div(heads).unwrap_or(0)
    }
}

/// The value under a key, descending at dots; `null` counts as absent.
pub fn at<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    let value = key.split('.').try_fold(object, |object, key| object.get(key));
    value.filter(|value| !value.is_null())
}

/// A value for a message: text and numbers as given, otherwise its type.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{}\"", excerpt(text)),
        Value::Number(number) => decimal(number.as_f64().unwrap_or(f64::NAN)),
        other => json::kind(other).to_owned(),
    }
}
