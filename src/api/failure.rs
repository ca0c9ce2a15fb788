//! Why there is no answer although the input may be valid.

use serde::Serialize;

/// A failure that no other input would avoid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Failure {
    pub kind: FailureKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// A file of the release could not be fetched or read.
    Unreachable,
    /// A file is not what the release says it is.
    Damaged,
    /// The learned models were not loaded, and `roofline` is off.
    NoModels,
    /// The models failed.
    Models,
    /// A bug in Rooflight: a fresh page or process may get further.
    Defect,
}

impl Failure {
    pub fn new(kind: FailureKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}
