//! How engines serve weights in formats that a GPU, or the engine on it, does not multiply.

use serde::{Deserialize, Serialize};

use super::applies;
use crate::config::check::weight_formats;
use crate::config::{Arch, Dtype, Gpu, Model};

/// Weights that an engine does not multiply in their own format: it refuses them, or multiplies in 16 bits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightRule {
    pub weights: Vec<Dtype>,
    /// Architectures this holds for; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archs: Vec<Arch>,
    /// Models without experts are served.
    #[serde(default)]
    pub experts_only: bool,
    /// The weight-only format, as wide, whose kernels were measured in the place of its own; `None` if it refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_as: Option<Dtype>,
    /// Id of a source.
    pub source: String,
}

impl WeightRule {
    /// Whether it holds for `model` with weights in this format on `arch`.
    fn includes(&self, weights: Dtype, model: &Model, arch: Arch) -> bool {
        self.weights.contains(&weights)
            && applies(&self.archs, arch)
            && (model.has_experts() || !self.experts_only)
    }
}

/// How an engine serves weights on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightUse {
    /// As the GPU multiplies them, if it does.
    Own,
    /// In 16 bits, with the kernels of this format.
    TimedAs(Dtype),
    Refused,
}

impl WeightUse {
    pub fn of(rules: &[WeightRule], weights: Dtype, model: &Model, arch: Arch) -> Self {
        let rule = rules.iter().find(|rule| rule.includes(weights, model, arch));
        rule.map_or(Self::Own, |rule| rule.timed_as.map_or(Self::Refused, Self::TimedAs))
    }

    /// Whether `model` with weights in this format is served on `gpu`, by kernels that were measured.
    pub fn is_served(self, weights: Dtype, model: &Model, gpu: &Gpu) -> bool {
        match self {
            Self::Own => gpu.supports(weights),
            Self::TimedAs(other) => weight_formats(model).contains(&other),
            Self::Refused => false,
        }
    }
}
