//! Contributed measurements: files of the folder `runs`, checked and compared with predictions.

mod commands;
mod keys;
mod predicted;
mod read;
mod together;

use std::fmt;

use serde::Serialize;

use super::cases::{AskLearned, ServedCase};
use super::compared::{ComparedCase, ErrorReport};
use crate::config::{Field, Issue, Severity};

pub use keys::schema;
pub use predicted::Predicted;
pub use read::{Contributed, Contribution, read};

/// An issue with a file or one of its runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub file: String,
    /// The run's number in the file, from 1. `None` for the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<u32>,
    pub severity: Severity,
    pub text: String,
}

impl Finding {
    fn of(file: &str, run: Option<u32>, issue: Issue) -> Self {
        Self { file: file.into(), run, severity: issue.severity, text: issue.text }
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.severity, self.file)?;
        if let Some(run) = self.run {
            write!(out, ", run {run}")?;
        }
        write!(out, ": {}", self.text)
    }
}

/// Every valid run of these files (name and content) with its prediction, and the issues of the others.
pub fn checked(files: &[(String, String)], ask: &AskLearned<'_>) -> (Vec<Predicted>, Vec<Finding>) {
    let (mut all, mut findings) = (Vec::new(), Vec::new());
    for (file, text) in files {
        let (contribution, found) = read(file, text);
        findings.extend(found);
        let Some(contribution) = contribution else { continue };
        for run in &contribution.runs {
            match predicted::predicted(&contribution, run, ask) {
                Ok(one) => all.push(one),
                Err(reason) => {
                    let issue = Issue::error(Field::Runs, reason);
                    findings.push(Finding::of(file, Some(run.number), issue));
                }
            }
        }
    }
    findings.extend(together::repeated(&mut all));
    findings.extend(together::contradicting(&all));
    findings.sort_by(|one, other| (&one.file, one.run).cmp(&(&other.file, other.run)));
    (all, findings)
}

/// Errors of the predictions of contributed runs, by contributor.
pub fn report(runs: &[Predicted]) -> ErrorReport {
    let compared: Vec<ComparedCase> = runs.iter().map(|run| run.compared.clone()).collect();
    ErrorReport::of(&ServedCase::METRICS, compared, Vec::new(), &[])
}
