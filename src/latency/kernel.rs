//! One kernel's time from its counted work and its efficiency.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::config::catalog::Physics;
use crate::config::ids::ids;
use crate::config::{Gpu, MissingFigure};
use crate::efficiency::Answer;
use crate::kernels::Count;
use crate::units::Seconds;

/// The resource that bounds a kernel's ideal time.
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

/// Where a kernel's time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// A learned efficiency, on a GPU whose measurements trained it.
    Learned,
    /// A learned efficiency, on a GPU it was not trained on or of a call beyond all it was trained on.
    Extrapolated,
    /// Interpolated between measured points.
    Measured,
    /// Counted work over fixed shares of the peaks and a launch floor: a closed form.
    Fixed,
    /// What a kernel adds that runs beside a longer one: its ideal.
    Beside,
    /// The ideal.
    Roofline,
}

/// The least time physics allows: dense peak at the boost clock, compulsory bytes at peak bandwidth, one
/// launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ideal {
    pub time: Seconds,
    pub limit: Resource,
    pub(super) compute: Seconds,
    pub(super) memory: Seconds,
    launch: Seconds,
    /// Stored bytes at the share of the bandwidth that cold data reaches at best.
    cold: Seconds,
}

impl Ideal {
    /// # Errors
    /// Where the GPU's record lacks a figure that the counted work needs.
    pub fn of(count: &Count, gpu: &Gpu, physics: &Physics) -> Result<Self, MissingFigure> {
        let compute = count.compute(gpu)?;
        let memory = count.bytes / gpu.bandwidth()?;
        let launch = physics.launch_floor;
        let time = count.ideal(gpu, launch)?;
        let limit = match time {
            time if time == compute => Resource::Compute,
            time if time == memory => Resource::Memory,
            _ => Resource::Launch,
        };
        let cold = count.stored / gpu.cold_bandwidth()?;
        Ok(Self { time, limit, compute, memory, launch, cold })
    }

    /// The same with tiles that do not divide the work and waves that do not fill the SMs.
    pub fn ceiling(&self, count: &Count) -> Seconds {
        let stretch = count.schedule.as_ref().map_or(1.0, |schedule| schedule.stretch());
        (self.compute * stretch).max(self.memory).max(self.launch)
    }
}

/// A kernel's predicted time beside its ideal.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelTime {
    pub ideal: Seconds,
    pub ceiling: Seconds,
    pub time: Seconds,
    pub limit: Resource,
    pub provenance: Provenance,
    /// The times that 80 % of measurements lie between; none if nothing calibrated them.
    pub bounds: Option<[Seconds; 2]>,
    /// Whether the call lies beyond all that its model was trained on.
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

    /// `ideal / e` for the learned efficiency `e`. The floor of physics holds whatever the model
    /// says, and so does the best share of the bandwidth on cold data: small problems were measured with
    /// their weights or KV in the L2, where a served model's never are. `clock_ratio` is the sustained
    /// clock the efficiencies were measured at over the one asked for; it moves compute-bound time only.
    ///
    /// `served` is what a launch in service takes longer than the measured one.
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

    /// Operand bytes over the streaming share of the bandwidth, and a constant: kernels without a model.
    ///
    /// # Errors
    /// Where the GPU's record lacks its bandwidth.
    pub fn streaming(
        count: &Count,
        ideal: &Ideal,
        gpu: &Gpu,
        physics: &Physics,
    ) -> Result<Self, MissingFigure> {
        let moving = count.operands / (gpu.bandwidth()? * physics.streaming_share);
        let time = (moving + physics.streaming_latency).max(ideal.time);
        Ok(Self { time, provenance: Provenance::Fixed, ..Self::roofline(count, ideal) })
    }

    /// A closed form fitted to measured kernels, held to the same floors as learned times.
    pub fn closed_form(count: &Count, ideal: &Ideal, time: Seconds) -> Self {
        let time = time.max(ideal.time).max(ideal.cold);
        Self { time, provenance: Provenance::Fixed, ..Self::roofline(count, ideal) }
    }

    /// Scores of an indexer and the choice of the best: by their bytes, or by the share of the peak that such
    /// kernels reach.
    ///
    /// # Errors
    /// Where the GPU's record lacks its bandwidth.
    pub fn scores(count: &Count, ideal: &Ideal, gpu: &Gpu, physics: &Physics) -> Result<Self, MissingFigure> {
        let streaming = Self::streaming(count, ideal, gpu, physics)?;
        let computing = ideal.compute * (1.0 / physics.score_share) + physics.streaming_latency;
        Ok(Self { time: streaming.time.max(computing), ..streaming })
    }

    /// The same kernel at its ideal where `roofline` is asked for.
    pub fn of_basis(&self, roofline: bool) -> Self {
        if !roofline {
            return self.clone();
        }
        Self { time: self.ideal, provenance: Provenance::Roofline, ..self.clone() }
    }

    /// Share of the ideal reached, in (0, 1].
    pub fn efficiency(&self) -> f64 {
        (self.ideal / self.time).min(1.0)
    }
}
