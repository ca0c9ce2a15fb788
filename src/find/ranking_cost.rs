//! What plans cost, and which cost they are ranked by.

use std::cmp::Ordering;

use serde::Serialize;

use super::plan::DeploymentPlan;
use crate::config::{Load, Setup, Workload};

/// A cost that plans are compared by; those without a known price come last, by number of GPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RankingCost {
    Dollars(f64),
    Gpus(f64),
}

impl RankingCost {
    /// The cost of this many replicas.
    pub fn of(setup: &Setup, replicas: u32) -> Self {
        let gpus = f64::from(setup.parallel.gpus()) * f64::from(replicas);
        let (first, dollars) = match &setup.prefill {
            Some(pool) => (f64::from(pool.setup.gpus()), pool.setup.dollars_per_hour()),
            None => (0.0, Some(0.0)),
        };
        let dollars = setup.price.zip(dollars).map(|(price, first)| price * gpus + first);
        dollars.map_or(Self::Gpus(gpus + first), Self::Dollars)
    }

    /// The cost of a job at this many output tokens per second: dollars per million of them, or GPU seconds for each.
    pub fn of_job(self, tokens_per_s: f64) -> Self {
        match self {
            Self::Dollars(hourly) => Self::Dollars(hourly / 3600.0 / tokens_per_s * 1e6),
            Self::Gpus(gpus) => Self::Gpus(gpus / tokens_per_s),
        }
    }

    /// Dollars per hour, where they are known.
    pub fn dollars(self) -> Option<f64> {
        match self {
            Self::Dollars(dollars) => Some(dollars),
            Self::Gpus(_) => None,
        }
    }

    /// The amount, whatever its unit.
    pub fn amount(self) -> f64 {
        match self {
            Self::Dollars(amount) | Self::Gpus(amount) => amount,
        }
    }

    pub fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Dollars(one), Self::Dollars(other)) | (Self::Gpus(one), Self::Gpus(other)) => {
                one.total_cmp(&other)
            }
            (Self::Dollars(_), Self::Gpus(_)) => Ordering::Less,
            (Self::Gpus(_), Self::Dollars(_)) => Ordering::Greater,
        }
    }
}

/// The cost that plans are ranked by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RankedBy {
    #[default]
    DollarsPerHour,
    /// A job: its load has a fixed size, so its total cost counts, among plans that are done in time.
    DollarsPerMillionOutput,
}

impl RankedBy {
    pub fn of(workload: &Workload) -> Self {
        let is_job = match workload.load {
            // However soon it must be done.
            Load::Offline(_) => true,
            Load::Burst(_) => workload.slos.limits().next().is_none(),
            _ => false,
        };
        if is_job { Self::DollarsPerMillionOutput } else { Self::DollarsPerHour }
    }

    pub fn is_of_job(self) -> bool {
        self == Self::DollarsPerMillionOutput
    }

    /// The rank of something that costs `ranking_cost` per hour, at this many output tokens per second.
    pub fn rank(self, ranking_cost: RankingCost, tokens_per_s: f64) -> RankingCost {
        if self.is_of_job() { ranking_cost.of_job(tokens_per_s) } else { ranking_cost }
    }

    /// The rank of a plan.
    pub fn rank_of(self, plan: &DeploymentPlan) -> RankingCost {
        let ranking_cost =
            plan.dollars_per_hour.map_or(RankingCost::Gpus(f64::from(plan.gpus)), RankingCost::Dollars);
        self.rank(ranking_cost, plan.sustained_output_per_s)
    }

    /// What dollars of a rank are for.
    pub fn unit(self) -> &'static str {
        if self.is_of_job() { "per million output tokens" } else { "per hour" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_with_a_price_come_first_cheapest_first() {
        let mut all = [
            RankingCost::Gpus(1.0),
            RankingCost::Dollars(9.0),
            RankingCost::Gpus(0.5),
            RankingCost::Dollars(2.0),
        ];
        all.sort_by(|a, b| a.order(*b));
        assert_eq!(
            all,
            [
                RankingCost::Dollars(2.0),
                RankingCost::Dollars(9.0),
                RankingCost::Gpus(0.5),
                RankingCost::Gpus(1.0)
            ]
        );
    }
}
