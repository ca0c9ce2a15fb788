//! GPU power of a setup under load.

use serde::{Deserialize, Serialize};

use crate::config::Setup;
use crate::config::catalog::numbers::power::constants;
use crate::latency::PowerModel;

/// Joules per MWh.
const MWH: f64 = 3.6e9;

/// Means while the load lasts, or over a run whose number of requests is stated. Hosts, network and cooling are excluded, except
/// in `output_tokens_per_mwh`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Power {
    /// Watts per GPU, and in total.
    pub watts_per_gpu: f64,
    pub watts: f64,
    /// Total idle power.
    pub idle_watts: f64,
    /// 80 % band of the watts per GPU.
    pub band: [f64; 2],
    /// Whether the power of these GPUs was measured rather than taken from others.
    pub measured: bool,
    pub joules_per_output_token: f64,
    /// 80 % band of the joules per output token.
    pub joules_band: [f64; 2],
    pub joules_per_request: f64,
    /// Output tokens per MWh, including the configured overhead.
    pub output_tokens_per_mwh: f64,
}

impl Power {
    /// `dynamic`: watts of all GPUs beyond idle power. `None` if a GPU's power is unknown.
    pub fn of(setup: &Setup, dynamic: f64, output_per_s: f64, requests_per_s: f64) -> Option<Self> {
        let part = |part: &Setup| Some((PowerModel::of(part).ok()?, f64::from(part.own_gpus())));
        let parts = setup.parts().map(part).collect::<Option<Vec<_>>>()?;
        let idle: f64 = parts.iter().map(|(model, gpus)| model.idle.0 * gpus).sum();
        let limit = parts.iter().map(|(model, gpus)| model.most.0 * gpus).sum();
        // The factor on waiting shortens runs, and not the energy of their steps.
        let (watts, gpus) = ((idle + dynamic).min(limit), f64::from(setup.gpus()));
        let measured = setup.parts().all(|part| part.gpu.has_measured_power());
        let error = if measured { constants().seen_error } else { constants().unseen_error };
        let most = parts.iter().map(|(model, _)| model.most.0).fold(0.0, f64::max);
        let watts_per_gpu = watts / gpus;
        let joules_per_output_token = watts / output_per_s;
        let around = |value: f64| [value / (1.0 + error), value * (1.0 + error)];
        let [low, high] = around(watts_per_gpu);
        Some(Self {
            watts_per_gpu,
            watts,
            idle_watts: idle,
            // Never below idle, and never above the limit.
            band: [low.max(idle / gpus), high.min(most)],
            measured,
            joules_per_output_token,
            joules_band: around(joules_per_output_token),
            joules_per_request: watts / requests_per_s,
            output_tokens_per_mwh: MWH / (joules_per_output_token * setup.power_overhead),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::config::{Scenario, check};

    #[test]
    fn tokens_of_a_megawatt_hour_pay_for_the_overhead() {
        let mut scenario = Scenario { replicas: 2, ..Scenario::default() };
        let of = |scenario: &Scenario| {
            let setup = check(scenario, catalog()).0.expect("sound");
            Power::of(&setup, 300.0, 1000.0, 10.0).expect("H100 is known")
        };
        let alone = of(&scenario);
        assert_eq!((alone.watts, alone.idle_watts), (2.0 * 126.0 + 300.0, 252.0));
        assert_eq!((alone.watts_per_gpu, alone.joules_per_request), (276.0, 55.2));
        assert!((alone.output_tokens_per_mwh - 3.6e9 / 0.552).abs() < 1.0);
        assert!(alone.measured && alone.band[0] < 276.0 && alone.band[1] > 276.0);
        let [low, high] = alone.joules_band;
        assert!(low < 0.552 && high > 0.552);
        let setup = check(&scenario, catalog()).0.expect("sound");
        let idle = Power::of(&setup, 0.0, 1.0, 1.0).expect("H100 is known");
        assert_eq!(idle.band[0], 126.0, "no GPU draws less than its idle power");
        scenario.overrides.power_overhead = Some(1.25);
        let whole = of(&scenario);
        assert!((whole.output_tokens_per_mwh * 1.25 / alone.output_tokens_per_mwh - 1.0).abs() < 1e-12);
        assert_eq!(whole.joules_per_output_token, alone.joules_per_output_token, "those of the GPUs");
    }

    #[test]
    fn borrowed_power_figures_are_marked_with_a_wider_band() {
        let setup = |gpu: &str| {
            let scenario = Scenario { gpu: gpu.into(), ..Scenario::default() };
            check(&scenario, catalog()).0.expect("sound")
        };
        let share = |gpu| {
            let power = Power::of(&setup(gpu), 50.0, 1000.0, 10.0).expect("known or estimated");
            (power.measured, power.watts_per_gpu / power.band[0])
        };
        let ((known, near), (unknown, far)) = (share("b200"), share("a100-sxm-80gb"));
        assert!(known && !unknown && far > near);
    }
}
