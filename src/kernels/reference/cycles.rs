//! From counts to theoretical cycles, at the boost clock.

use serde::Serialize;

use super::Record;

/// Shared-memory bytes per clock and SM, the same on every GPU of the reference.
const SHARED_BYTES_PER_CLOCK: f64 = 128.0;

/// Operations asked of one kind of pipe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
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
