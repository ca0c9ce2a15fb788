//! Typed reading of single keys, each problem named by its key.

use crate::config::issue::excerpt;
use crate::config::json::{Json, Object};
use crate::config::model::limits::{HEAD_DIM, Limit};
use crate::config::{Field, Issue};

/// A reader of one object that collects what is wrong with it.
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

    /// A whole number that has to be there.
    pub fn count(&mut self, limit: Limit) -> Option<u32> {
        if self.object.get(limit.key).is_none() {
            let Limit { key, min, max } = limit;
            self.error(format!("`{key}` is missing: a whole number from {min} to {max}"));
        }
        self.optional(limit)
    }

    /// A whole number with a default; none only where what is given is wrong.
    pub fn count_or(&mut self, limit: Limit, default: u32) -> Option<u32> {
        match self.object.get(limit.key) {
            None => Some(default),
            Some(_) => self.optional(limit),
        }
    }

    fn optional(&mut self, limit: Limit) -> Option<u32> {
        let objection = match self.object.get(limit.key)? {
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
        match self.object.get(key)? {
            Json::Bool(flag) => Some(*flag),
            other => {
                let text = format!("`{key}` is {}: true or false is right", other.kind());
                self.error(text);
                None
            }
        }
    }

    /// The head dimension, which many configs leave to be derived.
    pub fn head_dim(&mut self, hidden: Option<u32>, heads: Option<u32>) -> Option<u32> {
        if self.object.get(HEAD_DIM.key).is_some() {
            return self.optional(HEAD_DIM);
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
