//! Errors on served runs, by kind and group, with the roofline and peers.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::calibrated::{LeaveOut, RunPoint, predict};
use super::ranks::Ranks;
use super::{ServedRun, TablesOfRuns, attempted, tables};
use crate::calibration::shipped;
use crate::config::catalog::Catalog;
use crate::evidence::cases::{AskLearned, LoadKind, ServedCase};
use crate::evidence::compared::{ComparedCase, ErrorReport, ErrorsByMetric, PeerRow, Times, errors, grouped};
use crate::evidence::contradictions::{Contradiction, constants, contradictions};
use crate::evidence::errors::grouped as by_key;
use crate::serving::table::StepTable;

/// Maximum clients at which queueing is negligible.
const FEW_CLIENTS: u32 = 4;

#[derive(Debug, Clone, Serialize)]
pub struct LoopReport {
    #[serde(flatten)]
    pub all: ErrorReport,
    /// Errors with at most four clients, so that kernels and host matter rather than queues.
    pub few_clients: ErrorsByMetric,
    pub by_concurrency: BTreeMap<u32, ErrorsByMetric>,
    pub few_clients_by_engine: BTreeMap<String, ErrorsByMetric>,
    pub few_clients_by_model_and_engine: BTreeMap<String, ErrorsByMetric>,
    /// Cases that contradict physics or others, and the errors without them.
    pub contradictions: Vec<Contradiction>,
    pub without_contradictions: ErrorsByMetric,
    /// Inferred launch settings with their number of cases, and the errors of all other cases.
    pub inferred: BTreeMap<String, usize>,
    pub without_inferred: ErrorsByMetric,
    /// Which of two is faster.
    pub ranks: Ranks,
}

/// The reports of all kinds.
pub struct ServedReports {
    pub closed_loops: LoopReport,
    /// Reports of every other kind of load.
    pub others: BTreeMap<LoadKind, ErrorReport>,
}

/// A case ready for replay.
struct Ready<'a> {
    case: &'a ServedCase,
    run: ServedRun,
}

/// Replays every case: the physics alone, and calibrated, by which runs are left out.
pub fn served_reports(
    cases: &[&ServedCase],
    catalog: &Catalog,
    ask: &AskLearned<'_>,
    peers: &[PeerRow],
    leaves: &[LeaveOut],
) -> Result<ServedReports, String> {
    let (ready, mut skipped) =
        attempted(cases, |case| &case.id, |&case| Ok(Ready { case, run: ServedRun::of(case, catalog)? }));
    let tables = tables(ready.iter().map(|one| (&one.run.setup, &one.run.extent)), ask)?;
    let of = |one: &Ready| Ok((one.case.kind, compare(one.case, &one.run, &tables, leaves)?));
    let (compared, more) = attempted(&ready, |one| &one.case.id, of);
    skipped.extend(more);
    let kinds: BTreeMap<&str, LoadKind> = cases.iter().map(|case| (case.id.as_str(), case.kind)).collect();
    let mut compared = by_key(compared);
    let report = |kind: LoadKind, compared: Vec<ComparedCase>| {
        let skipped = skipped.iter().filter(|one| kinds[one.id.as_str()] == kind).cloned().collect();
        ErrorReport::of(&ServedCase::METRICS, compared, skipped, peers)
    };
    let closed = compared.remove(&LoadKind::ClosedLoop).unwrap_or_default();
    let others = LoadKind::ALL.iter().copied().filter(|kind| *kind != LoadKind::ClosedLoop);
    let others =
        others.map(|kind| (kind, report(kind, compared.remove(&kind).unwrap_or_default()))).collect();
    let all = report(LoadKind::ClosedLoop, closed);
    Ok(ServedReports { closed_loops: loop_report(&ready, all, &tables), others })
}

/// Additional statistics for closed loops, mostly those with recorded launch scripts.
fn loop_report(ready: &[Ready<'_>], all: ErrorReport, tables: &TablesOfRuns) -> LoopReport {
    let recorded: Vec<&Ready> = ready
        .iter()
        .filter(|one| one.case.kind == LoadKind::ClosedLoop && one.case.published.is_none())
        .collect();
    let cases: Vec<&ServedCase> = recorded.iter().map(|one| one.case).collect();
    let by_id: BTreeMap<&str, &Ready> = recorded.iter().map(|one| (one.case.id.as_str(), *one)).collect();
    let compared: Vec<&ComparedCase> =
        all.compared.iter().filter(|case| by_id.contains_key(case.id.as_str())).collect();
    let floors: BTreeMap<&str, Option<f64>> = recorded
        .iter()
        .map(|one| {
            let tables = tables.of(&one.run.setup, &one.run.extent).ok();
            let floor = tables.and_then(|tables| tables.roofline.least_decode_step());
            (one.case.id.as_str(), floor.map(|seconds| seconds.0))
        })
        .collect();
    let mut named = contradictions(&cases, &|case| floors.get(case.id.as_str()).copied().flatten());
    for case in &compared {
        let reason = by_id.get(case.id.as_str()).and_then(|own| faster_than_physics(case, own, tables));
        let Some(reason) = reason else { continue };
        match named.iter_mut().find(|one| one.id == case.id) {
            Some(one) => one.reasons.push(reason),
            None => named.push(Contradiction { id: case.id.clone(), reasons: vec![reason] }),
        }
    }
    let (mut inferred, mut guessed): (BTreeMap<String, usize>, BTreeSet<&str>) = Default::default();
    for one in ready.iter().filter(|one| one.case.kind == LoadKind::ClosedLoop) {
        let inferences = &one.run.launch.inferred;
        inferences.iter().for_each(|what| *inferred.entry(what.clone()).or_default() += 1);
        if !inferences.is_empty() {
            guessed.insert(&one.case.id);
        }
    }
    let wrong: BTreeSet<&str> = named.iter().map(|one| one.id.as_str()).collect();
    let metrics = &ServedCase::METRICS;
    let few =
        || all.compared.iter().filter(|case| case.concurrency.is_some_and(|clients| clients <= FEW_CLIENTS));
    let without = |ids: &BTreeSet<&str>| {
        errors(metrics, all.compared.iter().filter(|case| !ids.contains(case.id.as_str())))
    };
    LoopReport {
        ranks: Ranks::of(&all.compared, shipped()),
        few_clients: errors(metrics, few()),
        by_concurrency: grouped(metrics, all.compared.iter(), |case| case.concurrency.unwrap_or_default()),
        few_clients_by_engine: grouped(metrics, few(), |case| case.engine.clone()),
        few_clients_by_model_and_engine: grouped(metrics, few(), |case| {
            format!("{} on {}", case.model, case.engine)
        }),
        without_contradictions: without(&wrong),
        without_inferred: without(&guessed),
        inferred,
        contradictions: named,
        all,
    }
}

/// Requests that finish sooner than their kernels could, even at peak rates: some work was not done, for example
/// because prompts came from a prefix cache.
fn faster_than_physics(case: &ComparedCase, own: &Ready<'_>, tables: &TablesOfRuns) -> Option<String> {
    let whole = |times: &Times| Some(times.ttft_ms? + (f64::from(own.case.osl) - 1.0) * times.tpot_ms?);
    let measured = whole(&case.measured)?;
    let faster_than =
        |times: &Times| whole(times).filter(|least| measured < least * constants().physics_margin);
    // With its host the roofline is slower, and known: few runs need the one without.
    faster_than(&case.roofline)?;
    let tables = tables.of(&own.run.setup, &own.run.extent).ok()?;
    let least = faster_than(&own.run.at_peak(&tables.roofline).ok()?)?;
    Some(format!(
        "a request takes {measured:.0} ms, and its kernels alone, at peak rates, {least:.0} ms: not all of its work \
         was done"
    ))
}

fn compare(
    case: &ServedCase,
    run: &ServedRun,
    tables: &TablesOfRuns,
    leaves: &[LeaveOut],
) -> Result<ComparedCase, String> {
    let tables = tables.of(&run.setup, &run.extent)?;
    let under = |table| StepTable::under(table, &run.setup.engine.host, run.policy.ahead);
    let hosted = under(&tables.learned);
    let (physics, in_flight) = run.simulate(&hosted, 1.0)?;
    let mut calibrated = BTreeMap::new();
    let place = RunPoint { case, run, hosted, in_flight };
    for leave in leaves {
        calibrated.insert(*leave, predict(&place, shipped(), *leave)?);
    }
    let measured = case.measured;
    calibrated.values_mut().for_each(|one| one.predicted = one.predicted.at_rate_of(&measured));
    let physics = physics.at_rate_of(&measured);
    let predicted = calibrated.get(&LeaveOut::Configuration).map(|one| one.predicted);
    Ok(ComparedCase {
        source: case.source_label(),
        concurrency: Some(run.sent.at_once),
        recorded: Some(run.launch.matched() && run.launch.inferred.is_empty()),
        predicted: predicted.unwrap_or(physics),
        physics: predicted.map(|_| physics),
        calibrated,
        roofline: run.simulate(&under(&tables.roofline), 1.0)?.0.at_rate_of(&measured),
        link: run.link.clone(),
        ..case.compared()
    })
}
