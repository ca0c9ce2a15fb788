//! Predictions compared with measurements, and errors by group.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::coverage::{Calibrated, CalibratedReport, left_out};
use super::errors::{self, Errors};
use super::served::calibrated::LeaveOut;
use crate::calibration::Observed;
use crate::serving::sim::Metrics;

/// Lists the metrics in the order of reports: their fields in [`Times`], and their names.
macro_rules! metrics {
    ($($(#[$note:meta])* $metric:ident, $field:ident, $name:literal;)+) => {
        /// Measured figures of a run: means in milliseconds, and output tokens per second.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
        pub struct Times {
            $($(#[$note])*
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $field: Option<f64>,)+
            #[serde(skip)]
            pub idle_w: Option<f64>,
        }

        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorMetric { $($metric),+ }

        impl ErrorMetric {
            pub fn of(self, times: &Times) -> Option<f64> {
                match self { $(Self::$metric => times.$field),+ }
            }

            pub fn name(self) -> &'static str {
                match self { $(Self::$metric => $name),+ }
            }
        }
    };
}

metrics! {
    Prefill, prefill_ms, "prefill";
    DecodeStep, decode_step_ms, "decode step";
    Total, total_ms, "total";
    Ttft, ttft_ms, "TTFT";
    TtftMedian, ttft_median_ms, "TTFT median";
    Tpot, tpot_ms, "TPOT";
    Throughput, output_per_s, "throughput";
    JoulesPerOutputToken, joules_per_output_token, "J per token";
    /// Energy per token if tokens came at the measured rate, with GPUs idle for the rest of the time.
    JoulesAtMeasuredRate, joules_at_measured_rate, "J at the rate";
    Power, power_w_per_gpu, "power";
}

impl Times {
    /// The means of a simulated run, and its median TTFT.
    pub fn of(found: &Metrics) -> Result<Self, String> {
        let tpot = found.tpot.ok_or("no output has a second token")?;
        Ok(Self {
            ttft_ms: Some(found.ttft.mean * 1e3),
            ttft_median_ms: Some(found.ttft.p50 * 1e3),
            tpot_ms: Some(tpot.mean * 1e3),
            output_per_s: Some(found.output_per_s),
            ..Self::default()
        })
    }

    /// The prediction, with the figures at the measured rate added.
    pub fn at_rate_of(self, measured: &Self) -> Self {
        let found = || {
            let (own, rate) = (self.output_per_s?, measured.output_per_s?);
            Some(self.joules_per_output_token? + self.idle_w? * (1.0 / rate - 1.0 / own))
        };
        Self { joules_at_measured_rate: found(), ..self }
    }
}

impl From<Observed> for ErrorMetric {
    fn from(observed: Observed) -> Self {
        match observed {
            Observed::Ttft => Self::Ttft,
            Observed::Tpot => Self::Tpot,
            Observed::Throughput => Self::Throughput,
        }
    }
}

/// One case and its measurement.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ComparedCase {
    pub id: String,
    pub model: String,
    pub engine: String,
    pub gpu: String,
    pub source: String,
    /// Whether no constant was fitted on similar runs.
    pub outside: bool,
    /// Clients of a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    pub predicted: Times,
    /// Times by the physics alone; `None` if that is the prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physics: Option<Times>,
    /// Calibrated predictions, by which runs were left out; the first is the prediction.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub calibrated: BTreeMap<LeaveOut, Calibrated>,
    pub roofline: Times,
    pub measured: Times,
    /// Whether the launch of a closed loop is recorded, with nothing inferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<bool>,
    /// The link closest to how it ran.
    pub link: String,
}

/// A case left out, and why.
#[derive(Debug, Clone, Serialize)]
pub struct SkippedCase {
    pub id: String,
    pub reason: String,
}

/// The results of cases, and by id the cases without one, with the reason.
pub fn parted<'a, T>(
    results: impl Iterator<Item = (&'a String, Result<T, String>)>,
) -> (Vec<T>, Vec<SkippedCase>) {
    let (mut made, mut skipped) = (Vec::new(), Vec::new());
    for (id, result) in results {
        match result {
            Ok(one) => made.push(one),
            Err(reason) => skipped.push(SkippedCase { id: id.clone(), reason }),
        }
    }
    (made, skipped)
}

/// Errors by metric; `None` if no case has it.
pub type ErrorsByMetric = BTreeMap<ErrorMetric, Option<Errors>>;

/// A line of the peers' table: TTFT and TPOT of a closed loop, or prefill, decode step and total of a batch.
#[derive(Debug, Clone, Deserialize)]
pub struct PeerRow {
    pub id: String,
    pub peer: String,
    ttft_or_prefill_ms: Option<f64>,
    tpot_or_decode_step_ms: Option<f64>,
    total_ms: Option<f64>,
}

/// A peer's errors, and ours on the same cases.
#[derive(Debug, Clone, Serialize)]
pub struct PeerMetrics {
    #[serde(flatten)]
    pub peer: ErrorsByMetric,
    pub ours: ErrorsByMetric,
}

/// Errors of the cases of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorReport {
    #[serde(skip)]
    pub metrics_of: &'static [ErrorMetric],
    #[serde(skip)]
    pub compared: Vec<ComparedCase>,
    pub cases: usize,
    pub skipped: Vec<SkippedCase>,
    #[serde(flatten)]
    pub metrics: ErrorsByMetric,
    pub roofline: ErrorsByMetric,
    /// Errors of the physics alone, if predictions are calibrated.
    pub physics: ErrorsByMetric,
    /// The predictions with their band coverage, and those with more left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibrated: Option<CalibratedReport>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<LeaveOut, CalibratedReport>,
    pub by_engine: BTreeMap<String, ErrorsByMetric>,
    pub by_gpu: BTreeMap<String, ErrorsByMetric>,
    pub by_model: BTreeMap<String, ErrorsByMetric>,
    pub by_source: BTreeMap<String, ErrorsByMetric>,
    /// Runs in tables that constants were fitted on, and all others.
    pub inside_fits: ErrorsByMetric,
    pub outside_fits: ErrorsByMetric,
    pub peers: BTreeMap<String, PeerMetrics>,
}

impl ErrorReport {
    pub fn of(
        metrics: &'static [ErrorMetric],
        compared: Vec<ComparedCase>,
        skipped: Vec<SkippedCase>,
        peers: &[PeerRow],
    ) -> Self {
        let all = || compared.iter();
        Self {
            metrics_of: metrics,
            cases: compared.len(),
            skipped,
            metrics: errors(metrics, all()),
            roofline: of_pairs(metrics, all().map(|case| (&case.roofline, &case.measured))),
            physics: of_pairs(
                metrics,
                all().filter_map(|case| Some((case.physics.as_ref()?, &case.measured))),
            ),
            calibrated: CalibratedReport::of(metrics, &compared, LeaveOut::Configuration),
            left_out: left_out(metrics, &compared),
            by_engine: grouped(metrics, all(), |case| case.engine.clone()),
            by_gpu: grouped(metrics, all(), |case| case.gpu.clone()),
            by_model: grouped(metrics, all(), |case| case.model.clone()),
            by_source: grouped(metrics, all(), |case| case.source.clone()),
            inside_fits: errors(metrics, all().filter(|case| !case.outside)),
            outside_fits: errors(metrics, all().filter(|case| case.outside)),
            peers: peer_metrics(metrics, &compared, peers),
            compared,
        }
    }
}

/// Errors of the predictions.
pub fn errors<'a>(metrics: &[ErrorMetric], cases: impl Iterator<Item = &'a ComparedCase>) -> ErrorsByMetric {
    of_pairs(metrics, cases.map(|case| (&case.predicted, &case.measured)))
}

/// Errors of the predictions by group.
pub fn grouped<'a, K: Ord>(
    metrics: &[ErrorMetric],
    cases: impl Iterator<Item = &'a ComparedCase>,
    key: impl Fn(&ComparedCase) -> K,
) -> BTreeMap<K, ErrorsByMetric> {
    let groups = errors::grouped(cases.map(|case| (key(case), case)));
    groups.into_iter().map(|(key, cases)| (key, errors(metrics, cases.into_iter()))).collect()
}

pub(super) fn of_pairs<'a>(
    metrics: &[ErrorMetric],
    pairs: impl Iterator<Item = (&'a Times, &'a Times)>,
) -> ErrorsByMetric {
    let pairs: Vec<_> = pairs.collect();
    let of = |metric: ErrorMetric| {
        let both = |(ours, real): &(&Times, &Times)| Some((metric.of(ours)?, metric.of(real)?));
        Errors::of(&pairs.iter().filter_map(both).collect::<Vec<_>>())
    };
    metrics.iter().map(|&metric| (metric, of(metric))).collect()
}

fn peer_metrics(
    metrics: &[ErrorMetric],
    compared: &[ComparedCase],
    peers: &[PeerRow],
) -> BTreeMap<String, PeerMetrics> {
    let by_id: BTreeMap<&str, &ComparedCase> = compared.iter().map(|case| (case.id.as_str(), case)).collect();
    let known = |row: &PeerRow| Some((row.peer.clone(), (row.times(), *by_id.get(row.id.as_str())?)));
    let groups = errors::grouped(peers.iter().filter_map(known));
    let of = |rows: Vec<(Times, &ComparedCase)>| PeerMetrics {
        peer: of_pairs(metrics, rows.iter().map(|(times, case)| (times, &case.measured))),
        ours: errors(metrics, rows.iter().map(|(_, case)| *case)),
    };
    groups.into_iter().map(|(name, rows)| (name, of(rows))).collect()
}

impl PeerRow {
    fn times(&self) -> Times {
        Times {
            prefill_ms: self.ttft_or_prefill_ms,
            decode_step_ms: self.tpot_or_decode_step_ms,
            ttft_ms: self.ttft_or_prefill_ms,
            tpot_ms: self.tpot_or_decode_step_ms,
            total_ms: self.total_ms,
            ..Times::default()
        }
    }
}
