//! Errors on measured closed loops, in groups, beside the roofline and the peers.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::coverage::{Coverage, coverage};
use super::{Run, Tables, tables};
use crate::config::catalog::{Catalog, Physics};
use crate::evidence::cases::{Ask, ClosedLoopCase};
use crate::evidence::compared::{
    Compared, Metric, Metrics, PeerRow, Report, Skipped, Times, errors, grouped,
};
use crate::evidence::contradictions::{Contradiction, contradictions};
use crate::serving::table::StepTable;

/// Clients up to which next to nothing queues.
const FEW_CLIENTS: u32 = 4;
/// Measured means repeat within 2.7 % in nine of ten pairs.
const PHYSICS_MARGIN: f64 = 0.97;

#[derive(Debug, Clone, Serialize)]
pub struct LoopReport {
    #[serde(flatten)]
    pub all: Report,
    /// How wide bounds must be.
    pub coverage80: BTreeMap<Metric, Option<Coverage>>,
    /// Where at most four clients ask, so that kernels and host decide and not queues.
    pub few_clients: Metrics,
    pub by_concurrency: BTreeMap<u32, Metrics>,
    pub by_source: BTreeMap<String, Metrics>,
    pub few_clients_by_model: BTreeMap<String, Metrics>,
    pub few_clients_by_engine: BTreeMap<String, Metrics>,
    pub few_clients_by_model_and_engine: BTreeMap<String, Metrics>,
    /// Cases that contradict physics or others, and the errors without them.
    pub contradictions: Vec<Contradiction>,
    pub without_contradictions: Metrics,
    /// Cases of whose start something was read off runs like them, with the number of cases, and the errors of
    /// all others.
    pub inferred: BTreeMap<String, usize>,
    pub without_inferred: Metrics,
}

/// Runs every closed loop again.
///
/// # Errors
/// Where the models or the catalogs do not answer.
pub fn loop_report(
    cases: &[&ClosedLoopCase],
    (catalog, physics): (&Catalog, &Physics),
    ask: &Ask<'_>,
    peers: &[PeerRow],
) -> Result<LoopReport, String> {
    let (mut ready, mut skipped) = (Vec::new(), Vec::new());
    for &case in cases {
        match Run::of(case, catalog) {
            Ok(run) => ready.push((case, run)),
            Err(reason) => skipped.push(Skipped { id: case.id.clone(), reason }),
        }
    }
    let runs: Vec<&Run> = ready.iter().map(|(_, run)| run).collect();
    let tables = tables(&runs, physics, ask)?;
    let (mut compared, mut floors) = (Vec::new(), BTreeMap::new());
    for (case, run) in &ready {
        match compare(case, run, &tables) {
            Ok(pair) => compared.push(pair),
            Err(reason) => skipped.push(Skipped { id: case.id.clone(), reason }),
        }
        let floor = tables.get(&run.table_key()).and_then(|tables| tables.roofline.least_decode_step());
        floors.insert(case.id.as_str(), floor.map(|seconds| seconds.0));
    }
    let mut named = contradictions(cases, &|case| floors.get(case.id.as_str()).copied().flatten());
    let by_id: BTreeMap<&str, &ClosedLoopCase> = cases.iter().map(|case| (case.id.as_str(), *case)).collect();
    for case in &compared {
        let Some(reason) = by_id.get(case.id.as_str()).and_then(|own| faster_than_physics(case, own.osl))
        else {
            continue;
        };
        match named.iter_mut().find(|one| one.id == case.id) {
            Some(one) => one.reasons.push(reason),
            None => named.push(Contradiction { id: case.id.clone(), reasons: vec![reason] }),
        }
    }
    let (mut inferred, mut guessed): (BTreeMap<String, usize>, BTreeSet<&str>) = Default::default();
    for (case, run) in ready.iter().filter(|(_, run)| !run.launch.inferred.is_empty()) {
        run.launch.inferred.iter().for_each(|what| *inferred.entry(what.clone()).or_default() += 1);
        guessed.insert(&case.id);
    }
    let wrong: BTreeSet<&str> = named.iter().map(|one| one.id.as_str()).collect();
    let metrics = &ClosedLoopCase::METRICS;
    let few =
        || compared.iter().filter(|case| case.concurrency.is_some_and(|clients| clients <= FEW_CLIENTS));
    let without = |ids: &BTreeSet<&str>| {
        errors(metrics, compared.iter().filter(|case| !ids.contains(case.id.as_str())))
    };
    let source =
        |case: &Compared| by_id.get(case.id.as_str()).map_or_else(String::new, |own| own.source.clone());
    Ok(LoopReport {
        coverage80: metrics.iter().map(|&metric| (metric, bounds(&compared, metric))).collect(),
        few_clients: errors(metrics, few()),
        by_concurrency: grouped(metrics, compared.iter(), |case| case.concurrency.unwrap_or_default()),
        by_source: grouped(metrics, compared.iter(), source),
        few_clients_by_model: grouped(metrics, few(), |case| case.model.clone()),
        few_clients_by_engine: grouped(metrics, few(), |case| case.engine.clone()),
        few_clients_by_model_and_engine: grouped(metrics, few(), |case| {
            format!("{} on {}", case.model, case.engine)
        }),
        without_contradictions: without(&wrong),
        without_inferred: without(&guessed),
        inferred,
        all: Report::of(metrics, compared, skipped, peers),
        contradictions: named,
    })
}

/// Requests that end sooner than their kernels could, queue by queue, at dense peaks and full bandwidth:
/// some of the work was not done, as where prompts came from a prefix cache.
fn faster_than_physics(case: &Compared, osl: u32) -> Option<String> {
    let whole = |times: &Times| Some(times.ttft_ms? + (f64::from(osl) - 1.0) * times.tpot_ms?);
    let (measured, least) = (whole(&case.measured)?, whole(&case.roofline)?);
    (measured < least * PHYSICS_MARGIN).then(|| {
        format!(
            "a request takes {measured:.0} ms, and its kernels alone, at peak rates, {least:.0} ms: not all of \
             its work was done"
        )
    })
}

fn compare(case: &ClosedLoopCase, run: &Run, tables: &BTreeMap<String, Tables>) -> Result<Compared, String> {
    let tables = tables.get(&run.table_key()).ok_or("no table of step times")?;
    let simulate = |table: &StepTable| {
        run.simulate(case.concurrency, &table.under(&run.setup.engine.host, run.policy.ahead))
    };
    let (ttft_ms, tpot_ms) = (Some(case.measured.ttft_ms), Some(case.measured.tpot_ms));
    Ok(Compared {
        id: case.id.clone(),
        model: case.model.clone(),
        engine: case.engine.clone(),
        gpu: case.gpu.clone(),
        concurrency: Some(case.concurrency),
        recorded: Some(run.launch.matched() && run.launch.inferred.is_empty()),
        predicted: simulate(&tables.learned)?,
        roofline: simulate(&tables.roofline)?,
        measured: Times { ttft_ms, tpot_ms, ..Times::default() },
        link: run.link.clone(),
    })
}

fn bounds(cases: &[Compared], metric: Metric) -> Option<Coverage> {
    coverage(cases.iter().filter_map(|case| {
        Some((case.model.as_str(), metric.of(&case.predicted)?, metric.of(&case.measured)?))
    }))
}
