//! The counted work of one kernel call.

use serde::Serialize;

use crate::config::catalog::physics;
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::units::{Bytes, Flops, Seconds};

/// How a launch is split into thread blocks and scheduled on the SMs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Schedule {
    /// Tile of the output and of the reduction, in elements: rows, columns, depth.
    pub tile: [u32; 3],
    /// Number of thread blocks.
    pub tasks: u64,
    /// Thread blocks that run at once.
    pub slots: u64,
    /// Waves: `ceil(tasks / slots)`.
    pub waves: u64,
    /// Fraction of the slots busy over all waves, in (0, 1].
    pub occupancy: f64,
    /// Padded work over useful work, at least 1.
    pub padding: f64,
}

impl Schedule {
    /// Schedules `tasks` on `slots`; `padding` is padded over useful work.
    pub fn new(tile: [u32; 3], tasks: u64, slots: u64, padding: f64) -> Self {
        let (tasks, slots) = (tasks.max(1), slots.max(1));
        let waves = tasks.div_ceil(slots);
        let occupancy = tasks as f64 / (waves * slots) as f64;
        Self { tile, tasks, slots, waves, occupancy, padding: padding.max(1.0) }
    }

    /// Fraction of the slots idle in the last wave.
    pub fn idle_at_last(&self) -> f64 {
        let last = self.tasks - (self.waves - 1) * self.slots;
        1.0 - last as f64 / self.slots as f64
    }

    /// Compute time of the busiest SM over that of evenly spread useful work, at least 1.
    pub fn stretch(&self) -> f64 {
        self.padding / self.occupancy
    }
}

/// The resources one launch needs. By default nothing: a collective does not use this GPU's own pipes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Count {
    /// Useful multiply-adds of the main pipe, as FLOP.
    pub flops: Flops,
    /// The tensor format of the operands; `None` for kernels that only move bytes.
    pub math: Option<Dtype>,
    /// The part of `flops` in formats other than `math`, in blocks of several kernels.
    pub other_math: Vec<(Dtype, Flops)>,
    /// FLOP in FP32, on the pipes beside the tensor cores.
    pub fp32: Flops,
    /// Every operand read once and every result written once.
    pub operands: Bytes,
    /// The part only in device memory before the launch: weights, cached KV.
    pub stored: Bytes,
    /// Minimum device memory traffic with a perfect cache: all of `stored`, and activations beyond the L2 size.
    /// Basis of the physical floor.
    pub bytes: Bytes,
    pub schedule: Option<Schedule>,
}

impl Count {
    /// Counts a launch with `flops` in `math` over `stored` and `activations` bytes; the previous kernel left the
    /// activations in L2 as far as they fit.
    pub(super) fn new(
        flops: Flops,
        math: Option<Dtype>,
        stored: Bytes,
        activations: Bytes,
        gpu: &Gpu,
    ) -> Result<Self, MissingFigure> {
        let spilled = (activations - gpu.l2()?).max(Bytes::ZERO);
        let (operands, bytes) = (stored + activations, stored + spilled);
        Ok(Self { flops, math, operands, stored, bytes, ..Self::default() })
    }

    /// Both launches in sequence, as one: `math` is the first's.
    pub(super) fn then(mut self, next: Self) -> Self {
        let others: Flops = next.other_math.iter().map(|(_, flops)| *flops).sum();
        self.other_math.extend(next.other_math);
        match next.math {
            Some(math) if self.math.is_some_and(|first| first != math) => {
                self.other_math.push((math, next.flops - others));
            }
            math => self.math = self.math.or(math),
        }
        self.flops += next.flops;
        self.fp32 += next.fp32;
        self.operands += next.operands;
        self.stored += next.stored;
        self.bytes += next.bytes;
        self.schedule = None;
        self
    }

    /// All multiply-adds at the dense peaks of their formats, and compulsory bytes at peak bandwidth.
    pub fn at_roofs(&self, gpu: &Gpu) -> Result<Seconds, MissingFigure> {
        Ok(self.compute(gpu)?.max(self.bytes / gpu.bandwidth()?))
    }

    /// Physical lower bound: the same, and one launch.
    pub fn ideal(&self, gpu: &Gpu) -> Result<Seconds, MissingFigure> {
        Ok(self.at_roofs(gpu)?.max(physics().launch_floor))
    }

    /// The time of all multiply-adds at the dense peaks of their formats.
    pub fn compute(&self, gpu: &Gpu) -> Result<Seconds, MissingFigure> {
        let fp32 = if self.fp32 > Flops::ZERO { self.fp32 / gpu.fp32_peak()? } else { Seconds::ZERO };
        let Some(math) = self.math else { return Ok(fp32) };
        let others: Flops = self.other_math.iter().map(|(_, flops)| *flops).sum();
        let mut time = fp32 + (self.flops - others) / gpu.peak(math)?;
        for &(math, flops) in &self.other_math {
            time += flops / gpu.peak(math)?;
        }
        Ok(time)
    }
}
