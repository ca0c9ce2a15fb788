//! How measured runs differ from the physics, learned as two factors on the times of steps: one on steps that only
//! decode, one on what prompts add to a step.
//!
//! A Gaussian process over the logarithm of both factors knows the measured runs as points; configurations that have
//! an engine, a kind of model, an architecture, a format in common share their errors. Factors act on step times
//! before the simulation, so queues follow from them.

mod point;

pub use point::{Point, minor};

use serde::{Deserialize, Serialize};

/// What the times of steps are multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Factors {
    /// What prompts add to a step.
    pub prefill: f64,
    /// A step that only decodes.
    pub decode: f64,
}

impl Factors {
    /// The physics alone.
    pub const NONE: Self = Self { prefill: 1.0, decode: 1.0 };
}

impl Default for Factors {
    fn default() -> Self {
        Self::NONE
    }
}
