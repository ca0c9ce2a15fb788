//! The feature vector of element-wise kernels.

use super::{Elementwise, ElementwiseKind};
use crate::config::MissingFigure;
use crate::config::catalog::numbers::elementwise::constants;
use crate::config::kernels::ElementwiseKernel;
use crate::kernels::features::{DeviceSpec, Inputs, Term, flag, ln_rounding, names, vector};
use crate::kernels::{Family, FamilySpec, Kernel, Launch, parsed};

pub const FAMILY: FamilySpec =
    FamilySpec { version: 1, columns: || names(&[TERMS]), kernel: parsed::<ElementwiseKernel>, busy: 0.0 };

/// One launch, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
struct Streamed {
    device: DeviceSpec,
    kind: ElementwiseKind,
    earlier: bool,
    rows: f64,
    width: f64,
    bytes: f64,
    /// All operands once, partly from L2.
    memory: f64,
    /// Share of the operands in L2 at launch.
    hits: f64,
    /// Instructions of all elements, at the speed of full SMs.
    issue: f64,
    ideal: f64,
}

/// The vector of one launch; `None` for kinds nobody measured: sampling, mixing of residual streams, ungated
/// activations and copies.
pub fn of(call: &Elementwise, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    use ElementwiseKind::{Activation, Copy, Mix, Sampling};
    if matches!(call.kind, Mix | Sampling | Activation | Copy) || call.rows * call.width == 0 {
        return Ok(None);
    }
    let inputs = Streamed::new(call, launch)?;
    Ok(Some(vector(&[TERMS], &inputs, &inputs.device)))
}

/// Elements that one SM completes per clock when not limited by memory or L2: read off rows that fit in L2.
fn elements_per_clock(kind: ElementwiseKind) -> f64 {
    match kind {
        ElementwiseKind::QkNorm => constants().qk_norm_pace,
        ElementwiseKind::Norm | ElementwiseKind::AddNorm => constants().norm_pace,
        ElementwiseKind::SiluMul | ElementwiseKind::Rope | ElementwiseKind::Activation => {
            constants().activation_pace
        }
        ElementwiseKind::Add
        | ElementwiseKind::Embedding
        | ElementwiseKind::Mix
        | ElementwiseKind::Copy
        | ElementwiseKind::Sampling => constants().copy_pace,
    }
}

impl Streamed {
    fn new(call: &Elementwise, launch: &Launch<'_>) -> Result<Self, MissingFigure> {
        let &Launch { gpu, kernel, .. } = launch;
        let device = DeviceSpec::new(gpu, Family::Elementwise)?;
        let count = call.count(gpu)?;
        let (rows, width, bytes) = (call.rows as f64, call.width as f64, count.operands.0);
        // Activations come from the previous kernel, both in service and in a benchmark loop.
        let hits =
            1.0 / (1.0 + (bytes / (device.l2 * constants().hit_half)).powi(constants().hit_power as i32));
        let pace = elements_per_clock(call.kind) * device.sms * device.clock * gpu.threads_per_sm()?;
        Ok(Self {
            device,
            kind: call.kind,
            earlier: kernel == Some(ElementwiseKernel::Earlier.into()),
            rows,
            width,
            bytes,
            memory: device.read(bytes, hits),
            hits,
            issue: rows * width * constants().full_threads / pace,
            ideal: count.ideal(gpu)?.micros(),
        })
    }

    fn shortest(&self) -> f64 {
        let cycles = match self.kind {
            ElementwiseKind::Add => constants().shortest_add_cycles,
            _ => constants().shortest_cycles,
        };
        self.device.micros(cycles)
    }

    /// Time the busiest SM takes to move its rows, one block per row, at L2 speed.
    fn busiest(&self) -> f64 {
        let bytes = (self.rows / self.device.sms).ceil() * self.bytes / self.rows;
        bytes / self.device.sm_l2_bandwidth()
    }
}

impl Inputs for Streamed {
    fn reference(&self) -> f64 {
        self.memory.max(self.issue) + self.shortest()
    }
}

/// Log ratios unless noted.
const TERMS: &[Term<Streamed>] = &[
    ("reference_over_ideal", |l| l.over(l.ideal)),
    ("memory", |l| l.share(l.memory)),
    ("issue", |l| l.share(l.issue)),
    ("shortest", |l| l.share(l.shortest())),
    ("busiest", |l| l.share(l.busiest())),
    // µs.
    ("ln_reference", |l| l.reference().ln()),
    ("ln_rows", |l| l.rows.ln()),
    ("ln_width", |l| l.width.ln()),
    ("rows_per_sm", |l| l.device.per_sm(l.rows)),
    ("rounding", |l| l.device.rounding(l.rows)),
    ("width_rounding", |l| ln_rounding(l.width, constants().block_elements)),
    // Share of the operands, in [0, 1].
    ("l2_hits", |l| l.hits),
    ("over_l2", |l| (l.bytes / l.device.l2).ln()),
    ("add_norm", |l| flag(l.kind == ElementwiseKind::AddNorm)),
    ("add", |l| flag(l.kind == ElementwiseKind::Add)),
    ("qk_norm", |l| flag(l.kind == ElementwiseKind::QkNorm)),
    ("silu_mul", |l| flag(l.kind == ElementwiseKind::SiluMul)),
    ("rope", |l| flag(l.kind == ElementwiseKind::Rope)),
    ("embedding", |l| flag(l.kind == ElementwiseKind::Embedding)),
    ("few_embedded", |l| flag(l.kind == ElementwiseKind::Embedding && l.rows <= constants().few_rows)),
    ("earlier", |l| flag(l.earlier)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::features::checks::{launch_on, vector_of};

    fn on_h100(kind: ElementwiseKind, rows: u64, width: u64) -> Option<Vec<f32>> {
        vector_of(&Elementwise { kind, rows, width }, &launch_on("h100-sxm"))
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        for rows in [1, 131, 60_000] {
            for (kind, width) in [
                (ElementwiseKind::Norm, 4096),
                (ElementwiseKind::AddNorm, 5120),
                (ElementwiseKind::Embedding, 8192),
            ] {
                assert!(on_h100(kind, rows, width).is_some(), "{kind:?}");
            }
        }
    }

    #[test]
    fn unmeasured_kinds_have_no_row() {
        assert_eq!(on_h100(ElementwiseKind::Sampling, 8, 32_000), None);
        assert_eq!(on_h100(ElementwiseKind::Norm, 0, 4096), None);
    }
}
