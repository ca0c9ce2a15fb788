//! Predicted against measured, end to end: the offline batches.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cases::{BatchCase, Case};
use super::errors::Errors;
use crate::config::catalog::Catalog;
use crate::config::{Issue, check, link};
use crate::efficiency::{Efficiencies, Learned, Rows};
use crate::graph::Phase;
use crate::serving::{Report, finish, plan};

/// Prefill, one decode step, and the whole batch, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Times {
    pub prefill_ms: Option<f64>,
    pub decode_step_ms: Option<f64>,
    pub total_ms: Option<f64>,
}

/// One case beside its measurement.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    pub id: String,
    pub gpu: String,
    pub model: String,
    pub engine: String,
    pub predicted: Times,
    pub roofline: Times,
    pub measured: Times,
    /// What it was, as a link.
    pub link: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Skipped {
    pub id: String,
    pub reason: String,
}

/// Errors of the three metrics; none where no case has the metric.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Metrics {
    pub prefill: Option<Errors>,
    pub decode_step: Option<Errors>,
    pub total: Option<Errors>,
}

/// A peer's errors, beside ours on the same cases.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PeerMetrics {
    #[serde(flatten)]
    pub peer: Metrics,
    pub ours: Metrics,
}

#[derive(Debug, Clone, Serialize)]
pub struct BatchReport {
    pub cases: usize,
    pub skipped: Vec<Skipped>,
    #[serde(flatten)]
    pub metrics: Metrics,
    pub roofline: Metrics,
    pub by_gpu: BTreeMap<String, Metrics>,
    pub by_model: BTreeMap<String, Metrics>,
    pub peers: BTreeMap<String, PeerMetrics>,
}

/// A line of the peers' table.
#[derive(Debug, Clone, Deserialize)]
pub struct PeerRow {
    pub id: String,
    pub peer: String,
    #[serde(rename = "ttft_or_prefill_ms")]
    pub prefill_ms: Option<f64>,
    #[serde(rename = "tpot_or_decode_step_ms")]
    pub decode_step_ms: Option<f64>,
    pub total_ms: Option<f64>,
}

/// Answers a plan's rows.
pub type Ask<'a> = dyn Fn(&Rows) -> Result<Learned, String> + 'a;

/// Predicts one batch case.
///
/// # Errors
/// Why it cannot be predicted.
pub fn compare(case: &BatchCase, catalog: &Catalog, ask: &Ask) -> Result<Compared, String> {
    let scenario = case.scenario(catalog)?;
    let (setup, issues) = check(&scenario, catalog);
    let setup = setup.ok_or_else(|| texts(&issues))?;
    let (plan, rows) = plan(&setup).map_err(|issues| texts(&issues))?;
    let learned = ask(&rows)?;
    let times = |efficiencies: &Efficiencies| {
        let report = finish(&plan, efficiencies).ok_or("the models did not answer every row")?;
        times(&report)
    };
    Ok(Compared {
        id: case.id.clone(),
        gpu: case.gpu.clone(),
        model: case.model.clone(),
        engine: case.engine.clone(),
        predicted: times(&Efficiencies::Learned(learned))?,
        roofline: times(&Efficiencies::Roofline)?,
        measured: Times {
            prefill_ms: case.measured.prefill_ms,
            decode_step_ms: case.measured.decode_step_ms,
            total_ms: case.measured.total_ms,
        },
        link: link::encode(&scenario),
    })
}

fn times(report: &Report) -> Result<Times, String> {
    let headline = report.headline.as_ref().ok_or_else(|| texts(&report.issues))?;
    let decode = report.passes.iter().find(|pass| pass.phase == Phase::Decode);
    Ok(Times {
        prefill_ms: Some(headline.ttft.millis()),
        decode_step_ms: decode.map(|pass| pass.time.millis()),
        total_ms: Some(headline.e2e.millis()),
    })
}

pub(super) fn texts(issues: &[Issue]) -> String {
    let errors = issues.iter().filter(|issue| issue.is_error());
    errors.map(|issue| issue.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Runs every case of kind `batch`.
pub fn batch_report(
    cases: &[Case],
    catalog: &Catalog,
    ask: &Ask,
    peers: &[PeerRow],
) -> (BatchReport, Vec<Compared>) {
    let (mut compared, mut skipped) = (Vec::new(), Vec::new());
    for case in cases.iter().filter_map(Case::batch) {
        match compare(case, catalog, ask) {
            Ok(pair) => compared.push(pair),
            Err(reason) => skipped.push(Skipped { id: case.id.clone(), reason }),
        }
    }
    let report = BatchReport {
        cases: compared.len(),
        skipped,
        metrics: metrics(compared.iter().map(|case| (case.predicted, case.measured))),
        roofline: metrics(compared.iter().map(|case| (case.roofline, case.measured))),
        by_gpu: grouped(&compared, |case| &case.gpu),
        by_model: grouped(&compared, |case| &case.model),
        peers: peer_metrics(&compared, peers),
    };
    (report, compared)
}

fn metrics(pairs: impl Iterator<Item = (Times, Times)>) -> Metrics {
    let pairs: Vec<_> = pairs.collect();
    let of = |pick: fn(&Times) -> Option<f64>| {
        let both: Vec<_> = pairs.iter().filter_map(|(ours, real)| Some((pick(ours)?, pick(real)?))).collect();
        Errors::of(&both)
    };
    Metrics {
        prefill: of(|times| times.prefill_ms),
        decode_step: of(|times| times.decode_step_ms),
        total: of(|times| times.total_ms),
    }
}

fn grouped(compared: &[Compared], key: fn(&Compared) -> &String) -> BTreeMap<String, Metrics> {
    let mut groups: BTreeMap<String, Vec<(Times, Times)>> = BTreeMap::new();
    for case in compared {
        groups.entry(key(case).clone()).or_default().push((case.predicted, case.measured));
    }
    groups.into_iter().map(|(name, pairs)| (name, metrics(pairs.into_iter()))).collect()
}

fn peer_metrics(compared: &[Compared], peers: &[PeerRow]) -> BTreeMap<String, PeerMetrics> {
    let by_id: BTreeMap<&str, &Compared> = compared.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut groups: BTreeMap<String, Vec<(&PeerRow, &Compared)>> = BTreeMap::new();
    for row in peers {
        if let Some(case) = by_id.get(row.id.as_str()) {
            groups.entry(row.peer.clone()).or_default().push((row, case));
        }
    }
    let of = |rows: Vec<(&PeerRow, &Compared)>| {
        let said = |row: &PeerRow| Times {
            prefill_ms: row.prefill_ms,
            decode_step_ms: row.decode_step_ms,
            total_ms: row.total_ms,
        };
        PeerMetrics {
            peer: metrics(rows.iter().map(|(row, case)| (said(row), case.measured))),
            ours: metrics(rows.iter().map(|(_, case)| (case.predicted, case.measured))),
        }
    };
    groups.into_iter().map(|(name, rows)| (name, of(rows))).collect()
}
