//! The scenario that a measured closed loop ran.

use crate::config::catalog::Catalog;
use crate::config::{Dtype, Lengths, Load, Model, ModelChoice, Overrides, Scenario, Workload};
use crate::evidence::cases::{ClosedLoopCase, dtype, model};
use crate::evidence::launch::Launch;
use crate::units::significant;

/// # Errors
/// Why there is none.
pub fn of(case: &ClosedLoopCase, launch: &Launch, catalog: &Catalog) -> Result<Scenario, String> {
    let model = model(catalog, &case.model)?;
    Ok(Scenario {
        gpu: case.gpu.clone(),
        engine: case.engine.clone(),
        tp: launch.layout.tp,
        pp: case.pp,
        dp: launch.layout.attention_dp,
        ep: launch.layout.ep,
        replicas: 1,
        weights: Some(weights(case, model)?),
        kv: launch.kv(case),
        workload: Workload {
            isl: Lengths::Fixed(case.isl),
            osl: case.osl,
            load: Load::Concurrency(case.concurrency),
            drafts: launch.drafts,
            ..Workload::default()
        },
        overrides: Overrides {
            token_budget: Some(launch.token_budget),
            // Without a limit of its own the run is bounded by its clients.
            max_seqs: launch.max_seqs,
            memory_share: launch.memory_share,
            ..Overrides::default()
        },
        measured: crate::config::Measured::default(),
        model: ModelChoice::Catalog(model.id.clone()),
    })
}

/// The same with the lengths that its client drew: uniformly between two shares of those asked for.
pub fn as_sent(scenario: Scenario, launch: &Launch) -> Scenario {
    let Some([least, most]) = launch.length_range else { return scenario };
    let middle = |asked: u32| (f64::from(asked) * (most + least) / 2.0).round() as u32;
    let isl = match scenario.workload.isl {
        Lengths::Fixed(asked) => Lengths::Fixed(middle(asked)),
        each => each,
    };
    let spread = significant((most - least) / (most + least), 3);
    Scenario {
        workload: Workload { isl, osl: middle(scenario.workload.osl), spread, ..scenario.workload },
        ..scenario
    }
}

/// The checkpoint's format. The source labels FP8 checkpoints alike, whatever their scales, and 4-bit
/// integers by their use.
fn weights(case: &ClosedLoopCase, model: &Model) -> Result<Dtype, String> {
    let of_experts = case.moe_precision.as_deref().unwrap_or_default();
    match case.precision.as_str() {
        "fp8" if model.weights == Dtype::Fp8Block || of_experts == "fp8_block" => Ok(Dtype::Fp8Block),
        "int4_wo" => Ok(Dtype::Int4),
        other => dtype(other),
    }
}
