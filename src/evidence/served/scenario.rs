//! The scenario that a measured run of a server ran.

use super::lengths;
use super::sent::SentRequests;
use crate::config::{Lengths, Load, ModelChoice, Overrides, Parallelism, Scenario, Workload, catalog};
use crate::evidence::cases::{LoadKind, ServedCase, model};
use crate::evidence::launch::{LaunchLayout, LaunchSettings};
use crate::serving::run::{longest, means};

pub fn of(case: &ServedCase, launch: &LaunchSettings, sent: &SentRequests) -> Result<Scenario, String> {
    let resolved = model(&case.model)?;
    let weights = case.weights(&resolved)?;
    let LaunchLayout { tp, ep, attention_dp, .. } = launch.layout;
    let (isl, osl) = match case.published {
        None => (case.isl, case.osl),
        Some(_) => longest(&sent.requests),
    };
    let parallel = Parallelism { tp, pp: case.pp, dp: attention_dp, ep };
    let scenario = Scenario {
        gpu: case.gpu.clone(),
        engine: case.engine.clone(),
        parallel,
        weights: Some(weights),
        kv: launch.kv(weights),
        workload: Workload {
            isl: Lengths::Fixed(isl),
            osl,
            load: match case.kind {
                LoadKind::Offline => Load::Offline(sent.at_once),
                _ => sent.load(),
            },
            drafts: launch.drafts,
            ..Workload::default()
        },
        overrides: Overrides {
            token_budget: Some(launch.token_budget),
            // If no limit is set, the run is limited by its clients.
            max_seqs: launch.max_seqs,
            largest_graph: launch
                .graph_batch
                .filter(|&most| default_graph(case, parallel, launch) != Some(most)),
            ..Overrides::default()
        },
        model: ModelChoice::Catalog(resolved.model.id.clone()),
        ..Scenario::default()
    };
    let memory_share = launch.memory_share.or_else(|| default_share(&scenario, case, launch));
    Ok(Scenario { overrides: Overrides { memory_share, ..scenario.overrides.clone() }, ..scenario })
}

/// The share that the run's version took by default, where it follows from the rest.
fn default_share(scenario: &Scenario, case: &ServedCase, launch: &LaunchSettings) -> Option<f64> {
    let (engine, gpu) = (catalog().engine(&case.engine)?, catalog().gpu(&case.gpu)?);
    let version = launch.built_like.as_ref().or(case.engine_version.as_ref()).filter(|own| own.is_numbered());
    let is_derived = !engine.scheduler.left_free.is_empty();
    scenario.memory_share(&engine.scheduler, gpu, version).filter(|_| is_derived)
}

/// The largest CUDA graph that the engine captures unless told otherwise.
fn default_graph(case: &ServedCase, parallel: Parallelism, launch: &LaunchSettings) -> Option<u32> {
    let (engine, gpu) = (catalog().engine(&case.engine)?, catalog().gpu(&case.gpu)?);
    let seqs = launch.max_seqs.unwrap_or(u32::MAX);
    let decoding = seqs.saturating_mul(launch.drafts.drafted.saturating_add(1));
    engine.scheduler.decode_graph(gpu, parallel, decoding)
}

/// A run's scenario with the lengths that its client drew: uniformly between two shares of the requested ones, or
/// their means.
pub fn as_sent(
    scenario: Scenario,
    case: &ServedCase,
    launch: &LaunchSettings,
    sent: &SentRequests,
) -> Scenario {
    if case.published.is_some() {
        let (isl, osl) = means(&sent.requests);
        let workload = Workload { isl: Lengths::Fixed(isl), osl, ..scenario.workload };
        return Scenario { workload, ..scenario };
    }
    match launch.length_range {
        Some(range) => lengths::drawn(scenario, range),
        None => scenario,
    }
}
