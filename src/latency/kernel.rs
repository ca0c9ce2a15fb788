//! One kernel's time, from its counted work and efficiency.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::config::catalog::physics;
use crate::config::ids::ids;
use crate::config::{Gpu, MissingFigure};
use crate::efficiency::Answer;
use crate::kernels::Count;
use crate::units::Seconds;

/// The resource that limits a kernel's ideal time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Resource {
    #[default]
    Compute,
    Memory,
    Network,
    /// Kernel launches and the host.
    Launch,
}

ids!(Resource);

/// The source of a kernel's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// A learned efficiency, on a GPU used in training.
    Learned,
    /// A learned efficiency, on a GPU not used in training, or for a call outside the training range.
    Extrapolated,
    /// Interpolated between measured points.
    Measured,
    /// Closed form: counted work over fixed shares of the peaks, and a launch floor.
    Fixed,
    /// The ideal, added by a kernel that runs concurrently with a longer one.
    #[serde(rename = "beside")]
    Overlapped,
    /// The ideal.
    Roofline,
}

/// Physical lower bound: dense peak at the boost clock, compulsory bytes at peak bandwidth, one launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ideal {
    pub time: Seconds,
    pub limit: Resource,
    pub(super) compute: Seconds,
    pub(super) memory: Seconds,
    launch: Seconds,
    /// Stored bytes at the highest bandwidth reached on cold data.
    cold: Seconds,
}

impl Ideal {
    pub fn of(count: &Count, gpu: &Gpu) -> Result<Self, MissingFigure> {
        let compute = count.compute(gpu)?;
        let memory = count.bytes / gpu.bandwidth()?;
        let launch = physics().launch_floor;
        let time = count.ideal(gpu)?;
        let limit = match time {
            time if time == compute => Resource::Compute,
            time if time == memory => Resource::Memory,
            _ => Resource::Launch,
        };
        let cold = count.stored / gpu.cold_bandwidth()?;
        Ok(Self { time, limit, compute, memory, launch, cold })
    }

    /// Lower bound of the time with tile and wave quantisation.
    pub fn ceiling(&self, count: &Count) -> Seconds {
        let stretch = count.schedule.as_ref().map_or(1.0, |schedule| schedule.stretch());
        (self.compute * stretch).max(self.memory).max(self.launch)
    }
}

/// A kernel's predicted time next to its ideal.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelTime {
    pub ideal: Seconds,
    pub ceiling: Seconds,
    pub time: Seconds,
    pub limit: Resource,
    pub provenance: Provenance,
    /// The interval that 80 % of measurements lie in; `None` if not calibrated.
    pub bounds: Option<[Seconds; 2]>,
    /// Whether the call is outside the training range.
    pub outside: bool,
}

impl KernelTime {
    /// The ideal itself.
    pub fn roofline(count: &Count, ideal: &Ideal) -> Self {
        Self {
            ideal: ideal.time,
            ceiling: ideal.ceiling(count),
            time: ideal.time,
            limit: ideal.limit,
            provenance: Provenance::Roofline,
            bounds: None,
            outside: false,
        }
    }

    /// Whether it is learned to be faster than its counted tiles and waves allow: it has other tiles, or splits them across SMs.
    pub fn beats_ceiling(&self) -> bool {
        /// A ratio within this is not visible in the printed digits.
        const LEAST: f64 = 5e-3;
        self.provenance != Provenance::Roofline && self.time < self.ceiling * (1.0 - LEAST)
    }

    /// The kernel with another time, and bounds scaled by the same factor, but not below the ideal.
    pub fn lasting(self, time: Seconds) -> Self {
        let longer = time / self.time;
        let bound = |bound: Seconds| (bound * longer).max(self.ideal);
        Self { time, bounds: self.bounds.map(|bounds| bounds.map(bound)), ..self }
    }

    /// `ideal / e` for the learned efficiency `e`. The physical floor always holds, and so does the highest
    /// bandwidth on cold data: small problems were measured with weights or KV in L2, where a served model's never
    /// are. `clock_ratio` is the sustained clock behind the efficiencies over the requested one; it affects only
    /// compute-bound time.
    ///
    /// `served` is the extra time of a launch in service.
    pub fn learned(
        count: &Count,
        ideal: &Ideal,
        answer: Answer,
        (clock_ratio, served): (f64, Seconds),
        seen: bool,
    ) -> Self {
        let clock = if ideal.limit == Resource::Compute { clock_ratio } else { 1.0 };
        let ln_time = -f64::from(answer.ln_efficiency);
        let at = |ln_time: f64| {
            (Seconds(ideal.time.0 * ln_time.exp() * clock) + served).max(ideal.time).max(ideal.cold)
        };
        let bounds =
            answer.ln_bound.map(|bound| [at(ln_time - f64::from(bound)), at(ln_time + f64::from(bound))]);
        let provenance = if seen && !answer.outside { Provenance::Learned } else { Provenance::Extrapolated };
        let outside = answer.outside;
        Self { time: at(ln_time), provenance, bounds, outside, ..Self::roofline(count, ideal) }
    }

    /// Kernels without a model: operand bytes over the streaming bandwidth, plus a constant; or their FLOP at the share of
    /// peak that measured kernels reach.
    pub fn streaming(count: &Count, ideal: &Ideal, gpu: &Gpu) -> Result<Self, MissingFigure> {
        let moving = count.operands / (gpu.bandwidth()? * physics().streaming_share);
        let computing = ideal.compute * (1.0 / physics().compute_share);
        let time = (moving.max(computing) + physics().streaming_latency).max(ideal.time);
        Ok(Self { time, provenance: Provenance::Fixed, ..Self::roofline(count, ideal) })
    }

    /// A closed form fitted to measured kernels, with the same floors as learned times.
    pub fn closed_form(count: &Count, ideal: &Ideal, time: Seconds) -> Self {
        let time = time.max(ideal.time).max(ideal.cold);
        Self { time, provenance: Provenance::Fixed, ..Self::roofline(count, ideal) }
    }

    /// Indexer scores and top-k selection: by their bytes, or by the share of peak such kernels reach.
    pub fn scores(count: &Count, ideal: &Ideal, gpu: &Gpu) -> Result<Self, MissingFigure> {
        let streaming = Self::streaming(count, ideal, gpu)?;
        let computing = ideal.compute * (1.0 / physics().score_share) + physics().streaming_latency;
        Ok(Self { time: streaming.time.max(computing), ..streaming })
    }

    /// The kernel's time at its ideal if `roofline` is set, else as predicted.
    pub fn of_basis(&self, roofline: bool) -> Self {
        if !roofline {
            return self.clone();
        }
        Self { time: self.ideal, provenance: Provenance::Roofline, ..self.clone() }
    }

    /// Fraction of the ideal reached, in (0, 1].
    pub fn efficiency(&self) -> f64 {
        (self.ideal / self.time).min(1.0)
    }
}
