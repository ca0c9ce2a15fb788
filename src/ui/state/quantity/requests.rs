//! The quantities of the form that say what requests are like.

use super::form::whole;
use super::{Quantity, Stops};
use crate::config::Field;

pub static LOG_SPREAD: Quantity = Quantity {
    field: Field::LogSpread,
    label: "Log-normal spread",
    unit: "sigma",
    stops: Stops::Even { low: 0.0, high: 1.5, step: 0.05 },
    whole: false,
    help: "Lengths are log-normal instead, their means stay; the simulated run draws them",
    read: |scenario| Some(scenario.workload.log_spread),
    write: |scenario, value| scenario.workload.log_spread = value.unwrap_or_default(),
};

pub static BURSTINESS: Quantity = Quantity {
    field: Field::Burstiness,
    label: "Burstiness",
    unit: "shape",
    stops: Stops::Decades { low: -1, high: 2 },
    whole: false,
    help: "1 is Poisson, less comes in bursts, more comes evenly",
    read: |scenario| Some(scenario.workload.burstiness),
    write: |scenario, value| scenario.workload.burstiness = value.unwrap_or(1.0),
};

pub static CACHED_SHARE: Quantity = Quantity {
    field: Field::CachedShare,
    label: "Prefix cache",
    unit: "of prompts",
    stops: Stops::Even { low: 0.0, high: 1.0, step: 0.05 },
    whole: false,
    help: "Share of each prompt found in the prefix cache",
    read: |scenario| Some(scenario.workload.cached_share),
    write: |scenario, value| scenario.workload.cached_share = value.unwrap_or_default(),
};

pub static DRAFTED: Quantity = Quantity {
    field: Field::Drafted,
    label: "Drafted",
    unit: "tokens",
    stops: Stops::Even { low: 0.0, high: 16.0, step: 1.0 },
    whole: true,
    help: "Speculative decoding: tokens drafted for each step and sequence",
    read: |scenario| Some(f64::from(scenario.workload.drafts.drafted)),
    write: |scenario, value| scenario.workload.drafts.drafted = value.map_or(0, whole),
};

pub static ACCEPTED: Quantity = Quantity {
    field: Field::Accepted,
    label: "Accepted",
    unit: "tokens",
    stops: Stops::Even { low: 0.0, high: 16.0, step: 0.1 },
    whole: false,
    help: "Of those drafted, on average",
    read: |scenario| Some(scenario.workload.drafts.accepted),
    write: |scenario, value| scenario.workload.drafts.accepted = value.unwrap_or_default(),
};
