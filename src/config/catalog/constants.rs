//! Physical constants that belong to no single GPU or engine.

use serde::{Deserialize, Serialize};

use super::Sources;
use crate::config::Figure;
use crate::units::{Bytes, Seconds};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    pub sources: Sources,
    /// Shortest time a kernel takes inside a CUDA graph, in µs.
    pub launch_floor_us: Figure,
    /// Share of the memory bandwidth that kernels without a learned model reach.
    pub streaming_share: Figure,
    /// What such a kernel takes besides its bytes, in µs.
    pub streaming_latency_us: Figure,
    /// Memory of the CUDA context, graphs and libraries on each GPU, in GiB.
    pub context_gib: Figure,
    /// What communication adds on each GPU when there is more than one, in GiB.
    pub communication_gib: Figure,
    /// Exponent of the power law by which tokens prefer some experts to others.
    pub expert_popularity: Figure,
    /// One message from a machine to another, in µs.
    pub network_latency_us: Figure,
    /// Share of its network port that a GPU reaches.
    pub network_share: Figure,
    /// Share of the dense peak that scores of an indexer reach, the choice of the best included.
    pub score_share: Figure,
}

/// The same, with units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Physics {
    pub launch_floor: Seconds,
    pub streaming_share: f64,
    pub streaming_latency: Seconds,
    pub context: Bytes,
    pub communication: Bytes,
    /// Exponent of the power law by which tokens prefer experts.
    pub expert_popularity: f64,
    /// Of one message from a machine to another.
    pub network_latency: Seconds,
    pub network_share: f64,
    pub score_share: f64,
}

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

impl Constants {
    /// None where a figure is missing from the file, which `tests/catalog.rs` rules out for this build.
    pub fn physics(&self) -> Option<Physics> {
        Some(Physics {
            launch_floor: Seconds::from_micros(self.launch_floor_us.0?),
            streaming_share: self.streaming_share.0?,
            streaming_latency: Seconds::from_micros(self.streaming_latency_us.0?),
            context: Bytes(self.context_gib.0? * GIB),
            communication: Bytes(self.communication_gib.0? * GIB),
            expert_popularity: self.expert_popularity.0?,
            network_latency: Seconds::from_micros(self.network_latency_us.0?),
            network_share: self.network_share.0?,
            score_share: self.score_share.0?,
        })
    }
}
