//! The keys of a link, in the order they are written: the one place that says which field a key names,
//! how its value reads and how it prints.

mod beside;
mod deployment;
mod load;
mod requests;
mod settings;

use super::Link;
use crate::config::{Field, Issue, Scenario, Workload};
use crate::units::decimal;

/// The key whose value may be long.
pub const CUSTOM_MODEL: &str = "x";

/// What a value looks like: for the grammar, and for the JSON form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Id,
    Whole,
    Real,
    Format,
    Lengths,
    Histogram,
    Measured,
    Packed,
    /// Other links.
    Links,
}

pub struct Key {
    pub field: Field,
    pub key: &'static str,
    pub kind: Kind,
    /// For the grammar; empty in the page.
    pub meaning: &'static str,
    /// Reads a value into the draft, or says what would be right.
    read: fn(&mut Draft, &str) -> Result<(), String>,
    /// The value as text; none where the scenario holds none.
    pub show: fn(&Link) -> Option<String>,
}

/// A link while its pairs are read.
pub struct Draft {
    pub link: Link,
    /// GPUs in all; the replicas follow once TP and PP are known.
    gpus: Option<u32>,
}

/// All keys, in the order they are written.
pub fn all() -> impl Iterator<Item = &'static Key> {
    let parts: [&[Key]; 5] =
        [&deployment::KEYS, &requests::KEYS, &load::KEYS, &settings::KEYS, &beside::KEYS];
    parts.into_iter().flatten()
}

pub fn by_key(key: &str) -> Option<&'static Key> {
    all().find(|entry| entry.key == key)
}

/// The entry of a field's name in the JSON form.
pub fn by_field(id: &str) -> Option<&'static Key> {
    all().find(|entry| entry.field.id() == id && entry.kind != Kind::Links)
}

impl Key {
    /// Whether the JSON form has a text or a number of it.
    pub fn in_json(&self) -> bool {
        !matches!(self.kind, Kind::Packed | Kind::Links)
    }
}

impl Draft {
    pub fn new(link: Link) -> Self {
        Self { link, gpus: None }
    }

    /// One value; an issue beside its field keeps what was typed.
    pub fn read(&mut self, key: &Key, value: &str, issues: &mut Vec<Issue>) {
        if let Err(text) = (key.read)(self, value) {
            // What the link was made with, or what was measured, is no part of what it asks: the answer need not be
            // withheld.
            let issue = match key.field {
                Field::Version | Field::Data | Field::Measured => Issue::warning(key.field, text),
                _ => Issue::error(key.field, text),
            };
            issues.push(issue.with_given(value));
        }
    }

    pub fn finish(mut self, issues: &mut Vec<Issue>) -> Link {
        let Some(gpus) = self.gpus else { return self.link };
        let scenario = &mut self.link.scenario;
        let replica = scenario.gpus_per_replica();
        // Zero ranks are `check`'s to refuse.
        if let Some(replicas) = u64::from(gpus).checked_div(replica) {
            scenario.replicas = u32::try_from(replicas).unwrap_or(u32::MAX);
            if replicas * replica != u64::from(gpus) {
                let text = format!("{gpus} GPUs do not divide into replicas of {replica} (tp x dp x pp)");
                issues.push(Issue::error(Field::Gpus, text).with_given(gpus.to_string()));
            }
        }
        self.link
    }

    fn scenario(&mut self) -> &mut Scenario {
        &mut self.link.scenario
    }

    fn workload(&mut self) -> &mut Workload {
        &mut self.link.scenario.workload
    }
}

/// A meaning, where it is told: the page tells none, and its visitors need not wait for all of them.
const fn told(meaning: &'static str) -> &'static str {
    if cfg!(feature = "ui") { "" } else { meaning }
}

/// A number as text, unless it is the one that a link without it means: keys of later releases stand in no JSON form
/// that was written before them.
fn unless(value: f64, default: f64) -> Option<String> {
    (value.to_bits() != default.to_bits()).then(|| decimal(value))
}
