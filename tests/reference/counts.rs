//! What is made of the counts: features, and theoretical cycles at the boost clock.
//!
//! The reference casts features to f32 and feeds `log1p` of each to its models. `sum_cycle` is the
//! numerator of its efficiency: `duration_us = sum_cycle / (efficiency * clock_mhz)`.

use rooflight::kernels::reference::{Pipe, Record, TensorCounts, Traffic};

/// Shared-memory bytes per clock and SM, the same on every GPU of the reference.
const SHARED_BYTES_PER_CLOCK: f64 = 128.0;

/// Cycles if the work were spread evenly: `per_clock` operations per clock and SM.
fn all_cycle(pipe: Pipe, per_clock: f64, record: &Record) -> f64 {
    pipe.all / per_clock / record.sm_count() as f64
}

/// `[all ops, all cycles, busiest-SM ops, busiest-SM cycles]`.
fn of_pipe(pipe: Pipe, per_clock: f64, record: &Record) -> [f64; 4] {
    [pipe.all, all_cycle(pipe, per_clock, record), pipe.busiest, pipe.busiest / per_clock]
}

/// `[all KiB, its HBM cycles, its L2 cycles, busiest-SM KiB, that SM's HBM, shared-memory and
/// L2 cycles]`; an SM has one part in S of the bandwidths.
fn of_traffic(memory: Traffic, record: &Record) -> [f64; 7] {
    let sms = record.sm_count() as f64;
    [
        memory.all_kib,
        cycles(memory.all_kib, record.mem_gb_per_s, record),
        cycles(memory.all_kib, record.l2_gb_per_s, record),
        memory.busiest_kib,
        cycles(memory.busiest_kib, record.mem_gb_per_s / sms, record),
        memory.busiest_kib * 1024.0 / SHARED_BYTES_PER_CLOCK,
        cycles(memory.busiest_kib, record.l2_gb_per_s / sms, record),
    ]
}

/// Clock cycles that `kib` take at `gb_per_s`. Quirk: the division treats GB/s as GiB/s.
fn cycles(kib: f64, gb_per_s: f64, record: &Record) -> f64 {
    kib / gb_per_s / (1024.0 * 1024.0) * record.clock_mhz * 1e6
}

/// Tensor x4, memory x7.
pub fn of_tensor(counts: &TensorCounts, record: &Record) -> (Vec<f64>, f64) {
    let features =
        [&of_pipe(counts.tensor, counts.per_clock, record)[..], &of_traffic(counts.memory, record)];
    (features.concat(), all_cycle(counts.tensor, counts.per_clock, record))
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
    pub fn features(&self, record: &Record) -> Vec<f64> {
        let tensor = of_pipe(self.tensor, record.tensor_bf16, record);
        join(tensor, of_pipe(self.xu, record.xu, record), of_traffic(self.memory, record))
    }

    pub fn sum_cycle(&self, record: &Record) -> f64 {
        all_cycle(self.tensor, record.tensor_bf16, record)
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
    pub fn uniform(rows: u64, fma: f64, xu: f64, bytes: f64, record: &Record) -> Self {
        let (all, busiest) = (rows as f64, rows.div_ceil(record.sm_count()) as f64);
        Self {
            fma: Pipe { all: fma * all, busiest: fma * busiest },
            xu: Pipe { all: xu * all, busiest: xu * busiest },
            memory: Traffic { all_kib: bytes * all / 1024.0, busiest_kib: bytes * busiest / 1024.0 },
        }
    }

    /// FP32 x4, special functions x4, memory x7.
    pub fn features(&self, record: &Record) -> Vec<f64> {
        let fma = of_pipe(self.fma, record.fma, record);
        join(fma, of_pipe(self.xu, record.xu, record), of_traffic(self.memory, record))
    }

    pub fn sum_cycle(&self, record: &Record) -> f64 {
        all_cycle(self.fma, record.fma, record) + all_cycle(self.xu, record.xu, record)
    }
}

fn join(main: [f64; 4], xu: [f64; 4], memory: [f64; 7]) -> Vec<f64> {
    [&main[..], &xu, &memory].concat()
}
