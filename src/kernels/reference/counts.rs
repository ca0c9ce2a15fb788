//! What the calculators return: counts by pipe, the features made of them, and theoretical cycles at the
//! boost clock.
//!
//! The reference casts features to f32 and feeds `log1p` of each to its models. `sum_cycle` is the
//! numerator of its efficiency: `duration_us = sum_cycle / (efficiency * clock_mhz)`.

use super::Record;

/// Shared-memory bytes per clock and SM, the same on every GPU of the reference.
const SHARED_BYTES_PER_CLOCK: f64 = 128.0;

/// Operations asked of one kind of pipe.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pipe {
    /// On the whole GPU.
    pub all: f64,
    /// On the SM that gets most.
    pub busiest: f64,
}

impl Pipe {
    /// Cycles if the work were spread evenly: `per_clock` operations per clock and SM.
    pub(super) fn all_cycle(self, per_clock: f64, record: &Record) -> f64 {
        self.all / per_clock / record.sm_count() as f64
    }

    /// `[all ops, all cycles, busiest-SM ops, busiest-SM cycles]`.
    pub(super) fn features(self, per_clock: f64, record: &Record) -> [f64; 4] {
        [self.all, self.all_cycle(per_clock, record), self.busiest, self.busiest / per_clock]
    }
}

/// Data loaded, in KiB (1024 bytes).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Traffic {
    /// By the whole GPU.
    pub all_kib: f64,
    /// By the SM that loads most.
    pub busiest_kib: f64,
}

impl Traffic {
    /// `[all KiB, its HBM cycles, its L2 cycles, busiest-SM KiB, that SM's HBM, shared-memory and
    /// L2 cycles]`; an SM has one part in S of the bandwidths.
    pub(super) fn features(self, record: &Record) -> [f64; 7] {
        let sms = record.sm_count() as f64;
        [
            self.all_kib,
            cycles(self.all_kib, record.mem_gb_per_s, record),
            cycles(self.all_kib, record.l2_gb_per_s, record),
            self.busiest_kib,
            cycles(self.busiest_kib, record.mem_gb_per_s / sms, record),
            self.busiest_kib * 1024.0 / SHARED_BYTES_PER_CLOCK,
            cycles(self.busiest_kib, record.l2_gb_per_s / sms, record),
        ]
    }
}

/// Clock cycles that `kib` take at `gb_per_s`. Quirk: the division treats GB/s as GiB/s.
fn cycles(kib: f64, gb_per_s: f64, record: &Record) -> f64 {
    kib / gb_per_s / (1024.0 * 1024.0) * record.clock_mhz * 1e6
}

/// GEMM and FP8 GEMM: kernels of the tensor cores alone.
#[derive(Debug, Clone, Copy, PartialEq)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AttentionCounts {
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
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ElementwiseCounts {
    pub fma: Pipe,
    /// Special-function instructions.
    pub xu: Pipe,
    pub memory: Traffic,
}

impl ElementwiseCounts {
    /// `rows` equal thread blocks, given to the SMs in turn.
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
