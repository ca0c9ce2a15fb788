//! How measured runs differ from the physics, learned as three factors: two on step times (one on steps that only
//! decode, one on the time that prompts add to a step), and one on how long requests wait for their first token beyond
//! that.
//!
//! A Gaussian process over the logarithms of the factors has the measured runs as observations. Configurations that
//! have an engine, a kind of model, an architecture or a format in common share their errors. The factors on step times
//! act before the simulation, so queues follow from them. A configuration that shares nothing with any measured run
//! keeps the physics' own times, with the widest bands.
//!
//! `training/calibration` fits the covariance and writes the measured runs as points; [`Calibration`] reads both and
//! answers with a [`Posterior`], which [`Responses`] turn into bands of measured figures; [`Versus`] says which of two
//! configurations is better.

mod band;
mod covariance;
mod doubted;
mod gram;
mod point;
mod posterior;
mod rank;
mod record;
mod support;
mod widths;

pub use band::{Band, OF_80_PERCENT, Responses, UncertainFigure};
pub use covariance::{Covariance, ErrorSource, Label, Labels, Level, Place, PlacePair, SOURCES};
pub use doubted::Doubted;
pub use point::ConfigPoint;
pub use posterior::{Joint, Posterior};
pub use rank::{RankInput, Versus};
pub use record::{Calibration, KnownRun, Observation, Observed, Variances, shipped};
pub use support::Support;
pub use widths::{Width, Widths};

use serde::{Deserialize, Serialize};

/// What the times of steps, and of waiting, are multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Factors {
    /// What prompts add to a step.
    pub prefill: f64,
    /// A step that only decodes.
    pub decode: f64,
    /// TTFT, beyond the effect of longer steps.
    pub wait: f64,
}

/// How many factors there are, in the order of the fields of [`Factors`].
pub const FACTORS: usize = 3;

/// One number for each factor.
pub type PerFactor = [f64; FACTORS];

impl Factors {
    /// The physics alone.
    pub const NONE: Self = Self { prefill: 1.0, decode: 1.0, wait: 1.0 };

    /// These factors, with steps this many times as long.
    #[must_use]
    pub fn longer(self, prefill: f64, decode: f64) -> Self {
        Self { prefill: self.prefill * prefill, decode: self.decode * decode, ..self }
    }

    pub fn logs(self) -> PerFactor {
        [self.prefill, self.decode, self.wait].map(f64::ln)
    }

    /// Whether every factor is within this share of the other's.
    pub fn is_near(self, other: Self, share: f64) -> bool {
        self.logs().iter().zip(other.logs()).all(|(one, other)| (one - other).abs() <= share)
    }
}

impl Default for Factors {
    fn default() -> Self {
        Self::NONE
    }
}
