//! What is wrong with an input, beside the field it concerns.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::ids::ids;

/// An input of the page, a key of a link, a field of the JSON form: one name for all three.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Field {
    /// The link or the JSON text as a whole.
    #[default]
    Link,
    Version,
    Model,
    Gpu,
    Gpus,
    Tp,
    Pp,
    Dp,
    Ep,
    Engine,
    Weights,
    Kv,
    Isl,
    Osl,
    Spread,
    LogSpread,
    Histogram,
    Load,
    Concurrency,
    Rate,
    Burstiness,
    Batch,
    CachedShare,
    Drafted,
    Accepted,
    SloTtft,
    SloTpot,
    TokenBudget,
    MaxSeqs,
    MemoryShare,
    Sustained,
    Price,
    Data,
    Trace,
    Measured,
    Compared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No answer can be given until this is mended.
    #[default]
    Error,
    /// An answer is given; this says what to keep in mind.
    Warning,
    /// Something was read differently from how it was written.
    Note,
}

/// One finding: which field, what is wrong, and what would be right.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Issue {
    pub field: Field,
    pub severity: Severity,
    pub text: String,
    /// What was typed, where it could not be read: the page keeps it in the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
}

impl Issue {
    pub fn error(field: Field, text: impl Into<String>) -> Self {
        Self { field, severity: Severity::Error, text: text.into(), given: None }
    }

    pub fn warning(field: Field, text: impl Into<String>) -> Self {
        Self { field, severity: Severity::Warning, text: text.into(), given: None }
    }

    pub fn note(field: Field, text: impl Into<String>) -> Self {
        Self { field, severity: Severity::Note, text: text.into(), given: None }
    }

    /// Keeps what was typed.
    pub fn with_given(mut self, given: impl Into<String>) -> Self {
        self.given = Some(given.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

// Also the name in the JSON form, in reports and in the page's element ids.
ids!(Field);

/// At most 60 characters of something typed or read, safe to set into a sentence.
pub(crate) fn excerpt(text: &str) -> String {
    const CHARACTERS: usize = 60;
    let mut out: String = text.chars().filter(|c| !c.is_control()).take(CHARACTERS).collect();
    if text.chars().nth(CHARACTERS).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_serialised_names() {
        for field in Field::ALL {
            assert_eq!(serde_json::to_value(field).unwrap(), field.id());
        }
    }
}
