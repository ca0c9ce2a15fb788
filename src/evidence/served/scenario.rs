//! The scenario that a measured run of a server ran.

use super::lengths;
use super::sent::SentRequests;
use crate::config::names::Resolved;
use crate::config::{Dtype, Lengths, Load, Model, ModelChoice, Overrides, Parallelism, Scenario, Workload};
use crate::evidence::cases::{LoadKind, ServedCase, dtype, model};
use crate::evidence::launch::{LaunchLayout, LaunchSettings};
use crate::serving::run::{longest, means};

pub fn of(case: &ServedCase, launch: &LaunchSettings, sent: &SentRequests) -> Result<Scenario, String> {
    let Resolved { model, weights: named, .. } = model(&case.model)?;
    let LaunchLayout { tp, ep, attention_dp, .. } = launch.layout;
    let (isl, osl) = match case.published {
        None => (case.isl, case.osl),
        Some(_) => longest(&sent.requests),
    };
    Ok(Scenario {
        gpu: case.gpu.clone(),
        engine: case.engine.clone(),
        parallel: Parallelism { tp, pp: case.pp, dp: attention_dp, ep },
        weights: Some(weights(case, model, named)?),
        kv: launch.kv(case),
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
            memory_share: launch.memory_share,
            ..Overrides::default()
        },
        model: ModelChoice::Catalog(model.id.clone()),
        ..Scenario::default()
    })
}

/// The same with the lengths that its client drew: uniformly between two shares of the requested ones, or their means.
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

/// The checkpoint's format: that of its name, or else the source's label. Sources give FP8 checkpoints the same label
/// whatever their scales, and label 4-bit integers by their use.
pub(super) fn weights(case: &ServedCase, model: &Model, named: Option<Dtype>) -> Result<Dtype, String> {
    let of_experts = case.moe_precision.as_deref().unwrap_or_default();
    match case.precision.as_str() {
        "fp8" if of_experts == "fp8_block" => Ok(Dtype::Fp8Block),
        "fp8" if model.weights == Dtype::Fp8Block && named.is_none() => Ok(Dtype::Fp8Block),
        "fp8" if named == Some(Dtype::Fp8Block) => Ok(Dtype::Fp8Block),
        other => dtype(other),
    }
}
