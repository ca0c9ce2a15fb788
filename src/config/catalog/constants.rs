//! Physical constants that belong to no single GPU or engine.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Sources;
use super::numbers::physics::constants;
use crate::units::{Bytes, GIB, Seconds};

/// Constants by the part of the code that reads them, and by name.
pub type Parts = BTreeMap<String, BTreeMap<String, Constant>>;

/// constants.json. Builds carry only its numbers, as [`numbers`](super::numbers).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    pub sources: Sources,
    pub constants: Parts,
}

/// One number that the code reads by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    pub value: f64,
    pub unit: String,
    /// Id of a source.
    pub source: String,
    /// The measurements it was fitted to or read off, if any.
    pub fitted_on: Option<String>,
    pub what: String,
}

/// What every kernel and step depends on, with units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Physics {
    pub launch_floor: Seconds,
    pub streaming_share: f64,
    pub streaming_latency: Seconds,
    pub context: Bytes,
    /// Popularity of the most popular expert in that of the least.
    pub expert_popularity: f64,
    pub network_latency: Seconds,
    pub network_share: f64,
    /// The rate in FLOP that kernels without a learned model reach, as a share of the peak.
    pub compute_share: f64,
    pub score_share: f64,
}

/// The part `physics` of constants.json.
pub const fn physics() -> Physics {
    let known = constants();
    Physics {
        launch_floor: Seconds::from_micros(known.launch_floor_us),
        streaming_share: known.streaming_share,
        streaming_latency: Seconds::from_micros(known.streaming_latency_us),
        context: Bytes(known.context_gib * GIB),
        expert_popularity: known.expert_popularity,
        network_latency: Seconds::from_micros(known.network_latency_us),
        network_share: known.network_share,
        compute_share: known.compute_share,
        score_share: known.score_share,
    }
}
