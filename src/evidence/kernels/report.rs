//! Errors of one family, grouped.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::evidence::errors::{Errors, grouped};
use crate::kernels::measured::{MeasuredCall, REFERENCE_SOURCE};

/// Upper ends of the size classes, in µs measured.
const SIZES: [f64; 3] = [20.0, 100.0, 1000.0];

/// One family's errors, in percent of the measured time. The top-level figures are for the source whose scale the
/// models answer on; other sources are only in `by_source`, unless a family has no reference.
#[derive(Debug, Clone, Serialize)]
pub struct FamilyReport {
    /// Rows compared.
    pub rows: usize,
    #[serde(flatten)]
    pub errors: Errors,
    /// Mean error of the plain roofline on the same rows.
    pub roofline_mean: f64,
    /// Share of the rows within their 80 % bounds, in %; `None` if they are uncalibrated.
    pub covered80: Option<f64>,
    /// Rows beyond all that the model was trained on.
    pub outside: usize,
    /// Rows that sibling GPUs contradict and that all other figures leave out, and the errors with them included.
    pub suspect: usize,
    pub with_suspect: Errors,
    pub by_gpu: BTreeMap<String, Errors>,
    pub by_engine: BTreeMap<String, Errors>,
    pub by_dtype: BTreeMap<String, Errors>,
    pub by_kernel: BTreeMap<String, Errors>,
    pub by_size: BTreeMap<String, Errors>,
    pub by_source: BTreeMap<String, Errors>,
    /// Rows of the tables that no model covers, by reason.
    pub skipped: BTreeMap<String, usize>,
}

/// A measured call and its prediction, in µs.
pub(super) struct ComparedCall {
    pub measured: MeasuredCall,
    pub predicted: f64,
    pub ideal: f64,
    /// Whether the measurement is within the bounds; `None` without bounds.
    pub within: Option<bool>,
    pub outside: bool,
}

/// Groups the comparisons; `None` if there are none.
pub(super) fn report(compared: &[ComparedCall], skipped: BTreeMap<String, usize>) -> Option<FamilyReport> {
    let has_reference = compared.iter().any(|row| row.measured.source == REFERENCE_SOURCE);
    let of_reference = |row: &&ComparedCall| !has_reference || row.measured.source == REFERENCE_SOURCE;
    let all: Vec<&ComparedCall> = compared.iter().filter(of_reference).collect();
    let counted: Vec<&ComparedCall> = all.iter().copied().filter(|row| !row.measured.suspect).collect();
    let pairs = |rows: &[&ComparedCall]| -> Vec<(f64, f64)> {
        rows.iter().map(|row| (row.predicted, row.measured.micros)).collect()
    };
    let roofline: Vec<(f64, f64)> = counted.iter().map(|row| (row.ideal, row.measured.micros)).collect();
    let errors = Errors::of(&pairs(&counted))?;
    let held: Vec<bool> = counted.iter().filter_map(|row| row.within).collect();
    let covered = held.iter().filter(|&&within| within).count();
    Some(FamilyReport {
        rows: errors.cases,
        errors,
        roofline_mean: Errors::of(&roofline)?.mean,
        covered80: (!held.is_empty()).then(|| 100.0 * covered as f64 / held.len() as f64),
        outside: counted.iter().filter(|row| row.outside).count(),
        suspect: all.len() - counted.len(),
        with_suspect: Errors::of(&pairs(&all))?,
        by_gpu: by(&counted, |row| row.gpu.clone()),
        by_engine: by(&counted, |row| row.engine.clone()),
        by_dtype: by(&counted, MeasuredCall::formats),
        by_kernel: by(&counted, |row| row.kernel.clone()),
        by_size: by(&counted, |row| size_class(row.micros)),
        by_source: by(&compared.iter().filter(|row| !row.measured.suspect).collect::<Vec<_>>(), |row| {
            row.source.clone()
        }),
        skipped,
    })
}

fn by(rows: &[&ComparedCall], key: impl Fn(&MeasuredCall) -> String) -> BTreeMap<String, Errors> {
    let pair = |row: &&ComparedCall| (key(&row.measured), (row.predicted, row.measured.micros));
    grouped(rows.iter().map(pair))
        .into_iter()
        .filter_map(|(name, pairs)| Some((name, Errors::of(&pairs)?)))
        .collect()
}

/// The size class of a measured time, as a report names it; named so that they sort by size.
fn size_class(micros: f64) -> String {
    match SIZES.iter().find(|&&limit| micros <= limit) {
        Some(limit) => format!("<= {limit:4} µs"),
        None => format!(">  {:4} µs", SIZES[SIZES.len() - 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(source: &str, micros: f64, predicted: f64) -> ComparedCall {
        let measured = MeasuredCall { source: source.into(), micros, ..MeasuredCall::example_gemm(1) };
        let within = Some(predicted <= micros);
        ComparedCall { measured, predicted, ideal: micros / 2.0, within, outside: false }
    }

    #[test]
    fn figures_are_of_the_reference_source() {
        let rows =
            [row(REFERENCE_SOURCE, 10.0, 12.0), row(REFERENCE_SOURCE, 50.0, 45.0), row("vidur", 10.0, 30.0)];
        let report = report(&rows, BTreeMap::new()).expect("rows");
        assert_eq!(report.rows, 2);
        assert!((report.errors.mean - 15.0).abs() < 1e-9 && (report.errors.bias - 5.0).abs() < 1e-9);
        assert_eq!((report.roofline_mean, report.covered80), (50.0, Some(50.0)));
        assert!((report.by_source["vidur"].mean - 200.0).abs() < 1e-9);
        assert_eq!(report.by_size.keys().collect::<Vec<_>>(), ["<=   20 µs", "<=  100 µs"]);
    }

    #[test]
    fn a_family_of_second_sources_is_reported_by_them() {
        let report = report(&[row("vidur", 10.0, 11.0)], BTreeMap::new()).expect("rows");
        assert_eq!(report.rows, 1);
    }

    #[test]
    fn no_comparison_gives_no_report() {
        assert!(report(&[], BTreeMap::new()).is_none());
    }
}
