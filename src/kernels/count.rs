//! The result of counting one kernel call.

use serde::Serialize;

use crate::config::{Dtype, Gpu, MissingFigure};
use crate::units::{Bytes, Flops};

/// How a launch is cut into thread blocks and laid over the SMs.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// Every operand read once and every result written once.
    pub operands: Bytes,
    /// The part of `operands` that device memory must deliver however good the cache: weights and
    /// cached KV in full, activations beyond what the L2 holds. The physical floor stands on it.
    pub bytes: Bytes,
    pub schedule: Option<Schedule>,
}

/// Compulsory device-memory bytes: `cold` data in full, and of the `warm` activations, which the kernel
/// before has just written, what does not fit into the L2.
pub(super) fn compulsory(cold: f64, warm: f64, gpu: &Gpu) -> Result<Bytes, MissingFigure> {
    Ok(Bytes(cold + (warm - gpu.l2()?.0).max(0.0)))
}
