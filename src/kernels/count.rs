//! The result of counting one kernel call.

use serde::Serialize;

use crate::config::Dtype;
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

/// What one launch asks for. Compulsory figures: nothing counted twice, nothing assumed cached.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// Useful multiply-adds of the main pipe, as FLOP.
    pub flops: Flops,
    /// The tensor format multiplied in; none for kernels that only move bytes.
    pub math: Option<Dtype>,
    /// Device-memory traffic with a cold L2: every operand read once, every result written once.
    pub bytes: Bytes,
    pub schedule: Option<Schedule>,
}
