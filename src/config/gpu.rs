//! A GPU's record: every figure with its source, or the reason it is missing.

use serde::{Deserialize, Serialize};

use super::Dtype;
use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond, Watts};

/// A catalog figure: `[value, source id]`, or `[null, why it is missing]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure<T = f64>(pub Option<T>, pub String);

impl<T: Copy> Figure<T> {
    /// The value of a figure that no setup is without: `check` refuses the engine, or `tests/catalog` the record.
    pub fn checked(&self) -> T {
        self.0.unwrap_or_else(|| unreachable!("checked, but missing: {}", self.1))
    }
}

/// Source id of estimates: figures taken from a sibling GPU, always labelled as such.
pub const ESTIMATE: &str = "sibling";

/// A figure that a calculation needs but the catalog lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{gpu} has no {figure}: {reason}")]
pub struct MissingFigure {
    pub gpu: String,
    pub figure: &'static str,
    pub reason: String,
}

impl From<MissingFigure> for String {
    fn from(missing: MissingFigure) -> Self {
        missing.to_string()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Arch {
    #[default]
    Volta,
    Turing,
    Ampere,
    Ada,
    Hopper,
    /// Data-centre Blackwell (sm100, sm103).
    Blackwell,
    /// Workstation and consumer Blackwell (sm120).
    BlackwellRtx,
    /// AMD's MI300 series (gfx942).
    Cdna3,
    /// AMD's MI350 series (gfx950).
    Cdna4,
    /// Intel's Battlemage.
    Xe2,
}

impl Arch {
    pub fn is_amd(self) -> bool {
        matches!(self, Self::Cdna3 | Self::Cdna4)
    }

    pub fn is_nvidia(self) -> bool {
        !self.is_amd() && self != Self::Xe2
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    #[default]
    Nvlink,
    Pcie,
    /// AMD's: a separate link between every two GPUs of a node, without a switch.
    Xgmi,
}

impl LinkKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Nvlink => "NVLink",
            Self::Pcie => "PCIe",
            Self::Xgmi => "XGMI",
        }
    }
}

/// The fastest link between the GPUs of one node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interconnect {
    pub kind: LinkKind,
    /// Generation and lanes, where it is PCIe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie: Option<[u32; 2]>,
    /// GB/s per GPU and direction, to all other GPUs of the domain together.
    pub gb_per_s: Figure,
    /// GB/s per GPU and direction to the host's memory, where that is another link; PCIe cards reach both over theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_gb_per_s: Option<Figure>,
    /// How many GPUs it joins: those of a node, or of a rack.
    pub domain: u32,
    /// GB/s per GPU and direction of the network between such domains.
    pub network_gb_per_s: Figure,
}

/// Dense tensor-core FLOP per clock and SM, by the format of the operands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorRates {
    pub bf16: Figure,
    pub fp8: Figure,
    pub fp4: Figure,
    pub int8: Figure,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// Stable id, as used in links and in the measured tables.
    pub id: String,
    pub name: String,
    pub arch: Arch,
    /// Compute capability times ten: 80, 89, 90, 100, 120. For AMD the gfx target: 942, 950; for Intel the version of
    /// the graphics architecture times a hundred: 2001.
    pub sm: u32,
    /// Device memory, in bytes.
    pub memory_bytes: Figure,
    /// The part that the host occupies when a server starts, where both share one memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_bytes: Option<Figure>,
    /// Peak device-memory bandwidth, in GB/s (1e9).
    pub memory_gb_per_s: Figure,
    pub l2_bytes: Figure,
    /// L2 read bandwidth, in GB/s (1e9).
    pub l2_gb_per_s: Figure,
    pub sms: Figure,
    /// Threads resident per SM.
    pub threads_per_sm: Figure,
    /// Boost clock at which the peak rates are quoted, in MHz.
    pub clock_mhz: Figure,
    /// Shared memory per SM, in KiB.
    pub smem_kib: Figure,
    pub tensor_flops_per_clock: TensorRates,
    /// FP32 multiply-adds per clock and SM.
    pub fma_per_clock: Figure,
    /// Special-function operations per clock and SM.
    pub xu_per_clock: Figure,
    /// Board power limit, in watts.
    pub power_w: Figure,
    pub link: Interconnect,
    /// Fraction of the boost clock sustained in large GEMMs; visitors can change it.
    pub sustained_clock: Figure,
    /// Highest fraction of the memory bandwidth that kernels reach on weights and KV not held in L2.
    pub cold_share: Figure,
    /// Fractions of the power limit: drawn when idle, added by device memory at peak bandwidth, and by tensor cores
    /// at their dense peak.
    pub idle_power: Figure,
    pub memory_power: Figure,
    pub compute_power: Figure,
    /// A typical price to rent one, in $ per GPU-hour; editable by the visitor.
    pub dollars_per_hour: Figure,
    /// The catalog's GPU, if some figures are the visitor's.
    #[serde(skip)]
    pub edited_from: Option<Box<Gpu>>,
}

impl Gpu {
    /// The measured GPU that this one stands for: itself, or the one it was edited from.
    pub fn measured(&self) -> &Self {
        self.edited_from.as_deref().unwrap_or(self)
    }

    pub fn need(&self, figure: &Figure, name: &'static str) -> Result<f64, MissingFigure> {
        figure.0.ok_or_else(|| MissingFigure {
            gpu: self.name.clone(),
            figure: name,
            reason: figure.1.clone(),
        })
    }

    pub fn memory(&self) -> Result<Bytes, MissingFigure> {
        self.need(&self.memory_bytes, "memory size").map(Bytes)
    }

    /// The most memory that a server can use: all but what the host is known to occupy.
    pub fn free_memory(&self) -> Result<Bytes, MissingFigure> {
        let host = self.host_bytes.as_ref().and_then(|figure| figure.0);
        Ok(Bytes((self.memory()?.0 - host.unwrap_or(0.0)).max(0.0)))
    }

    pub fn bandwidth(&self) -> Result<BytesPerSecond, MissingFigure> {
        self.need(&self.memory_gb_per_s, "memory bandwidth").map(|gb| BytesPerSecond(gb * 1e9))
    }

    pub fn l2(&self) -> Result<Bytes, MissingFigure> {
        self.need(&self.l2_bytes, "L2 size").map(Bytes)
    }

    pub fn l2_bandwidth(&self) -> Result<BytesPerSecond, MissingFigure> {
        self.need(&self.l2_gb_per_s, "L2 bandwidth").map(|gb| BytesPerSecond(gb * 1e9))
    }

    pub fn sm_count(&self) -> Result<f64, MissingFigure> {
        self.need(&self.sms, "number of SMs")
    }

    pub fn threads_per_sm(&self) -> Result<f64, MissingFigure> {
        self.need(&self.threads_per_sm, "number of threads per SM")
    }

    /// Boost clock, in Hz.
    pub fn clock_hz(&self) -> Result<f64, MissingFigure> {
        self.need(&self.clock_mhz, "boost clock").map(|mhz| mhz * 1e6)
    }

    pub fn smem(&self) -> Result<Bytes, MissingFigure> {
        self.need(&self.smem_kib, "shared memory per SM").map(|kib| Bytes(kib * 1024.0))
    }

    pub fn fma(&self) -> Result<f64, MissingFigure> {
        self.need(&self.fma_per_clock, "FP32 rate")
    }

    /// Fraction of the boost clock sustained in large GEMMs.
    pub fn sustained(&self) -> Result<f64, MissingFigure> {
        self.need(&self.sustained_clock, "sustained clock")
    }

    /// Highest bandwidth that kernels reach on data not held in L2.
    pub fn cold_bandwidth(&self) -> Result<BytesPerSecond, MissingFigure> {
        Ok(self.bandwidth()? * self.need(&self.cold_share, "share of the memory bandwidth reached")?)
    }

    pub fn power(&self) -> Result<Watts, MissingFigure> {
        self.need(&self.power_w, "power limit").map(Watts)
    }

    /// Fractions of the power limit: idle, and what device memory and tensor cores add at their peaks.
    pub fn power_shares(&self) -> Result<[f64; 3], MissingFigure> {
        let memory = self.need(&self.memory_power, "power of device memory")?;
        Ok([self.idle()?, memory, self.need(&self.compute_power, "power of tensor cores")?])
    }

    /// Whether these were measured on this GPU rather than taken from others.
    pub fn has_measured_power(&self) -> bool {
        [&self.idle_power, &self.memory_power, &self.compute_power].iter().all(|figure| figure.1 != ESTIMATE)
    }

    /// Fraction of the power limit drawn when idle.
    pub fn idle(&self) -> Result<f64, MissingFigure> {
        self.need(&self.idle_power, "idle power")
    }

    /// The clock of compute-bound kernels under a cap of `watts`, relative to that at the power limit. Dynamic
    /// power goes with the cube of the clock: voltage falls with it, and enters squared.
    pub fn clock_under(&self, watts: f64) -> Result<f64, MissingFigure> {
        let idle = self.idle()?;
        Ok(((watts / self.power()?.0 - idle).max(0.0) / (1.0 - idle)).cbrt().min(1.0))
    }

    /// The cap in watts at which [`Self::clock_under`] is `clock`.
    pub fn cap_for(&self, clock: f64) -> Result<f64, MissingFigure> {
        let idle = self.idle()?;
        Ok(self.power()?.0 * (idle + (1.0 - idle) * clock.powi(3)))
    }

    pub fn xu(&self) -> Result<f64, MissingFigure> {
        self.need(&self.xu_per_clock, "special-function rate")
    }

    /// Dense tensor FLOP per clock and SM for operands in `dtype`.
    pub fn tensor_rate(&self, dtype: Dtype) -> Result<f64, MissingFigure> {
        let rates = &self.tensor_flops_per_clock;
        match dtype.math() {
            Dtype::Fp8 => self.need(&rates.fp8, "dense FP8 rate"),
            Dtype::Nvfp4 => self.need(&rates.fp4, "dense FP4 rate"),
            Dtype::W8a8 => self.need(&rates.int8, "dense INT8 rate"),
            _ => self.need(&rates.bf16, "dense BF16 rate"),
        }
    }

    /// Dense peak at the boost clock.
    pub fn peak(&self, dtype: Dtype) -> Result<FlopsPerSecond, MissingFigure> {
        Ok(FlopsPerSecond(self.sm_count()? * self.clock_hz()? * self.tensor_rate(dtype)?))
    }

    /// Peak of the FP32 pipes at the boost clock.
    pub fn fp32_peak(&self) -> Result<FlopsPerSecond, MissingFigure> {
        Ok(FlopsPerSecond(self.sm_count()? * self.clock_hz()? * self.fma()? * 2.0))
    }

    /// Bandwidth of the link to the other GPUs of the node, per direction.
    pub fn link_bandwidth(&self) -> Result<BytesPerSecond, MissingFigure> {
        self.need(&self.link.gb_per_s, "link bandwidth").map(|gb| BytesPerSecond(gb * 1e9))
    }

    /// Bandwidth of the link to the host's memory, per direction.
    pub fn host_bandwidth(&self) -> Result<BytesPerSecond, MissingFigure> {
        let figure = self.link.host_gb_per_s.as_ref().unwrap_or(&self.link.gb_per_s);
        self.need(figure, "bandwidth to the host").map(|gb| BytesPerSecond(gb * 1e9))
    }

    /// Bandwidth among `ranks` GPUs of a node: with point-to-point links, those to other GPUs are idle.
    pub fn link_among(&self, ranks: u32) -> Result<BytesPerSecond, MissingFigure> {
        let all = self.link_bandwidth()?;
        let peers = |gpus: u32| f64::from(gpus.saturating_sub(1).max(1));
        Ok(match self.link.kind {
            LinkKind::Xgmi => all * (peers(ranks) / peers(self.link.domain)).min(1.0),
            LinkKind::Nvlink | LinkKind::Pcie => all,
        })
    }

    /// Bandwidth of a GPU's network port between nodes, per direction.
    pub fn network_bandwidth(&self) -> Result<BytesPerSecond, MissingFigure> {
        // Layers over such nodes are refused by the checks: this is said of the transfer between pools.
        let figure = "network between nodes (enter KV transfer rate)";
        self.need(&self.link.network_gb_per_s, figure).map(|gb| BytesPerSecond(gb * 1e9))
    }

    /// GPUs of a group of `ranks` in one node. Degrees are powers of two, so larger groups take equally many of
    /// each node.
    pub fn in_one_node(&self, ranks: u32) -> u32 {
        let domain = self.link.domain.max(1);
        if ranks <= domain { ranks } else { 1 << domain.ilog2() }
    }

    /// Whether the matrix cores multiply this format, or why not. Those of Ada, Hopper and CDNA 3 have FP8, but not the
    /// block-of-32 scales that MXFP8 activations need.
    pub fn multiplies(&self, dtype: Dtype) -> Result<(), MissingFigure> {
        if dtype == Dtype::Mxfp4Mxfp8 && matches!(self.arch, Arch::Ada | Arch::Hopper | Arch::Cdna3) {
            let reason = "its matrix cores do not support MX formats".to_owned();
            return Err(MissingFigure { gpu: self.name.clone(), figure: "dense MXFP8 rate", reason });
        }
        self.tensor_rate(dtype).map(|_| ())
    }

    pub fn supports(&self, dtype: Dtype) -> bool {
        self.multiplies(dtype).is_ok()
    }

    /// `dtype` if the tensor cores support it, else BF16, which engines widen to.
    pub fn math_or_bf16(&self, dtype: Dtype) -> Dtype {
        if self.supports(dtype) { dtype } else { Dtype::Bf16 }
    }
}
