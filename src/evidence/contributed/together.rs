//! Checks contributed runs against each other.

use super::{Finding, Predicted};
use crate::calibration::{KnownRun, shipped};
use crate::config::{Field, Issue};
use crate::serving::run::weigh;

/// Removes duplicates and reports them: the same run twice would count twice.
pub fn repeated(all: &mut Vec<Predicted>) -> Vec<Finding> {
    let mut kept: Vec<Predicted> = Vec::new();
    let mut findings = Vec::new();
    for run in all.drain(..) {
        let same = |other: &&Predicted| {
            // The link holds both configuration and measurements.
            other.compared.link == run.compared.link && other.version.text() == run.version.text()
        };
        match kept.iter().find(same) {
            Some(first) => {
                let text =
                    format!("the same run as {}, run {}: leave one of them out", first.file, first.number);
                findings.push(Finding::of(&run.file, Some(run.number), Issue::error(Field::Runs, text)));
            }
            None => kept.push(run),
        }
    }
    *all = kept;
    findings
}

/// Warnings about runs far from what other measured runs suggest, contributed or not.
pub fn contradicting(all: &[Predicted]) -> Vec<Finding> {
    let mut known: Vec<(u32, KnownRun)> = (0_u32..).zip(all.iter().map(|run| run.known.clone())).collect();
    let found = weigh(shipped(), &mut known);
    let named = |(index, text): (u32, String)| {
        let run = all.get(index as usize)?;
        Some(Finding::of(&run.file, Some(run.number), Issue::warning(Field::Runs, text)))
    };
    found.into_iter().filter_map(named).collect()
}
