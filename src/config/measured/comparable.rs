//! Decides whether a measurement can be compared with a prediction.

use crate::config::catalog::catalog;
use crate::config::{Measured, Scenario, Setup, Slos, check};

/// What was measured of `own`: nothing if its measurement is that of one of the visitor's `runs`, and that run had another
/// load or another system.
pub fn comparable(own: &Scenario, runs: &[Scenario]) -> Measured {
    let mut from = runs.iter().filter(|run| run.measured == own.measured).peekable();
    if from.peek().is_none() {
        return own.measured;
    }
    let (here, asked) = (conditions(own), bare(own));
    let is_alike = |run: &Scenario| bare(run) == asked || (here.is_some() && conditions(run) == here);
    if from.any(is_alike) { own.measured } else { Measured::default() }
}

/// What a scenario runs, whether chosen or left to defaults; `None` if it has errors.
fn conditions(scenario: &Scenario) -> Option<Setup> {
    check(&bare(scenario), catalog()).0
}

/// A scenario without what does not change how fast it runs.
fn bare(scenario: &Scenario) -> Scenario {
    let mut bare = scenario.clone();
    (bare.measured, bare.overrides.price, bare.overrides.power_overhead) = (Measured::default(), None, None);
    (bare.workload.slos, bare.workload.requests) = (Slos::default(), None);
    bare
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Dtype, Load, Metric, Workload};

    #[test]
    fn a_measurement_is_compared_under_the_load_it_was_made_at() {
        let mut own = Scenario::default();
        assert_eq!(own.measured.set(Metric::Ttft, false, 80.0), Ok(()));
        assert_eq!(comparable(&own, &[]), own.measured, "typed beside the configuration");
        let run = own.clone();
        own.workload.slos.ttft_ms = Some(100.0);
        assert_eq!(comparable(&own, std::slice::from_ref(&run)), own.measured);
        own.weights = Some(Dtype::Bf16);
        assert_eq!(
            comparable(&own, std::slice::from_ref(&run)),
            own.measured,
            "as the checkpoint is published"
        );
        own.weights = Some(Dtype::Fp8);
        assert_eq!(comparable(&own, std::slice::from_ref(&run)), Measured::default());
        own.workload = Workload { load: Load::Rate(8.0), ..own.workload };
        assert_eq!(comparable(&own, &[run]), Measured::default());
    }
}
