//! Errors on measured closed loops, in groups, beside the roofline and the peers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::coverage::{Coverage, coverage};
use super::{Run, Tables, Times, tables};
use crate::config::catalog::{Catalog, Physics};
use crate::evidence::cases::ClosedLoopCase;
use crate::evidence::contradictions::{Contradiction, contradictions};
use crate::evidence::errors::Errors;
use crate::evidence::serving::{Ask, PeerRow, Skipped};
use crate::serving::table::StepTable;

/// Clients up to which next to nothing queues.
const FEW_CLIENTS: u32 = 4;
/// Measured means repeat within 2.7 % in nine of ten pairs.
const PHYSICS_MARGIN: f64 = 0.97;

/// One case beside its measurement.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    pub id: String,
    pub model: String,
    pub engine: String,
    pub gpu: String,
    pub concurrency: u32,
    pub predicted: Times,
    pub roofline: Times,
    pub measured: Times,
    /// As near as a link comes to how it was started.
    pub link: String,
}

/// Errors of both times; none where there is no case.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Metrics {
    pub ttft: Option<Errors>,
    pub tpot: Option<Errors>,
}

/// A peer's errors, beside ours on the same cases.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PeerMetrics {
    #[serde(flatten)]
    pub peer: Metrics,
    pub ours: Metrics,
}

/// Bounds of both times.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Bounds {
    pub ttft: Option<Coverage>,
    pub tpot: Option<Coverage>,
}

#[derive(Debug, Clone, Serialize)]
pub struct LoopReport {
    pub cases: usize,
    pub skipped: Vec<Skipped>,
    #[serde(flatten)]
    pub metrics: Metrics,
    pub coverage80: Bounds,
    pub roofline: Metrics,
    /// Where at most four clients ask, so that kernels and host decide and not queues.
    pub few_clients: Metrics,
    pub by_engine: BTreeMap<String, Metrics>,
    pub by_gpu: BTreeMap<String, Metrics>,
    pub by_model: BTreeMap<String, Metrics>,
    pub by_concurrency: BTreeMap<u32, Metrics>,
    pub by_source: BTreeMap<String, Metrics>,
    pub few_clients_by_model: BTreeMap<String, Metrics>,
    pub few_clients_by_engine: BTreeMap<String, Metrics>,
    pub few_clients_by_model_and_engine: BTreeMap<String, Metrics>,
    pub peers: BTreeMap<String, PeerMetrics>,
    /// Cases that contradict physics or others, and the errors without them.
    pub contradictions: Vec<Contradiction>,
    pub without_contradictions: Metrics,
    /// Cases of whose start something was read off runs like them, with the number of cases, and the errors of
    /// all others.
    pub inferred: BTreeMap<String, usize>,
    pub without_inferred: Metrics,
}

struct Prepared<'a> {
    case: &'a ClosedLoopCase,
    run: Run,
}

/// Runs every closed loop again.
///
/// # Errors
/// Where the models or the catalogs do not answer.
pub fn loop_report(
    cases: &[&ClosedLoopCase],
    core: (&Catalog, &Physics),
    ask: &Ask<'_>,
    peers: &[PeerRow],
) -> Result<(LoopReport, Vec<Compared>), String> {
    let (catalog, physics) = core;
    let (mut ready, mut skipped) = (Vec::new(), Vec::new());
    for case in cases {
        match Run::of(case, catalog) {
            Ok(run) => ready.push(Prepared { case, run }),
            Err(reason) => skipped.push(Skipped { id: case.id.clone(), reason }),
        }
    }
    let runs: Vec<&Run> = ready.iter().map(|one| &one.run).collect();
    let tables = tables(&runs, physics, ask)?;
    let (mut compared, mut floors) = (Vec::new(), BTreeMap::new());
    for Prepared { case, run } in &ready {
        match compare(case, run, &tables) {
            Ok(pair) => compared.push(pair),
            Err(reason) => skipped.push(Skipped { id: case.id.clone(), reason }),
        }
        let floor = tables.get(&run.table_key()).and_then(|tables| tables.roofline.least_decode_step());
        floors.insert(case.id.as_str(), floor.map(|seconds| seconds.0));
    }
    let mut named = contradictions(cases, &|case| floors.get(case.id.as_str()).copied().flatten());
    let by_id: BTreeMap<&str, &ClosedLoopCase> = cases.iter().map(|case| (case.id.as_str(), *case)).collect();
    for (case, reason) in compared
        .iter()
        .filter_map(|case| Some((case, faster_than_physics(case, by_id.get(case.id.as_str())?)?)))
    {
        match named.iter_mut().find(|one| one.id == case.id) {
            Some(one) => one.reasons.push(reason),
            None => named.push(Contradiction { id: case.id.clone(), reasons: vec![reason] }),
        }
    }
    let contradicts = |case: &Compared| named.iter().any(|one| one.id == case.id);
    let sound: Vec<&Compared> = compared.iter().filter(|case| !contradicts(case)).collect();
    let all: Vec<&Compared> = compared.iter().collect();
    let few: Vec<&Compared> = compared.iter().filter(|case| case.concurrency <= FEW_CLIENTS).collect();
    let mut inferred: BTreeMap<String, usize> = BTreeMap::new();
    let mut told = all.clone();
    for Prepared { case, run } in ready.iter().filter(|one| !one.run.launch.inferred.is_empty()) {
        run.launch.inferred.iter().for_each(|what| *inferred.entry(what.clone()).or_default() += 1);
        told.retain(|one| one.id != case.id);
    }
    let source =
        |case: &Compared| by_id.get(case.id.as_str()).map_or(String::new(), |one| one.source.clone());
    let report = LoopReport {
        cases: compared.len(),
        metrics: metrics(&all, |case| case.predicted),
        coverage80: Bounds {
            ttft: bounds(&compared, |times| times.ttft_ms),
            tpot: bounds(&compared, |times| times.tpot_ms),
        },
        roofline: metrics(&all, |case| case.roofline),
        few_clients: metrics(&few, |case| case.predicted),
        by_engine: grouped(&all, |case| case.engine.clone()),
        by_gpu: grouped(&all, |case| case.gpu.clone()),
        by_model: grouped(&all, |case| case.model.clone()),
        by_concurrency: grouped(&all, |case| case.concurrency),
        by_source: grouped(&all, source),
        few_clients_by_model: grouped(&few, |case| case.model.clone()),
        few_clients_by_engine: grouped(&few, |case| case.engine.clone()),
        few_clients_by_model_and_engine: grouped(&few, |case| format!("{} on {}", case.model, case.engine)),
        peers: peer_metrics(&compared, peers),
        without_contradictions: metrics(&sound, |case| case.predicted),
        inferred,
        without_inferred: metrics(&told, |case| case.predicted),
        contradictions: named,
        skipped,
    };
    Ok((report, compared))
}

/// Requests that end sooner than their kernels could, queue by queue, at dense peaks and full bandwidth:
/// some of the work was not done, as where prompts came from a prefix cache.
fn faster_than_physics(case: &Compared, asked: &ClosedLoopCase) -> Option<String> {
    let osl = f64::from(asked.osl);
    let whole = |times: &Times| times.ttft_ms + (osl - 1.0) * times.tpot_ms;
    let (measured, least) = (whole(&case.measured), whole(&case.roofline));
    (measured < least * PHYSICS_MARGIN).then(|| {
        format!(
            "a request takes {measured:.0} ms, and its kernels alone, at peak rates, {least:.0} ms: not all of \
             its work was done"
        )
    })
}

fn compare(case: &ClosedLoopCase, run: &Run, tables: &BTreeMap<String, Tables>) -> Result<Compared, String> {
    let tables = tables.get(&run.table_key()).ok_or("no table of step times")?;
    let simulate = |table: &StepTable| run.simulate(case.concurrency, &table.under(&run.setup.engine.host));
    Ok(Compared {
        id: case.id.clone(),
        model: case.model.clone(),
        engine: case.engine.clone(),
        gpu: case.gpu.clone(),
        concurrency: case.concurrency,
        predicted: simulate(&tables.learned)?,
        roofline: simulate(&tables.roofline)?,
        measured: Times { ttft_ms: case.measured.ttft_ms, tpot_ms: case.measured.tpot_ms },
        link: run.link.clone(),
    })
}

fn bounds(cases: &[Compared], pick: fn(&Times) -> f64) -> Option<Coverage> {
    coverage(cases.iter().map(|case| (case.model.as_str(), pick(&case.predicted), pick(&case.measured))))
}

fn metrics(cases: &[&Compared], of: fn(&Compared) -> Times) -> Metrics {
    of_pairs(cases.iter().map(|case| (of(case), case.measured)))
}

/// Of predicted and measured times.
fn of_pairs(pairs: impl Iterator<Item = (Times, Times)>) -> Metrics {
    let pairs: Vec<(Times, Times)> = pairs.collect();
    let errors = |pick: fn(&Times) -> f64| {
        Errors::of(&pairs.iter().map(|(ours, real)| (pick(ours), pick(real))).collect::<Vec<_>>())
    };
    Metrics { ttft: errors(|times| times.ttft_ms), tpot: errors(|times| times.tpot_ms) }
}

fn grouped<K: Ord>(cases: &[&Compared], key: impl Fn(&Compared) -> K) -> BTreeMap<K, Metrics> {
    let mut groups: BTreeMap<K, Vec<&Compared>> = BTreeMap::new();
    for case in cases {
        groups.entry(key(case)).or_default().push(case);
    }
    groups.into_iter().map(|(key, cases)| (key, metrics(&cases, |case| case.predicted))).collect()
}

fn peer_metrics(compared: &[Compared], peers: &[PeerRow]) -> BTreeMap<String, PeerMetrics> {
    let by_id: BTreeMap<&str, &Compared> = compared.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut groups: BTreeMap<String, Vec<(Times, &Compared)>> = BTreeMap::new();
    for row in peers {
        let said = row.prefill_ms.zip(row.decode_step_ms);
        if let (Some(case), Some((ttft_ms, tpot_ms))) = (by_id.get(row.id.as_str()), said) {
            groups.entry(row.peer.clone()).or_default().push((Times { ttft_ms, tpot_ms }, case));
        }
    }
    let of = |rows: Vec<(Times, &Compared)>| PeerMetrics {
        peer: of_pairs(rows.iter().map(|(said, case)| (*said, case.measured))),
        ours: of_pairs(rows.iter().map(|(_, case)| (case.predicted, case.measured))),
    };
    groups.into_iter().map(|(name, rows)| (name, of(rows))).collect()
}
