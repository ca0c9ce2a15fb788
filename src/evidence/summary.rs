//! The reports of `evaluate` as the one that ships beside the models.

use std::collections::BTreeMap;

use super::closed_loop::report::{Compared as Looped, LoopReport, Metrics as LoopMetrics};
use super::errors::Errors;
use super::kernels::FamilyReport;
use super::serving::{BatchReport, Compared as Batched, Metrics as BatchMetrics, Skipped as Left};
use super::trace::{Compared as Traced, TraceReport};
use crate::efficiency::Manifest;
use crate::serving::accuracy::{Accuracy, Error, Group, Kernels, Point, Skipped, Weights};
use crate::units::significant;

/// Digits kept of times and of errors.
const DIGITS: i32 = 4;

/// What was found, kind by kind.
pub struct Reports<'a> {
    pub loops: (&'a LoopReport, &'a [Looped]),
    pub batches: (&'a BatchReport, &'a [Batched]),
    pub traces: (&'a TraceReport, &'a [Traced]),
    pub kernels: &'a BTreeMap<String, FamilyReport>,
}

pub fn summary(reports: &Reports<'_>, manifest: &Manifest) -> Accuracy {
    let (loops, looped) = reports.loops;
    let (batches, batched) = reports.batches;
    let (traces, traced) = reports.traces;
    let weights = |(family, record): (&crate::kernels::Family, &crate::efficiency::ModelRecord)| Weights {
        family: family.id().into(),
        sha256: record.sha256.clone(),
    };
    let left = loops.skipped.iter().chain(&batches.skipped).chain(&traces.skipped);
    let factor = |coverage: Option<super::closed_loop::coverage::Coverage>| {
        coverage.map(|coverage| significant(coverage.factor, DIGITS))
    };
    let points =
        looped.iter().map(of_loop).chain(batched.iter().map(of_batch)).chain(traced.iter().map(of_trace));
    Accuracy {
        release: manifest.release.clone(),
        models: manifest.families.iter().map(weights).collect(),
        loops: loop_groups(loops),
        batches: batch_groups(batches),
        traces: vec![group("all", "", [traces.ttft, traces.tpot, traces.throughput])],
        kernels: reports.kernels.iter().map(kernels).collect(),
        factors: [loops.coverage80.ttft, loops.coverage80.tpot].into_iter().filter_map(factor).collect(),
        skipped: by_reason(left),
        points: points.collect(),
    }
}

fn loop_groups(report: &LoopReport) -> Vec<Group> {
    let of = |kind: &str, name: &str, metrics: &LoopMetrics| group(kind, name, [metrics.ttft, metrics.tpot]);
    let mut groups = vec![
        of("all", "", &report.metrics),
        of("told", "", &report.without_inferred),
        of("few clients", "", &report.few_clients),
        of("roofline", "", &report.roofline),
    ];
    for (peer, metrics) in &report.peers {
        groups.push(of("peer", peer, &metrics.peer));
        groups.push(of("ours", peer, &metrics.ours));
    }
    let kinds = [("engine", &report.by_engine), ("gpu", &report.by_gpu), ("model", &report.by_model)];
    for (kind, all) in kinds {
        groups.extend(all.iter().map(|(name, metrics)| of(kind, name, metrics)));
    }
    groups.extend(
        report.by_concurrency.iter().map(|(clients, metrics)| of("clients", &clients.to_string(), metrics)),
    );
    groups
}

fn batch_groups(report: &BatchReport) -> Vec<Group> {
    let of = |kind: &str, name: &str, metrics: &BatchMetrics| {
        group(kind, name, [metrics.prefill, metrics.decode_step, metrics.total])
    };
    let mut groups = vec![of("all", "", &report.metrics), of("roofline", "", &report.roofline)];
    for (peer, metrics) in &report.peers {
        groups.push(of("peer", peer, &metrics.peer));
        groups.push(of("ours", peer, &metrics.ours));
    }
    for (kind, all) in [("gpu", &report.by_gpu), ("model", &report.by_model)] {
        groups.extend(all.iter().map(|(name, metrics)| of(kind, name, metrics)));
    }
    groups
}

fn group<const METRICS: usize>(of: &str, name: &str, metrics: [Option<Errors>; METRICS]) -> Group {
    let cases = metrics.iter().flatten().map(|errors| errors.cases).max().unwrap_or(0) as u32;
    let errors = metrics.iter().map(|errors| errors.as_ref().map_or_else(Error::default, error));
    Group { of: of.into(), name: name.into(), cases, errors: errors.collect() }
}

fn error(errors: &Errors) -> Error {
    Error { mean: significant(errors.mean, DIGITS), median: significant(errors.median, DIGITS) }
}

fn kernels((family, report): (&String, &FamilyReport)) -> Kernels {
    Kernels {
        family: family.clone(),
        rows: report.rows as u32,
        error: Error { mean: significant(report.mean, DIGITS), median: significant(report.median, DIGITS) },
        roofline: significant(report.roofline_mean, DIGITS),
    }
}

/// Reasons that differ in a name or a number stand as they are; most do not.
fn by_reason<'a>(left: impl Iterator<Item = &'a Left>) -> Vec<Skipped> {
    let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
    for one in left {
        *reasons.entry(&one.reason).or_default() += 1;
    }
    reasons.into_iter().map(|(reason, cases)| Skipped { cases, reason: reason.into() }).collect()
}

fn rounded<const METRICS: usize>(values: [f64; METRICS]) -> Vec<f64> {
    values.map(|value| significant(value, DIGITS)).into()
}

fn of_loop(case: &Looped) -> Point {
    Point {
        id: case.id.clone(),
        kind: "loop".into(),
        model: case.model.clone(),
        engine: case.engine.clone(),
        gpu: case.gpu.clone(),
        clients: case.concurrency,
        link: case.link.clone(),
        predicted: rounded([case.predicted.ttft_ms, case.predicted.tpot_ms]),
        measured: rounded([case.measured.ttft_ms, case.measured.tpot_ms]),
    }
}

fn of_batch(case: &Batched) -> Point {
    let times = |times: &super::serving::Times| {
        rounded([times.prefill_ms, times.decode_step_ms, times.total_ms].map(|time| time.unwrap_or(0.0)))
    };
    Point {
        id: case.id.clone(),
        kind: "batch".into(),
        model: case.model.clone(),
        engine: case.engine.clone(),
        gpu: case.gpu.clone(),
        clients: 0,
        link: case.link.clone(),
        predicted: times(&case.predicted),
        measured: times(&case.measured),
    }
}

fn of_trace(case: &Traced) -> Point {
    let times = |times: &super::trace::Times| rounded([times.ttft_ms, times.tpot_ms, times.output_per_s]);
    Point {
        id: case.id.clone(),
        kind: "trace".into(),
        link: case.link.clone(),
        predicted: times(&case.predicted),
        measured: times(&case.measured),
        ..Point::default()
    }
}
