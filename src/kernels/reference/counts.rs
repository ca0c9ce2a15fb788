//! What the calculators return: counts by pipe, and the features made of them.
//!
//! The reference casts features to f32 and feeds `log1p` of each to its models. `sum_cycle` is the
//! numerator of its efficiency: `duration_us = sum_cycle / (efficiency * clock_mhz)`.

use serde::Serialize;

use super::{Pipe, Record, Traffic};

/// GEMM, FP8 GEMM and MoE: kernels of the tensor cores alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TensorCounts {
    /// Tensor FLOP, padding included.
    pub tensor: Pipe,
    pub memory: Traffic,
    /// Tensor FLOP per clock and SM in the format multiplied in.
    pub per_clock: f64,
}

impl TensorCounts {
    /// No output tile: no launch, and no operand loaded.
    pub(super) fn nothing(per_clock: f64) -> Self {
        Self { tensor: Pipe::default(), memory: Traffic::default(), per_clock }
    }

    /// Tensor x4, memory x7.
    pub fn features(&self, record: &Record) -> [f64; 11] {
        let mut features = [0.0; 11];
        features[..4].copy_from_slice(&self.tensor.features(self.per_clock, record));
        features[4..].copy_from_slice(&self.memory.features(record));
        features
    }

    pub fn sum_cycle(&self, record: &Record) -> f64 {
        self.tensor.all_cycle(self.per_clock, record)
    }
}

/// Fused attention: tensor cores, special functions (the softmax) and memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct AttentionCounts {
    /// Query rows and KV tokens of one step of a thread block; zeros where there is nothing to do.
    pub tile: [u64; 2],
    /// Thread blocks that have work.
    pub tasks: f64,
    /// Tensor FLOP, padding included.
    pub tensor: Pipe,
    /// Special-function operations.
    pub xu: Pipe,
    pub memory: Traffic,
}

impl AttentionCounts {
    /// Tensor x4, special functions x4, memory x7.
    pub fn features(&self, record: &Record) -> [f64; 15] {
        let tensor = self.tensor.features(record.tensor_bf16, record);
        join(tensor, self.xu.features(record.xu, record), self.memory.features(record))
    }

    pub fn sum_cycle(&self, record: &Record) -> f64 {
        self.tensor.all_cycle(record.tensor_bf16, record)
    }
}

/// RMSNorm and SiLU-and-mul, in warp instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ElementwiseCounts {
    pub fma: Pipe,
    /// Special-function instructions.
    pub xu: Pipe,
    pub memory: Traffic,
}

impl ElementwiseCounts {
    /// `rows` equal thread blocks, dealt to the SMs in turn.
    pub(super) fn uniform(rows: u64, fma: f64, xu: f64, bytes: f64, record: &Record) -> Self {
        let (all, busiest) = (rows as f64, rows.div_ceil(record.sm_count()) as f64);
        Self {
            fma: Pipe { all: fma * all, busiest: fma * busiest },
            xu: Pipe { all: xu * all, busiest: xu * busiest },
            memory: Traffic { all_kib: bytes * all / 1024.0, busiest_kib: bytes * busiest / 1024.0 },
        }
    }

    /// FP32 x4, special functions x4, memory x7.
    pub fn features(&self, record: &Record) -> [f64; 15] {
        let fma = self.fma.features(record.fma, record);
        join(fma, self.xu.features(record.xu, record), self.memory.features(record))
    }

    pub fn sum_cycle(&self, record: &Record) -> f64 {
        self.fma.all_cycle(record.fma, record) + self.xu.all_cycle(record.xu, record)
    }
}

fn join(main: [f64; 4], xu: [f64; 4], memory: [f64; 7]) -> [f64; 15] {
    let mut features = [0.0; 15];
    features[..4].copy_from_slice(&main);
    features[4..8].copy_from_slice(&xu);
    features[8..].copy_from_slice(&memory);
    features
}
