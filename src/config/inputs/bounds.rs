//! What rows of the table share: bounds, slider stops and conditions.

use super::Number;
use super::columns::{real, whole};
use super::stops::Stops::{self, Decades, Doubling, Even, Quarters};
use crate::config::model::limits::Limit;
use crate::config::{Dtype, Scenario, catalog};

pub const DEGREES: Stops = Doubling { low: 1, high: 16 };
pub const SIZES: Stops = Quarters { low: 1, high: 4096 };
pub const WIDTHS: Stops = Quarters { low: 64, high: 65_536 };
pub const BUDGETS: Stops = Quarters { low: 256, high: 65_536 };
pub const SHARES: Stops = Even { low: 0.0, high: 1.0, step: 0.05 };

// Upper bounds of all rows lie beyond any deployment and keep every count of work exact in 64 bits.
pub const COUNT: Number = whole(1.0, 100_000.0, SIZES);
pub const DEGREE: Number = whole(1.0, 128.0, DEGREES);
pub const EXPERT_RANKS: Number = whole(1.0, 128.0, Doubling { low: 1, high: 64 }).unit("GPUs");
pub const LENGTH: f64 = 100_000_000.0;
pub const PER_SECOND: Number = real(0.001, 1_000_000.0, Decades { low: -2, high: 3 });
pub const PEAK: Number = real(0.01, 1_000_000.0, Quarters { low: 16, high: 32_768 });
pub const PER_LINK: Number = real(0.1, 100_000.0, Quarters { low: 8, high: 8192 }).unit("GB/s");

/// The bounds of one of a model's sizes: the limits that hold for every model.
pub const fn within(limit: Limit, stops: Stops) -> Number {
    Number { config_key: limit.key, ..whole(limit.min as f64, limit.max as f64, stops) }
}

/// Whether the scenario's GPU multiplies this format.
pub fn multiplies(scenario: &Scenario, dtype: Dtype) -> bool {
    catalog().gpu(&scenario.gpu).is_some_and(|gpu| gpu.supports(dtype))
}

pub fn has_expert_pools(scenario: &Scenario) -> bool {
    scenario.has_pools() && scenario.has_experts()
}

/// Whether the prefill workers have a price of their own.
pub fn has_own_prefill_gpu(scenario: &Scenario) -> bool {
    scenario.has_pools() && scenario.prefill.gpu.as_ref().is_some_and(|gpu| *gpu != scenario.gpu)
}

pub fn has_sessions(scenario: &Scenario) -> bool {
    scenario.workload.load.is_sessions()
}
