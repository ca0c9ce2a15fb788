//! Measured times of collectives, and fitted constants for GPUs without measurements.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Sources;
use crate::config::LinkKind;

pub type Map<T> = BTreeMap<String, T>;

/// Written by `training/collectives.py`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectiveCatalog {
    /// Where the figures come from; not in the prepared file.
    #[serde(default)]
    pub sources: Sources,
    /// Message sizes in bytes at which every curve is sampled, ascending.
    pub sizes: Vec<f64>,
    /// By link kind, then by `collective/ranks`.
    pub generic: BTreeMap<LinkKind, Map<Generic>>,
    /// By GPU id, then by `collective/ranks/library`: µs at the leading `sizes`.
    pub curves: Map<Map<Vec<f64>>>,
}

/// Latency in µs, and the fraction of the link bandwidth reached, in (0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Generic(pub f64, pub f64);

/// Sizes in bytes, ascending, and the µs measured at each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve<'a> {
    pub bytes: &'a [f64],
    pub micros: &'a [f64],
}

impl CollectiveCatalog {
    /// A measured curve; `library` is an engine's id, for its own kernels, or `nccl`.
    pub fn curve(&self, gpu: &str, collective: &str, ranks: u32, library: &str) -> Option<Curve<'_>> {
        let micros = self.curves.get(gpu)?.get(&format!("{collective}/{ranks}/{library}"))?;
        let bytes = self.sizes.get(..micros.len())?;
        (!bytes.is_empty()).then_some(Curve { bytes, micros })
    }

    /// Constants for a link kind, if `ranks` was measured on it.
    pub fn generic(&self, kind: LinkKind, collective: &str, ranks: u32) -> Option<Generic> {
        self.generic.get(&kind)?.get(&format!("{collective}/{ranks}")).copied()
    }
}
