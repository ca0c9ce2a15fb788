//! Physical constants that belong to no single GPU or engine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Sources;
use crate::config::Figure;
use crate::units::{Bytes, GIB, Seconds};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    /// Shortest duration of a kernel inside a CUDA graph, in µs.
    pub launch_floor_us: Figure,
    /// Fraction of the memory bandwidth reached by kernels without a learned model.
    pub streaming_share: Figure,
    /// Fixed latency of such a kernel, in µs.
    pub streaming_latency_us: Figure,
    /// Memory of the CUDA context on each GPU, in GiB.
    pub context_gib: Figure,
    /// Exponent of the power law of expert popularity.
    pub expert_popularity: Figure,
    pub network_latency_us: Figure,
    /// Fraction of its network port's rate that a GPU reaches.
    pub network_share: Figure,
    /// Fraction of the dense peak reached by indexer scoring, top-k selection included.
    pub score_share: Figure,
    /// Facts about kernels and serving, and constants fitted for features, by module and name.
    pub kernels: BTreeMap<String, BTreeMap<String, f64>>,
}

/// The part of constants.json that says where the numbers come from; no build carries it.
#[derive(Debug, Deserialize)]
pub struct Recorded {
    pub sources: Sources,
    pub kernels: BTreeMap<String, BTreeMap<String, Constant>>,
}

/// One number that the code reads by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    pub value: f64,
    pub unit: String,
    /// Id of a source.
    pub source: String,
    /// The measurements it was fitted to or read off, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted_on: Option<String>,
    pub what: String,
}

/// The figures of [`Constants`], with units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Physics {
    pub launch_floor: Seconds,
    pub streaming_share: f64,
    pub streaming_latency: Seconds,
    pub context: Bytes,
    /// Exponent of the power law of expert popularity.
    pub expert_popularity: f64,
    pub network_share: f64,
    pub score_share: f64,
}

/// One constant as listed for readers.
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

impl Recorded {
    /// Every constant of kernels and their features, with its source.
    pub fn listed(&self) -> Vec<Listed> {
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
}

impl Constants {
    /// The constants of one module, each in the field of the same name. Fails if the file lacks a constant or has one
    /// that no field reads.
    pub fn of<T: serde::de::DeserializeOwned>(&self, part: &str) -> Result<T, String> {
        let none = BTreeMap::new();
        let named = self.kernels.get(part).unwrap_or(&none).iter();
        let values: serde_json::Map<String, serde_json::Value> =
            named.map(|(name, value)| (name.clone(), (*value).into())).collect();
        serde_json::from_value(values.into()).map_err(|fault| format!("constants.json, {part}: {fault}"))
    }

    /// `None` if a figure is missing from the file.
    pub(super) fn physics(&self) -> Option<Physics> {
        Some(Physics {
            launch_floor: Seconds::from_micros(self.launch_floor_us.0?),
            streaming_share: self.streaming_share.0?,
            streaming_latency: Seconds::from_micros(self.streaming_latency_us.0?),
            context: Bytes(self.context_gib.0? * GIB),
            expert_popularity: self.expert_popularity.0?,
            network_share: self.network_share.0?,
            score_share: self.score_share.0?,
        })
    }
}
