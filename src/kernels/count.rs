//! The result of counting one kernel call.

use serde::Serialize;

use crate::config::{Dtype, Gpu, MissingFigure};
use crate::units::{Bytes, Flops, Seconds};

/// How a launch is split into thread blocks and laid over the SMs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Schedule {
    /// Tile of the output and of the reduction, in elements: rows, columns, depth.
    pub tile: [u32; 3],
    /// Thread-block tasks.
    pub tasks: u64,
    /// Tasks that run at once.
    pub slots: u64,
    /// Rounds needed: `ceil(tasks / slots)`.
    pub waves: u64,
    /// Share of the slots busy over all rounds, in (0, 1].
    pub occupancy: f64,
    /// Padded work over useful work, at least 1.
    pub padding: f64,
}

impl Schedule {
    /// Lays `tasks` over `slots`; `padding` is padded work over useful work.
    pub fn new(tile: [u32; 3], tasks: u64, slots: u64, padding: f64) -> Self {
        let (tasks, slots) = (tasks.max(1), slots.max(1));
        let waves = tasks.div_ceil(slots);
        let occupancy = tasks as f64 / (waves * slots) as f64;
        Self { tile, tasks, slots, waves, occupancy, padding: padding.max(1.0) }
    }

    /// Share of the slots that the last round leaves idle.
    pub fn idle_at_last(&self) -> f64 {
        let last = self.tasks - (self.waves - 1) * self.slots;
        1.0 - last as f64 / self.slots as f64
    }

    /// How much longer than its useful work the busiest SM computes, at least 1.
    pub fn stretch(&self) -> f64 {
        self.padding / self.occupancy
    }
}

/// What one launch asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// Useful multiply-adds of the main pipe, as FLOP.
    pub flops: Flops,
    /// The tensor format multiplied in; none for kernels that only move bytes.
    pub math: Option<Dtype>,
    /// The part of `flops` multiplied in other formats than `math`, in modules of several kernels.
    pub other_math: Vec<(Dtype, Flops)>,
    /// Every operand read once and every result written once.
    pub operands: Bytes,
    /// The part that only device memory holds before the launch: weights, cached KV.
    pub stored: Bytes,
    /// What device memory must deliver however good the cache: `stored` in full, activations beyond what
    /// the L2 holds. The physical floor stands on it.
    pub bytes: Bytes,
    pub schedule: Option<Schedule>,
}

impl Count {
    /// A launch that asks nothing of this GPU's own pipes: a collective.
    pub fn nothing() -> Self {
        let none = Bytes::ZERO;
        Self {
            flops: Flops::ZERO,
            math: None,
            other_math: Vec::new(),
            operands: none,
            stored: none,
            bytes: none,
            schedule: None,
        }
    }

    /// Counts a launch that multiplies `flops` in `math` over `stored` bytes and `activations` bytes, the
    /// latter left in the L2 by the kernel before as far as they fit.
    ///
    /// # Errors
    /// Where the GPU's record lacks its L2 size.
    pub(super) fn new(
        flops: Flops,
        math: Option<Dtype>,
        stored: Bytes,
        activations: Bytes,
        gpu: &Gpu,
    ) -> Result<Self, MissingFigure> {
        let spilled = (activations - gpu.l2()?).max(Bytes::ZERO);
        let (operands, bytes) = (stored + activations, stored + spilled);
        Ok(Self { flops, math, other_math: Vec::new(), operands, stored, bytes, schedule: None })
    }

    /// Both launches one after the other, as one: `math` stays the first's.
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
        self.operands += next.operands;
        self.stored += next.stored;
        self.bytes += next.bytes;
        self.schedule = None;
        self
    }

    /// The least time physics allows: all multiply-adds at the dense peaks of their formats, compulsory bytes at peak
    /// bandwidth, one launch.
    ///
    /// # Errors
    /// Where the GPU does not multiply one of the formats, or its record lacks its bandwidth.
    pub fn ideal(&self, gpu: &Gpu, floor: Seconds) -> Result<Seconds, MissingFigure> {
        Ok(self.compute(gpu)?.max(self.bytes / gpu.bandwidth()?).max(floor))
    }

    /// The time all multiply-adds take at the dense peaks of their formats.
    ///
    /// # Errors
    /// Where the GPU does not multiply one of the formats.
    pub fn compute(&self, gpu: &Gpu) -> Result<Seconds, MissingFigure> {
        let Some(math) = self.math else { return Ok(Seconds::ZERO) };
        let others: Flops = self.other_math.iter().map(|(_, flops)| *flops).sum();
        let mut time = (self.flops - others) / gpu.peak(math)?;
        for &(math, flops) in &self.other_math {
            time += flops / gpu.peak(math)?;
        }
        Ok(time)
    }
}
