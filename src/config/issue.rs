//! What is wrong with an input, beside the field it concerns.

use serde::Serialize;

/// An input of the page, a key of a link, a field of the JSON form: one name for all three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    Version,
    Model,
    Gpu,
    Gpus,
    Tp,
    Pp,
    Engine,
    Weights,
    Kv,
    Isl,
    Osl,
    Load,
    Concurrency,
    Batch,
    TokenBudget,
    MaxSeqs,
    MemoryShare,
    Sustained,
    Price,
    Data,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No answer can be given until this is mended.
    Error,
    /// An answer is given; this says what to keep in mind.
    Warning,
    /// Something was read differently from how it was written.
    Note,
}

/// One finding: which field, what is wrong, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Issue {
    pub field: Field,
    pub severity: Severity,
    pub text: String,
}

impl Issue {
    pub fn error(field: Field, text: impl Into<String>) -> Self {
        Self { field, severity: Severity::Error, text: text.into() }
    }

    pub fn warning(field: Field, text: impl Into<String>) -> Self {
        Self { field, severity: Severity::Warning, text: text.into() }
    }

    pub fn note(field: Field, text: impl Into<String>) -> Self {
        Self { field, severity: Severity::Note, text: text.into() }
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
