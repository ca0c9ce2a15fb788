//! The roofline chart: the roofs of one GPU, and each kernel of each pass as a point.

#[cfg(feature = "chart")]
mod draw;
mod summary;

#[cfg(feature = "chart")]
pub use draw::{draw, has_room, readings};
pub use summary::{elsewhere, not_shown, summary};

use serde::{Deserialize, Serialize};

use super::Zoom;
use crate::config::{Dtype, Setup};
use crate::graph::Phase;
use crate::latency::Resource;
use crate::serving::report::{KernelLine, PassReport};
use crate::units::{BytesPerSecond, FlopsPerSecond, Seconds};

/// The dense peak of one number format.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Roof {
    pub name: String,
    pub peak: FlopsPerSecond,
    /// Whether a kernel of this setup uses the format.
    pub used: bool,
}

/// One kernel of one pass.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelPoint {
    /// Shared with its row and explanation: `kernel-decode-3`.
    pub id: String,
    pub phase: Phase,
    pub name: String,
    /// FLOP per byte of compulsory traffic.
    pub intensity: f64,
    /// The rate at the predicted time.
    pub reached: FlopsPerSecond,
    /// The rate at its ceiling, with tile and wave quantisation.
    pub ceiling: FlopsPerSecond,
    /// Share of its pass's time, 0..1.
    pub share: f64,
    pub limit: Resource,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    pub gpu: String,
    pub bandwidth: BytesPerSecond,
    /// Bandwidth of the L2 cache, if known.
    pub l2: Option<BytesPerSecond>,
    /// Lowest first, INT8 last.
    pub roofs: Vec<Roof>,
    /// Kernels by share of time, largest first: small points are drawn over large ones.
    pub points: Vec<KernelPoint>,
    #[serde(skip)]
    pub zoom: Zoom,
}

/// The formats with a roof, and their names in the chart.
const FORMATS: [(Dtype, &str); 4] =
    [(Dtype::Bf16, "BF16"), (Dtype::Fp8, "FP8"), (Dtype::Nvfp4, "FP4"), (Dtype::W8a8, "INT8")];

impl Roofline {
    /// The roofline of the passes that run on the GPU of `setup`. `None` for one without a published memory bandwidth.
    pub fn new(setup: &Setup, passes: &[PassReport]) -> Option<Self> {
        let gpu = &setup.gpu;
        let bandwidth = gpu.bandwidth().ok()?;
        let passes = || passes.iter().filter(|pass| pass.setup(setup).gpu.id == gpu.id);
        let mut points: Vec<KernelPoint> = Vec::new();
        for point in passes().flat_map(points_of) {
            let at = points.partition_point(|other| other.share >= point.share);
            points.insert(at, point);
        }
        let uses = |format: Dtype| {
            let kernels = passes().flat_map(|pass| &pass.kernels);
            kernels.filter_map(|kernel| kernel.math).any(|math| math.math() == format)
        };
        // No format is slower than the previous one, except INT8, which is drawn only where it is used.
        let roof = |(format, name): (Dtype, &str)| {
            gpu.peak(format).ok().map(|peak| Roof { name: name.into(), peak, used: uses(format) })
        };
        let drawn = |(format, _): &(Dtype, &str)| *format != Dtype::W8a8 || uses(*format);
        let roofs: Vec<Roof> = FORMATS.into_iter().filter(drawn).filter_map(roof).collect();
        let l2 = gpu.l2_bandwidth().ok();
        Some(Self { gpu: gpu.name.clone(), bandwidth, l2, roofs, points, zoom: Zoom::default() })
    }

    /// FLOP per byte at which `roof` and the memory roof meet.
    pub fn ridge(&self, roof: &Roof) -> f64 {
        roof.peak.0 / self.bandwidth.0
    }

    /// The roof described in the summary: the last one in use, or else the lowest.
    pub fn main_roof(&self) -> Option<&Roof> {
        self.roofs.iter().rev().find(|roof| roof.used).or(self.roofs.first())
    }
}

fn points_of(pass: &PassReport) -> impl Iterator<Item = KernelPoint> {
    let phase = pass.phase;
    pass.kernels.iter().enumerate().filter_map(move |(index, kernel)| {
        Some(KernelPoint { id: pass.kernel_id(index), ..point(phase, kernel)? })
    })
}

/// `None` for a kernel without FLOP or time, which has no place on a roofline.
fn point(phase: Phase, kernel: &KernelLine) -> Option<KernelPoint> {
    let intensity = kernel.intensity.filter(|value| value.is_finite() && *value > 0.0)?;
    let rate = |time: Seconds| FlopsPerSecond(kernel.flops.0 / time.0);
    let (reached, ceiling) = (rate(kernel.time), rate(kernel.ceiling));
    let drawable = |rate: FlopsPerSecond| rate.0.is_finite() && rate.0 > 0.0;
    (drawable(reached) && drawable(ceiling)).then(|| KernelPoint {
        id: String::new(),
        phase,
        name: kernel.name.into(),
        intensity,
        reached,
        ceiling,
        share: kernel.share,
        limit: kernel.limit,
    })
}
