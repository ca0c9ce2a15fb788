//! Single changes of a configuration, each with what else it makes meaningless.

use crate::config::{Engine, Gpu, Lengths, Scenario};

/// Clock and price that were set are another GPU's.
pub fn gpu(scenario: &mut Scenario, gpu: &Gpu) {
    scenario.gpu.clone_from(&gpu.id);
    (scenario.overrides.sustained, scenario.overrides.price) = (None, None);
}

/// Settings of one engine mean something else on another.
pub fn engine(scenario: &mut Scenario, engine: &Engine) {
    scenario.engine.clone_from(&engine.id);
    let overrides = &mut scenario.overrides;
    (overrides.token_budget, overrides.max_seqs, overrides.memory_share) = (None, None, None);
}

/// Experts stay dealt over no more GPUs than there are.
pub fn tp(scenario: &mut Scenario, tp: u32) {
    scenario.tp = tp;
    scenario.ep = scenario.ep.min(stage(scenario));
}

/// One length is no histogram's.
pub fn isl(scenario: &mut Scenario, isl: u32) {
    scenario.workload.leave_histogram();
    scenario.workload.isl = Lengths::Fixed(isl);
}

/// As [`isl`].
pub fn osl(scenario: &mut Scenario, osl: u32) {
    scenario.workload.leave_histogram();
    scenario.workload.osl = osl;
}

/// GPUs of a stage. Degrees come from links, as large as they like.
pub fn stage(scenario: &Scenario) -> u32 {
    scenario.tp.saturating_mul(scenario.dp)
}
