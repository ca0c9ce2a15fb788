//! How measured runs differ from the physics, learned as two factors on the times of steps: one on steps that only
//! decode, one on what prompts add to a step.
//!
//! A Gaussian process over the logarithm of both factors knows the measured runs as points; configurations that have
//! an engine, a kind of model, an architecture, a format in common share their errors. Factors act on step times
//! before the simulation, so queues follow from them. What shares nothing with any measured run keeps the physics'
//! own times, with the widest bands.
//!
//! `training/calibration` fits the covariance and writes the measured runs as points; [`Calibration`] reads both and
//! answers with a [`Posterior`], which [`Responses`] turn into the bands of what is measured.

mod band;
mod covariance;
mod point;
mod posterior;
mod record;

pub use band::{Band, Responses};
pub use covariance::{Covariance, Label, Level, Smooth};
pub use point::{Point, minor};
pub use posterior::{Posterior, Support};
pub use record::{Calibration, Known, Noise, Observation, Observed, shipped};

use serde::{Deserialize, Serialize};

/// What the times of steps are multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Factors {
    /// What prompts add to a step.
    pub prefill: f64,
    /// A step that only decodes.
    pub decode: f64,
}

impl Factors {
    /// The physics alone.
    pub const NONE: Self = Self { prefill: 1.0, decode: 1.0 };

    /// These, of which one is so many times larger.
    #[must_use]
    pub fn longer(self, prefill: f64, decode: f64) -> Self {
        Self { prefill: self.prefill * prefill, decode: self.decode * decode }
    }
}

impl Default for Factors {
    fn default() -> Self {
        Self::NONE
    }
}
