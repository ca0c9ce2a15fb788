//! Typed reading of single keys, each problem named by its key.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::config::issue::excerpt;
use crate::config::model::limits::{HEAD_DIM, Limit};
use crate::config::{Field, Issue, json};
use crate::units::decimal;

/// A reader of one object that collects what is wrong with it.
///
/// A key with dots (`linear_attn_config.head_dim`) leads into objects. What cannot be read is an error among the issues
/// and 0, none or empty to the caller, who reads on so that every fault is named at once: an import with errors has
/// no model.
pub struct Fields<'a> {
    object: &'a Value,
    /// What stands in for keys of it.
    over: Vec<(&'a str, &'a Value)>,
    /// What stands before every key in messages.
    prefix: String,
    issues: Vec<Issue>,
    /// Keys that were asked for, given or not.
    asked: RefCell<BTreeSet<String>>,
}

impl<'a> Fields<'a> {
    pub fn new(object: &'a Value, over: Vec<(&'a str, &'a Value)>) -> Self {
        Self { over, ..Self::within(object, String::new()) }
    }

    /// Of an object inside another.
    pub fn within(object: &'a Value, prefix: String) -> Self {
        Self { object, over: Vec::new(), prefix, issues: Vec::new(), asked: RefCell::default() }
    }

    /// Takes over what was found in an inner object.
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

    /// The value under a key, through objects where it has dots; `null` counts as left out.
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.skip(&[key]);
        let over = self.over.iter().find(|(ours, _)| *ours == key);
        over.map(|(_, value)| *value).or_else(|| at(self.object, key))
    }

    /// Takes keys as understood that have no effect here.
    pub fn skip(&self, keys: &[&str]) {
        self.asked.borrow_mut().extend(keys.iter().map(|&key| key.to_owned()));
    }

    /// Whether a key was asked for.
    pub fn asked(&self, key: &str) -> bool {
        self.asked.borrow().contains(key)
    }

    /// Whether one was that begins so.
    pub fn asked_within(&self, path: &str) -> bool {
        self.asked.borrow().iter().any(|key| key.starts_with(path))
    }

    /// A whole number that has to be there.
    pub fn count(&mut self, limit: Limit) -> u32 {
        if self.get(limit.key).is_none() {
            self.error(format!("`{}{}` is missing: expected {}", self.prefix, limit.key, limit.range()));
        }
        self.optional(limit).unwrap_or(0)
    }

    /// The same under another of its names.
    pub fn count_as(&mut self, key: &'static str, limit: Limit) -> u32 {
        self.count(Limit { key, ..limit })
    }

    /// A whole number with a default.
    pub fn count_or(&mut self, limit: Limit, default: u32) -> u32 {
        if self.get(limit.key).is_none() { default } else { self.count(limit) }
    }

    /// A whole number from 0 that may be left out, and then is 0.
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

    /// `true`, `false`, or none if it is left out.
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

    /// An entry for each of so many layers; `of` reads one at its place, and `wanted` says what it may be. Without layers
    /// their number is wrong, which is an issue already.
    pub fn per_layer<T>(
        &mut self,
        key: &str,
        layers: usize,
        wanted: &str,
        of: impl Fn(usize, &'a Value) -> Option<T>,
    ) -> Vec<T> {
        let Some(list) = self.list(key) else { return Vec::new() };
        if list.len() != layers && layers > 0 {
            self.error(format!(
                "`{key}` has {} entries for {layers} layers: expected one per layer",
                list.len()
            ));
            return Vec::new();
        }
        self.each(key, list, wanted, of)
    }

    /// Every entry of a list, up to one that is not what is wanted.
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

    /// For each layer whether a list of noughts and ones marks it.
    pub fn marks(&mut self, key: &str, layers: usize) -> Vec<bool> {
        self.per_layer(key, layers, "0 or 1", |_, entry| match (entry.as_bool(), entry.as_f64()) {
            (Some(mark), _) => Some(mark),
            (None, Some(number)) if number == 0.0 || number == 1.0 => Some(number == 1.0),
            _ => None,
        })
    }

    /// Layers that a list names by number.
    pub fn layers(&mut self, key: &str) -> Vec<f64> {
        let list = self.list(key).map(Vec::as_slice).unwrap_or_default();
        self.each(key, list, "the number of a layer", |_, entry| entry.as_f64())
    }

    pub fn expected(&mut self, key: &str, given: &Value, wanted: &str) {
        self.error(format!("`{}{key}` is {}: expected {wanted}", self.prefix, shown(given)));
    }

    /// The head dimension, which many configs leave to be derived.
    pub fn head_dim(&mut self, hidden: u32, heads: u32) -> u32 {
        // The second is Nemotron-H's name of it.
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

/// The value under a key, through objects where it has dots; `null` counts as left out.
pub fn at<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    let value = key.split('.').try_fold(object, |object, key| object.get(key));
    value.filter(|value| !value.is_null())
}

/// A value for a sentence: text and numbers as they are given, of the rest what it is.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{}\"", excerpt(text)),
        Value::Number(number) => decimal(number.as_f64().unwrap_or(f64::NAN)),
        other => json::kind(other).to_owned(),
    }
}
