//! Calibrated predictions: errors and band coverage.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compared::{ComparedCase, ErrorMetric, ErrorsByMetric, Times, of_pairs};
use super::errors::grouped;
use super::served::calibrated::LeaveOut;
use crate::calibration::{OF_80_PERCENT, RankInput};

/// A prediction with bands.
#[derive(Debug, Clone, Serialize)]
pub struct Calibrated {
    pub predicted: Times,
    /// Distance of ln(measured) from ln(predicted), in half-widths of the 80 % band.
    pub deviations: BTreeMap<ErrorMetric, f64>,
    /// Remaining share of the prior variance.
    pub left: f64,
    /// Input for comparisons.
    #[serde(skip)]
    pub rank_input: RankInput,
}

/// Errors of calibrated predictions, and their band coverage.
#[derive(Debug, Clone, Serialize)]
pub struct CalibratedReport {
    pub cases: usize,
    #[serde(flatten)]
    pub metrics: ErrorsByMetric,
    pub coverage50: BTreeMap<ErrorMetric, Covered>,
    pub coverage80: BTreeMap<ErrorMetric, Covered>,
    pub coverage95: BTreeMap<ErrorMetric, Covered>,
    pub coverage80_by_engine: BTreeMap<String, BTreeMap<ErrorMetric, Covered>>,
    pub coverage80_by_model: BTreeMap<String, BTreeMap<ErrorMetric, Covered>>,
    pub coverage80_by_load: BTreeMap<String, BTreeMap<ErrorMetric, Covered>>,
}

/// Percentage of measurements within their bands.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Covered {
    pub covered: f64,
    pub cases: usize,
}

/// Half widths of 50 % and 95 % bands relative to that of 80 %, for the bands' distribution.
const HALF_50: f64 = 0.7267 / OF_80_PERCENT;
const HALF_95: f64 = 2.5706 / OF_80_PERCENT;

impl CalibratedReport {
    /// `None` if not calibrated.
    pub(super) fn of(metrics: &[ErrorMetric], cases: &[ComparedCase], left: LeaveOut) -> Option<Self> {
        let with: Vec<(&ComparedCase, &Calibrated)> =
            cases.iter().filter_map(|case| Some((case, case.calibrated.get(&left)?))).collect();
        if with.is_empty() {
            return None;
        }
        let bands = |one: &(&ComparedCase, &Calibrated)| one.1.deviations.clone();
        let all: Vec<_> = with.iter().map(bands).collect();
        let by = |key: fn(&ComparedCase) -> String| {
            let groups = grouped(with.iter().map(|one| (key(one.0), bands(one))));
            groups.into_iter().map(|(name, of)| (name, covered(&of, 1.0))).collect()
        };
        Some(Self {
            cases: with.len(),
            metrics: of_pairs(metrics, with.iter().map(|(case, one)| (&one.predicted, &case.measured))),
            coverage50: covered(&all, HALF_50),
            coverage80: covered(&all, 1.0),
            coverage95: covered(&all, HALF_95),
            coverage80_by_engine: by(|case| case.engine.clone()),
            coverage80_by_model: by(|case| case.model.clone()),
            coverage80_by_load: by(|case| load(case.concurrency).to_owned()),
        })
    }
}

/// The load category for this many clients.
fn load(clients: Option<u32>) -> &'static str {
    match clients {
        None => "others",
        Some(0..=4) => "up to 4 clients",
        Some(5..=32) => "5 to 32 clients",
        Some(_) => "over 32 clients",
    }
}

fn covered(cases: &[BTreeMap<ErrorMetric, f64>], within: f64) -> BTreeMap<ErrorMetric, Covered> {
    let all = grouped(cases.iter().flatten().map(|(metric, deviation)| (*metric, deviation.abs())));
    let share = |of: &[f64]| of.iter().filter(|one| **one <= within).count() as f64 / of.len() as f64;
    let of = |(metric, of): (ErrorMetric, Vec<f64>)| {
        (metric, Covered { covered: 100.0 * share(&of), cases: of.len() })
    };
    all.into_iter().map(of).collect()
}

/// Reports for which more runs were left out than for the prediction, by what was left out.
pub(super) fn left_out(
    metrics: &[ErrorMetric],
    cases: &[ComparedCase],
) -> BTreeMap<LeaveOut, CalibratedReport> {
    let more = LeaveOut::ALL.into_iter().filter(|left| *left != LeaveOut::Configuration);
    more.filter_map(|left| Some((left, CalibratedReport::of(metrics, cases, left)?))).collect()
}
