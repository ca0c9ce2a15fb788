//! Summarises the reports of `evaluate` in the one that ships with the models.

use std::collections::BTreeMap;

use super::compared::{ComparedCase, ErrorMetric, ErrorReport, ErrorsByMetric, SkippedCase, Times};
use super::errors::Errors;
use super::kernels::FamilyReport;
use super::served::ranks::Ranks;
use super::served::report::LoopReport;
use crate::efficiency::Manifest;
use crate::study::accuracy::{
    Accuracy, CaseKind, CasePoint, Error, ErrorGroup, Grouping, Kernels, Ranked, Reliability, Skipped,
    Weights,
};
use crate::units::significant;

/// Digits kept of times and of errors.
const DIGITS: i32 = 4;

/// The results, by kind.
pub struct Reports<'a> {
    pub loops: &'a LoopReport,
    pub batches: &'a ErrorReport,
    pub traces: &'a ErrorReport,
    /// Kinds of served runs by title, of tables that nothing was fitted on.
    pub outside: &'a [(&'static str, &'a ErrorReport)],
    pub kernels: &'a BTreeMap<String, FamilyReport>,
}

pub fn summary(reports: &Reports<'_>, manifest: &Manifest) -> Accuracy {
    let Reports { loops, batches, traces, outside, kernels } = *reports;
    let weights = |(family, record): (&crate::kernels::Family, &crate::efficiency::ModelRecord)| Weights {
        family: family.id().into(),
        sha256: record.sha256.clone(),
    };
    let left = [&loops.all, batches, traces].into_iter().flat_map(|report| &report.skipped);
    let coverage = loops.all.calibrated.as_ref().map(|report| &report.coverage80);
    let covered = |metric: &ErrorMetric| Some(significant(coverage?.get(metric)?.covered, DIGITS));
    let points = [(CaseKind::Loop, &loops.all), (CaseKind::Batch, batches), (CaseKind::Trace, traces)]
        .into_iter()
        .flat_map(|(kind, report)| {
            report.compared.iter().map(move |case| point(kind, order(kind, report), case))
        });
    Accuracy {
        release: manifest.release.clone(),
        models: manifest.families.iter().map(weights).collect(),
        loops: loop_groups(loops),
        batches: groups(
            batches,
            batches.metrics_of,
            &[],
            &[(Grouping::Gpu, &batches.by_gpu), (Grouping::Model, &batches.by_model)],
        ),
        traces: vec![group(Grouping::All, "", &traces.metrics, traces.metrics_of)],
        outside: outside.iter().flat_map(|(title, report)| of_kind(title, report)).collect(),
        kernels: kernels.iter().map(family).collect(),
        covered: LOOP.iter().filter_map(covered).collect(),
        ranks: ranked(&loops.ranks),
        reliability: reliability(&loops.ranks),
        skipped: by_reason(left),
        points: points.collect(),
    }
}

/// The metrics that the report keeps for a kind of run: throughput was not measured in recorded closed loops.
fn order(kind: CaseKind, report: &ErrorReport) -> &'static [ErrorMetric] {
    if kind == CaseKind::Loop { &LOOP } else { report.metrics_of }
}

const LOOP: [ErrorMetric; 2] = [ErrorMetric::Ttft, ErrorMetric::Tpot];

/// A kind of served runs, all and by source.
fn of_kind(title: &str, report: &ErrorReport) -> Vec<ErrorGroup> {
    let named =
        |name: String, metrics: &ErrorsByMetric| group(Grouping::Outside, &name, metrics, report.metrics_of);
    let sources =
        report.by_source.iter().map(|(source, metrics)| named(format!("{title}: {source}"), metrics));
    let all = (report.by_source.len() > 1).then(|| named(title.to_owned(), &report.metrics));
    all.into_iter().chain(sources).collect()
}

fn loop_groups(report: &LoopReport) -> Vec<ErrorGroup> {
    let LoopReport { all, without_inferred, few_clients, .. } = report;
    let named =
        [(Grouping::Engine, &all.by_engine), (Grouping::Gpu, &all.by_gpu), (Grouping::Model, &all.by_model)];
    let mut parts = vec![
        (Grouping::KnownLaunch, without_inferred),
        (Grouping::FewClients, few_clients),
        (Grouping::Physics, &all.physics),
    ];
    parts.extend(all.left_out.iter().map(|(left, without)| (left.grouping(), &without.metrics)));
    let mut groups = groups(all, &LOOP, &parts, &named);
    let clients = report.by_concurrency.iter();
    groups.extend(
        clients.map(|(clients, metrics)| group(Grouping::Clients, &clients.to_string(), metrics, &LOOP)),
    );
    groups
}

/// The errors over all cases and over parts of them, those of other predictors, and those by what cases share.
fn groups(
    report: &ErrorReport,
    order: &[ErrorMetric],
    parts: &[(Grouping, &ErrorsByMetric)],
    named: &[(Grouping, &BTreeMap<String, ErrorsByMetric>)],
) -> Vec<ErrorGroup> {
    let of = |kind: Grouping, name: &str, metrics: &ErrorsByMetric| group(kind, name, metrics, order);
    let mut groups = vec![of(Grouping::All, "", &report.metrics)];
    groups.extend(parts.iter().map(|(kind, metrics)| of(*kind, "", metrics)));
    groups.push(of(Grouping::Roofline, "", &report.roofline));
    for (peer, metrics) in &report.peers {
        groups.extend([of(Grouping::Peer, peer, &metrics.peer), of(Grouping::Ours, peer, &metrics.ours)]);
    }
    for (kind, all) in named {
        groups.extend(all.iter().map(|(name, metrics)| of(*kind, name, metrics)));
    }
    groups
}

fn group(of: Grouping, name: &str, metrics: &ErrorsByMetric, order: &[ErrorMetric]) -> ErrorGroup {
    let errors: Vec<Option<&Errors>> = order.iter().map(|metric| metrics.get(metric)?.as_ref()).collect();
    let cases = errors.iter().flatten().map(|errors| errors.cases).max().unwrap_or(0) as u32;
    let errors = errors.into_iter().map(|errors| errors.map(error)).collect();
    ErrorGroup { of, name: name.into(), cases, errors }
}

fn error(errors: &Errors) -> Error {
    Error { mean: significant(errors.mean, DIGITS), median: significant(errors.median, DIGITS) }
}

fn ranked(ranks: &Ranks) -> Vec<Ranked> {
    let all =
        ranks.by_difference.iter().flat_map(|(difference, by)| by.iter().map(move |one| (difference, one)));
    all.map(|(difference, (metric, named))| Ranked {
        difference: (*difference).into(),
        metric: metric.name().into(),
        pairs: named.distinct as u32,
        right: significant(named.right, DIGITS),
        physics: significant(named.physics, DIGITS),
    })
    .collect()
}

fn reliability(ranks: &Ranks) -> Vec<Reliability> {
    let all = ranks.reliability.iter().flat_map(|(metric, of)| of.iter().map(move |one| (metric, one)));
    all.map(|(metric, one)| Reliability {
        metric: metric.name().into(),
        said: significant(one.said, DIGITS),
        came_true: significant(one.came_true, DIGITS),
        pairs: one.pairs as u32,
    })
    .collect()
}

fn family((family, report): (&String, &FamilyReport)) -> Kernels {
    Kernels {
        family: family.clone(),
        rows: report.errors.cases as u32,
        error: error(&report.errors),
        roofline: significant(report.roofline_mean, DIGITS),
    }
}

/// Groups equal reasons. Those that differ in a name or a number stay separate; most do not differ.
fn by_reason<'a>(left: impl Iterator<Item = &'a SkippedCase>) -> Vec<Skipped> {
    let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
    for one in left {
        *reasons.entry(&one.reason).or_default() += 1;
    }
    reasons.into_iter().map(|(reason, cases)| Skipped { cases, reason: reason.into() }).collect()
}

fn point(kind: CaseKind, metrics: &[ErrorMetric], case: &ComparedCase) -> CasePoint {
    let rounded = |times: &Times| {
        metrics.iter().map(|metric| metric.of(times).map(|value| significant(value, DIGITS))).collect()
    };
    // Traces are listed under no model, engine or GPU.
    let own = |text: &String| if kind == CaseKind::Trace { String::new() } else { text.clone() };
    CasePoint {
        id: case.id.clone(),
        kind,
        model: own(&case.model),
        engine: own(&case.engine),
        gpu: own(&case.gpu),
        clients: case.concurrency,
        link: case.link.clone(),
        predicted: rounded(&case.predicted),
        measured: rounded(&case.measured),
    }
}
