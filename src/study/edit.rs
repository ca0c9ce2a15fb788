//! Single changes of a configuration; each also resets settings that no longer apply.

use super::Case;
use crate::config::{Gpu, Scenario, catalog};

/// `base` on each of these GPUs, by its name.
pub fn on_gpus<'a>(base: &Scenario, gpus: impl Iterator<Item = &'a Gpu>) -> Vec<Case> {
    gpus.map(|gpu| Case::edited(&gpu.name, base, |scenario| scenario.put_on(&gpu.id))).collect()
}

/// `base` on each GPU but its own, by its name.
pub fn every_other_gpu(base: &Scenario) -> Vec<Case> {
    on_gpus(base, catalog().gpus.gpus.iter().filter(|gpu| gpu.id != base.gpu))
}

/// `base` on each engine but its own, by its name.
pub fn other_engines(base: &Scenario) -> Vec<Case> {
    let others = catalog().engines.engines.iter().filter(|engine| engine.id != base.engine);
    others.map(|one| Case::edited(&one.name, base, |scenario| scenario.run_by(&one.id))).collect()
}

/// `TP 8`; beside attention DP, where TP multiplies the GPUs, `TP 8, DP 8, 64 GPUs`.
pub fn layout(base: &Scenario, tp: u32) -> String {
    match base.parallel.dp {
        1 => format!("TP {tp}"),
        dp => format!(
            "TP {tp}, DP {dp}, {} GPUs",
            Scenario { parallel: base.parallel.with_tp(tp), ..base.clone() }.gpus()
        ),
    }
}

/// Sets TP, and EP with it.
pub fn tp(scenario: &mut Scenario, tp: u32) {
    scenario.parallel = scenario.parallel.with_tp(tp);
}

/// Gives every prompt this length, which replaces a histogram.
pub fn isl(scenario: &mut Scenario, isl: u32) {
    scenario.workload.set_mean_prompt(Some(f64::from(isl)));
}

/// Gives every output this length, which replaces a histogram.
pub fn osl(scenario: &mut Scenario, osl: u32) {
    scenario.workload.set_mean_output(Some(f64::from(osl)));
}
