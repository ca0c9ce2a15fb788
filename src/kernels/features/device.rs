//! The GPU part of a feature vector.

use super::term::{Term, flag, ln_rounding};
use crate::config::catalog::numbers::device::constants;
use crate::config::{Arch, Dtype, Gpu, MissingFigure};
use crate::kernels::Family;

/// Rows and columns of an output tile.
pub type Tile = (f64, f64);

/// GPU figures used by features. Derived times are in µs.
#[derive(Debug, Clone, Copy)]
pub struct DeviceSpec {
    pub sms: f64,
    /// Boost clock, in cycles per µs.
    pub clock: f64,
    /// Dense BF16 FLOP per clock and SM.
    pub rate: f64,
    /// Bytes per µs.
    pub bandwidth: f64,
    /// Bytes.
    pub l2: f64,
    /// L2 bandwidth, in bytes per µs.
    pub l2_bandwidth: f64,
    /// Fraction of the boost clock sustained in large GEMMs.
    pub sustained: f64,
    /// Special-function operations per clock and SM.
    pub xu: f64,
    /// FP32 multiply-adds per clock and SM.
    pub fma: f64,
    /// Board power limit, in watts.
    power: f64,
    pub arch: Arch,
    identity: [f32; IDENTITY.len()],
}

impl DeviceSpec {
    /// The device for vectors of `family`, with the identity that its model knows.
    pub fn new(gpu: &Gpu, family: Family) -> Result<Self, MissingFigure> {
        let spec = Self::of(gpu)?;
        if !family.trained_on().contains(&gpu.id.as_str()) {
            return Ok(spec);
        }
        // A GPU with edited figures has the kernels of the one it was edited from.
        let chip = gpu.edited_from.as_deref().map_or(Ok(spec), Self::of)?;
        Ok(Self { identity: IDENTITY.map(|(_, value)| value(&chip) as f32), ..spec })
    }

    /// The figures alone.
    pub fn of(gpu: &Gpu) -> Result<Self, MissingFigure> {
        let (sms, clock) = (gpu.sm_count()?, gpu.clock_hz()? * 1e-6);
        let l2_bandwidth = gpu.l2_gb_per_s.0.map(|gb| gb * 1e3);
        Ok(Self {
            sms,
            clock,
            l2_bandwidth: l2_bandwidth
                .unwrap_or(constants().l2_bytes_per_clock * constants().l2_reached * sms * clock),
            rate: gpu.tensor_rate(Dtype::Bf16)?,
            bandwidth: gpu.bandwidth()?.0 * 1e-6,
            l2: gpu.l2()?.0,
            sustained: gpu.sustained()?,
            xu: gpu.xu()?,
            fma: gpu.fma()?,
            power: gpu.power()?.0,
            arch: gpu.arch,
            identity: [0.0; IDENTITY.len()],
        })
    }

    /// BF16 FLOP per µs at the boost clock.
    pub fn peak(&self) -> f64 {
        self.sms * self.clock * self.rate
    }

    /// The time of this many cycles at the boost clock.
    pub fn micros(&self, cycles: f64) -> f64 {
        cycles / self.clock
    }

    /// Cycles of one SM per query-key pair: products with a key and value of `head_dim`, one exponential and `fp32`
    /// operations.
    pub fn pair_cycles(&self, head_dim: f64, fp32: f64) -> f64 {
        4.0 * head_dim / self.rate + 1.0 / self.xu + fp32 / self.fma
    }

    /// Share of a working set of `bytes` that stays in L2 between iterations: all of a small one, none of one
    /// cycled through beyond the L2 size.
    pub fn resident(&self, bytes: f64) -> f64 {
        1.0 / (1.0 + (bytes / (self.l2 * constants().resident_half)).powi(constants().resident_power as i32))
    }

    /// Time to read `bytes`, with a share of `hits` from L2.
    pub fn read(&self, bytes: f64, hits: f64) -> f64 {
        bytes * ((1.0 - hits) / self.bandwidth + hits / self.l2_bandwidth)
    }

    /// Peak L2 read bandwidth of one SM, in bytes per µs.
    pub fn sm_l2_bandwidth(&self) -> f64 {
        constants().l2_bytes_per_clock * self.clock
    }

    /// Tasks per SM, as a logarithm.
    pub fn per_sm(&self, tasks: f64) -> f64 {
        (tasks / self.sms).ln()
    }

    /// Slowdown from tasks that do not divide evenly over the SMs, as a logarithm.
    pub fn rounding(&self, tasks: f64) -> f64 {
        ln_rounding(tasks, self.sms)
    }

    /// Work of whole tiles in full waves (one per SM) over the useful `outputs`, as a logarithm.
    pub fn waste(&self, tiles: f64, tile: Tile, outputs: f64) -> f64 {
        ((tiles / self.sms).ceil() * self.sms * tile.0 * tile.1 / outputs).ln()
    }

    /// Time the busiest SM takes to read its tiles' operands from L2: `depth` elements of `bytes` for each row and
    /// column of a tile.
    pub fn operands(&self, tiles: f64, tile: Tile, depth: f64, bytes: f64) -> f64 {
        let read = (tiles / self.sms).ceil() * (tile.0 + tile.1) * depth * bytes;
        read / self.sm_l2_bandwidth()
    }

    /// Extra time to read `bytes` from device memory, compared with a benchmark loop that cycles through `rounds`
    /// times as much and finds part of it in L2, in µs.
    pub fn missed(&self, bytes: f64, rounds: f64) -> f64 {
        self.read(bytes, 0.0) - self.read(bytes, self.resident(bytes * rounds))
    }

    /// The identity columns: zero where the family was not measured on this GPU.
    pub fn identity(&self) -> impl Iterator<Item = f32> {
        self.identity.into_iter()
    }
}

/// Columns that identify a GPU, centred on a mid-size data-centre GPU.
const IDENTITY: [Term<DeviceSpec>; 12] = [
    ("measured", |_| 1.0),
    ("ln_sms", |s| (s.sms / 132.0).ln()),
    ("ln_sm_flops", |s| (s.rate * s.clock / 4e6).ln()),
    ("ln_sm_bandwidth", |s| (s.bandwidth / s.sms / 3e4).ln()),
    ("ln_ridge", |s| (s.peak() / s.bandwidth / 300.0).ln()),
    ("ln_l2", |s| (s.l2 / 64e6).ln()),
    ("ln_clock", |s| (s.clock / 1830.0).ln()),
    ("ln_sustained", |s| (s.sustained / 0.8).ln()),
    // Watts per TFLOP/s.
    ("ln_power", |s| (s.power / (s.peak() * 1e-6)).ln()),
    ("hopper", |s| flag(s.arch == Arch::Hopper)),
    ("blackwell", |s| flag(s.arch == Arch::Blackwell)),
    ("ada", |s| flag(s.arch == Arch::Ada)),
];

/// Names of the identity columns.
pub fn identity_names() -> impl Iterator<Item = &'static str> {
    IDENTITY.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn an_unmeasured_gpu_has_no_identity() {
        let identity = |id| {
            let gpu = catalog().gpu(id).expect("in the catalog");
            DeviceSpec::new(gpu, Family::AttentionDecode).expect("complete").identity().collect::<Vec<_>>()
        };
        assert!(identity("a40").iter().all(|&value| value == 0.0));
        assert_eq!(identity("h100-sxm")[0], 1.0);
        assert_ne!(identity("h100-sxm"), identity("h200-sxm"));
    }
}
