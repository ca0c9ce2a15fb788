//! Typed reading of single keys, each problem named by its key.

use crate::config::issue::excerpt;
use crate::config::json::{Json, Object};
use crate::config::model::limits::{HEAD_DIM, Limit};
use crate::config::{Field, Issue};
use crate::units::decimal;

/// A reader of one object that collects what is wrong with it.
///
/// A key with dots (`linear_attn_config.head_dim`) leads into objects. What cannot be read is `None` with an
/// error among the issues, and an import with errors has no model: callers may go on with any default.
pub struct Fields<'a> {
    object: &'a Object,
    issues: Vec<Issue>,
}

impl<'a> Fields<'a> {
    pub fn new(object: &'a Object) -> Self {
        let twice = object.repeated.iter().map(|key| {
            Issue::warning(Field::Model, format!("`{}` is given twice: the last one counts", excerpt(key)))
        });
        Self { object, issues: twice.collect() }
    }

    pub fn into_issues(self) -> Vec<Issue> {
        self.issues
    }

    pub fn object(&self) -> &'a Object {
        self.object
    }

    pub fn error(&mut self, text: String) {
        self.issues.push(Issue::error(Field::Model, text));
    }

    /// The value under a key, through objects where it has dots; `null` counts as left out.
    pub fn get(&self, key: &str) -> Option<&'a Json> {
        let mut object = self.object;
        let mut rest = key;
        while let Some((outer, inner)) = rest.split_once('.') {
            object = object.object(outer)?;
            rest = inner;
        }
        object.get(rest)
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
            Json::Number(value) => match limit.objection(*value) {
                None => return Some(*value as u32),
                objection => objection,
            },
            // Python's NaN and Infinity arrive as text.
            Json::Text(text) => Some(format!(
                "`{}` is \"{}\": a whole number from {} to {} is right",
                limit.key,
                excerpt(text),
                limit.min,
                limit.max
            )),
            other => Some(format!(
                "`{}` is {}: a whole number from {} to {} is right",
                limit.key,
                other.kind(),
                limit.min,
                limit.max
            )),
        };
        objection.into_iter().for_each(|text| self.error(text));
        None
    }

    /// `true`, `false`, or none where it is left out.
    pub fn flag(&mut self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Json::Bool(flag) => Some(*flag),
            other => {
                let text = format!("`{key}` is {}: true or false is right", other.kind());
                self.error(text);
                None
            }
        }
    }

    /// An entry for each layer; none where the key is left out, or its length is wrong.
    pub fn per_layer(&mut self, key: &str, layers: usize) -> Option<&'a [Json]> {
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

    pub fn list(&mut self, key: &str) -> Option<&'a [Json]> {
        match self.get(key)? {
            Json::List(items) => Some(items),
            other => {
                let text = format!("`{key}` is {}: a list is right", other.kind());
                self.error(text);
                None
            }
        }
    }

    /// Layers that a list of whole numbers names.
    pub fn layers(&mut self, key: &str) -> Vec<f64> {
        let mut numbers = Vec::new();
        for item in self.list(key).unwrap_or_default() {
            match item {
                Json::Number(number) => numbers.push(*number),
                other => {
                    self.error(format!("`{key}` holds {}: numbers of layers are right", other.kind()));
                    break;
                }
            }
        }
        numbers
    }

    /// That an entry of a list is none of those known.
    pub fn stranger(&mut self, key: &str, place: usize, entry: &Json, right: &str) {
        let given = match entry {
            Json::Text(text) => format!("\"{}\"", excerpt(text)),
            Json::Number(number) => decimal(*number),
            other => other.kind().to_owned(),
        };
        self.error(format!("`{key}[{place}]` is {given}: {right} is right"));
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
