//! Decides whether a measurement can be compared with a prediction.

use crate::config::{Measured, Scenario, Slos};

/// The measurement of `own` if it can be compared. If it is that of one of the visitor's `runs`, and that run had
/// another load or another system, the result is empty.
pub fn comparable(own: &Scenario, runs: &[Scenario]) -> Measured {
    let mut from = runs.iter().filter(|run| run.measured == own.measured).peekable();
    let is_another = from.peek().is_some() && !from.any(|run| conditions(run) == conditions(own));
    if is_another { Measured::default() } else { own.measured }
}

/// A scenario without the settings that do not affect its speed, and with its format stated even if that is the
/// published one.
pub fn conditions(scenario: &Scenario) -> Scenario {
    let mut bare = scenario.clone();
    (bare.measured, bare.overrides.price, bare.overrides.power_overhead) = (Measured::default(), None, None);
    (bare.workload.slos, bare.workload.requests) = (Slos::default(), None);
    bare.weights = scenario.weights_format();
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
