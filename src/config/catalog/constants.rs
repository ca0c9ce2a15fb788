//! Physical constants that belong to no single GPU or engine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Sources;
use crate::config::Figure;
use crate::units::{Bytes, GIB, Seconds};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    pub sources: Sources,
    /// Shortest time a kernel takes inside a CUDA graph, in µs.
    pub launch_floor_us: Figure,
    /// Share of the memory bandwidth that kernels without a learned model reach.
    pub streaming_share: Figure,
    /// Latency of such a kernel besides its bytes, in µs.
    pub streaming_latency_us: Figure,
    /// Memory of the CUDA context on each GPU, in GiB.
    pub context_gib: Figure,
    /// Exponent of the power law by which tokens prefer some experts to others.
    pub expert_popularity: Figure,
    /// One message from a machine to another, in µs.
    pub network_latency_us: Figure,
    /// Share of its network port that a GPU reaches.
    pub network_share: Figure,
    /// Share of the dense peak that scores of an indexer reach, the choice of the best included.
    pub score_share: Figure,
    /// Facts about kernels and serving, and what was fitted for features, by part of the code and name.
    pub kernels: BTreeMap<String, BTreeMap<String, Constant>>,
}

/// One number that code reads by its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    pub value: f64,
    pub unit: String,
    /// Id of a source.
    pub source: String,
    /// What measurements it was fitted on or read off, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted_on: Option<String>,
    pub what: String,
}

/// The same, with units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Physics {
    pub launch_floor: Seconds,
    pub streaming_share: f64,
    pub streaming_latency: Seconds,
    pub context: Bytes,
    /// Exponent of the power law by which tokens prefer experts.
    pub expert_popularity: f64,
    /// Of one message from a machine to another.
    pub network_latency: Seconds,
    pub network_share: f64,
    pub score_share: f64,
}

/// One constant as it is listed for a reader.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// `part.name`.
    pub name: String,
    pub what: String,
    pub value: f64,
    pub unit: String,
    pub fitted_on: Option<String>,
    /// Title and address of the source.
    pub source: String,
    pub url: String,
}

impl Constants {
    /// Every constant of kernels and their features, with its source.
    pub fn sources(&self) -> Vec<Listed> {
        let listed = |part: &str, name: &str, constant: &Constant| {
            let source = self.sources.get(&constant.source);
            Listed {
                name: format!("{part}.{name}"),
                what: constant.what.clone(),
                value: constant.value,
                unit: constant.unit.clone(),
                fitted_on: constant.fitted_on.clone(),
                source: source.map_or_else(|| constant.source.clone(), |source| source.title.clone()),
                url: source.map_or_else(String::new, |source| source.url.clone()),
            }
        };
        let of_part = |(part, constants): (&String, &BTreeMap<String, Constant>)| {
            constants.iter().map(|(name, constant)| listed(part, name, constant)).collect::<Vec<_>>()
        };
        self.kernels.iter().flat_map(of_part).collect()
    }

    /// The constants of one part, each in the field of its name.
    ///
    /// # Errors
    /// Where the file lacks a constant, or has one that no field reads.
    pub fn of<T: serde::de::DeserializeOwned>(&self, part: &str) -> Result<T, String> {
        let none = BTreeMap::new();
        let named = self.kernels.get(part).unwrap_or(&none).iter();
        let values: serde_json::Map<String, serde_json::Value> =
            named.map(|(name, constant)| (name.clone(), constant.value.into())).collect();
        serde_json::from_value(values.into()).map_err(|fault| format!("constants.json, {part}: {fault}"))
    }

    /// None if a figure is missing from the file, which `tests/catalog.rs` rules out for this build.
    pub fn physics(&self) -> Option<Physics> {
        Some(Physics {
            launch_floor: Seconds::from_micros(self.launch_floor_us.0?),
            streaming_share: self.streaming_share.0?,
            streaming_latency: Seconds::from_micros(self.streaming_latency_us.0?),
            context: Bytes(self.context_gib.0? * GIB),
            expert_popularity: self.expert_popularity.0?,
            network_latency: Seconds::from_micros(self.network_latency_us.0?),
            network_share: self.network_share.0?,
            score_share: self.score_share.0?,
        })
    }
}
