//! The scenario that a measured run of a server ran.

use super::sent::SentRequests;
use crate::config::catalog::numbers::older_sglang_memory;
use crate::config::{
    Lengths, Load, ModelChoice, Overrides, Parallelism, Scenario, Version, Workload, catalog, to_share,
};
use crate::evidence::cases::{LoadKind, ServedCase, model};
use crate::evidence::launch::{LaunchLayout, LaunchSettings};
use crate::serving::run::{longest, means};
use crate::units::{MIB, significant};

/// From this version on SGLang's share follows its present rule.
const RULE_FROM: &str = "0.5.3";

pub fn of(case: &ServedCase, launch: &LaunchSettings, sent: &SentRequests) -> Result<Scenario, String> {
    let resolved = model(&case.model)?;
    let weights = case.weights(&resolved)?;
    let LaunchLayout { tp, ep, attention_dp, .. } = launch.layout;
    let (isl, osl) = match case.published {
        None => (case.isl, case.osl),
        Some(_) => longest(&sent.requests),
    };
    let parallel = Parallelism { tp, pp: case.pp, dp: attention_dp, ep };
    Ok(Scenario {
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
            memory_share: launch.memory_share.or_else(|| older_share(case, parallel, launch)),
            largest_graph: launch
                .graph_batch
                .filter(|&most| default_graph(case, parallel, launch) != Some(most)),
            ..Overrides::default()
        },
        model: ModelChoice::Catalog(resolved.model.id.clone()),
        ..Scenario::default()
    })
}

/// The share that SGLang took by default before 0.5.3, by the size of the GPU.
fn older_share(case: &ServedCase, parallel: Parallelism, launch: &LaunchSettings) -> Option<f64> {
    let version =
        launch.built_like.as_ref().or(case.engine_version.as_ref()).filter(|own| own.is_numbered())?;
    if case.engine != "sglang" || *version >= Version::from(RULE_FROM) {
        return None;
    }
    let total = catalog().gpu(&case.gpu)?.memory().ok()?.0 / MIB;
    let known = older_sglang_memory::constants();
    let (constant, of_gpu) = match total {
        total if total < known.small_below => (known.small, known.small_gpu),
        total if total < known.medium_below => (known.medium, known.gpu),
        total if total < known.large_below => (known.large, known.gpu),
        _ => (known.largest, 0.0),
    };
    let ranks = if parallel.dp > 1 { known.ranks } else { 0.0 };
    let drafting = if launch.drafts.drafted > 0 { known.drafting } else { 0.0 };
    Some(to_share(constant + of_gpu * f64::from(parallel.gpus()) + ranks + drafting, total))
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
        Some(range) => drawn(scenario, range),
        None => scenario,
    }
}

/// The scenario with lengths that a client draws uniformly between two shares of the requested ones.
pub fn drawn(scenario: Scenario, [least, most]: [f64; 2]) -> Scenario {
    let middle = |asked: u32| (f64::from(asked) * (most + least) / 2.0).round() as u32;
    let isl = match scenario.workload.isl {
        Lengths::Fixed(asked) => Lengths::Fixed(middle(asked)),
        each => each,
    };
    let (osl, spread) = (middle(scenario.workload.osl), significant((most - least) / (most + least), 3));
    Scenario { workload: Workload { isl, osl, spread, ..scenario.workload }, ..scenario }
}
