//! Features of kernels that move bytes: norms, activations, rotary embeddings, residual adds.

use super::silicon::{L2_BYTES_PER_CLOCK, Silicon};
use super::term::{self, Term, flag, ln_rounding, ln_share};
use super::{Family, Launching};
use crate::config::{Gpu, MissingFigure};
use crate::graph::Elementwise;
use crate::kernels;

/// Raised whenever a term below changes.
pub(super) const VERSION: u32 = 1;

/// The kernel name of engines of 2023, before fused and vectorised norms: those that Vidur measured, in
/// Sarathi-Serve. No engine of the catalog launches them; they tell how GPUs compare.
pub const EARLIER: &str = "sarathi";

/// What every launch takes besides its bytes, in cycles: read, reduce, write, one after another. Between
/// 4,000 and 7,000 on all measured GPUs, whatever their clock.
const SHORTEST_CYCLES: f64 = 5000.0;
/// A residual add waits for nothing in between.
const SHORTEST_ADD_CYCLES: f64 = 2500.0;

/// Working set over L2 size at which half of the accesses hit, and how sharply that falls: less than for
/// what a loop reads over and over, for a third to a half of these accesses are writes.
const HIT_HALF: f64 = 0.9;
const HIT_POWER: i32 = 3;

/// Threads per SM of the GPUs that the rates of `elements_per_clock` are quoted for.
const FULL_THREADS: f64 = 2048.0;

/// Elements that a block takes at once, one a thread.
const BLOCK_ELEMENTS: f64 = 1024.0;
/// Up to so many rows PyTorch gathers by another kernel, whose time grows with every row.
const FEW_ROWS: f64 = 16.0;

/// One launch, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launch {
    silicon: Silicon,
    op: Elementwise,
    earlier: bool,
    rows: f64,
    width: f64,
    bytes: f64,
    /// All operands once, from L2 as far as they are there.
    memory: f64,
    /// Share of the operands that is in the L2 at launch.
    hits: f64,
    /// Instructions of all elements, at the pace of full SMs.
    issue: f64,
    /// What efficiency is relative to: compulsory bytes, the launch floor.
    ideal: f64,
}

/// The row of one launch, or none for what nobody measured: sampling, and the mixing of residual streams.
///
/// # Errors
/// Where the GPU's record lacks a figure the features need.
pub(super) fn row(op: &Elementwise, launching: &Launching<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    let (rows, width) = match *op {
        Elementwise::Mix { .. } | Elementwise::Sampling { .. } => return Ok(None),
        Elementwise::Norm { rows, width }
        | Elementwise::AddNorm { rows, width }
        | Elementwise::Add { rows, width }
        | Elementwise::QkNorm { rows, width }
        | Elementwise::SiluMul { rows, width }
        | Elementwise::Rope { rows, width }
        | Elementwise::Embedding { rows, width } => (rows as f64, width as f64),
    };
    if rows * width <= 0.0 {
        return Ok(None);
    }
    let launch = Launch::new(op, rows, width, launching)?;
    Ok(Some(term::values(TERMS, &launch).chain(launch.silicon.identity()).collect()))
}

/// Elements that one SM finishes per clock where neither memory nor L2 holds it back: read off rows that
/// fit the L2.
fn elements_per_clock(op: &Elementwise) -> f64 {
    match op {
        Elementwise::QkNorm { .. } => 0.7,
        Elementwise::Norm { .. } | Elementwise::AddNorm { .. } => 1.2,
        Elementwise::SiluMul { .. } | Elementwise::Rope { .. } => 1.7,
        Elementwise::Add { .. }
        | Elementwise::Embedding { .. }
        | Elementwise::Mix { .. }
        | Elementwise::Sampling { .. } => 3.4,
    }
}

/// Threads that one SM holds, by compute capability (CUDA C++ Programming Guide, technical specifications).
fn threads_per_sm(gpu: &Gpu) -> f64 {
    match gpu.sm {
        75 => 1024.0,
        86 | 89 | 120 => 1536.0,
        _ => 2048.0,
    }
}

impl Launch {
    fn new(
        op: &Elementwise,
        rows: f64,
        width: f64,
        launching: &Launching<'_>,
    ) -> Result<Self, MissingFigure> {
        let &Launching { gpu, kernel, floor, .. } = launching;
        let silicon = Silicon::new(gpu, Family::Elementwise)?;
        let count = kernels::elementwise::count(op, gpu)?;
        let bytes = count.operands.0;
        let hits = 1.0 / (1.0 + (bytes / (silicon.l2 * HIT_HALF)).powi(HIT_POWER));
        // Activations come from the kernel before, in service as in a measuring loop.
        Ok(Self {
            silicon,
            op: *op,
            earlier: kernel == EARLIER,
            rows,
            width,
            bytes,
            memory: silicon.read(bytes, hits),
            hits,
            issue: rows * width * FULL_THREADS
                / (elements_per_clock(op) * silicon.sms * silicon.clock * threads_per_sm(gpu)),
            ideal: (count.bytes / gpu.bandwidth()?).micros().max(floor.micros()),
        })
    }

    fn shortest(&self) -> f64 {
        let cycles = match self.op {
            Elementwise::Add { .. } => SHORTEST_ADD_CYCLES,
            _ => SHORTEST_CYCLES,
        };
        cycles / self.silicon.clock
    }

    fn reference(&self) -> f64 {
        self.memory.max(self.issue) + self.shortest()
    }

    fn share(&self, time: f64) -> f64 {
        ln_share(time, self.reference())
    }

    /// Time the busiest SM takes to move its rows, one block a row, at the L2's pace.
    fn busiest(&self) -> f64 {
        let bytes = (self.rows / self.silicon.sms).ceil() * self.bytes / self.rows;
        bytes / (L2_BYTES_PER_CLOCK * self.silicon.clock)
    }
}

/// Logarithms of ratios, unless said otherwise.
pub(super) const TERMS: &[Term<Launch>] = &[
    // Added to the output as it is: see training/train.py.
    ("reference_over_ideal", |l| (l.reference() / l.ideal).ln()),
    ("memory", |l| l.share(l.memory)),
    ("issue", |l| l.share(l.issue)),
    ("shortest", |l| l.share(l.shortest())),
    ("busiest", |l| l.share(l.busiest())),
    // µs.
    ("ln_reference", |l| l.reference().ln()),
    ("ln_rows", |l| l.rows.ln()),
    ("ln_width", |l| l.width.ln()),
    ("rows_per_sm", |l| l.silicon.per_sm(l.rows)),
    ("rounding", |l| l.silicon.rounding(l.rows)),
    ("width_rounding", |l| ln_rounding(l.width, BLOCK_ELEMENTS)),
    // Share of the operands, in [0, 1].
    ("l2_hits", |l| l.hits),
    ("over_l2", |l| (l.bytes / l.silicon.l2).ln()),
    ("add_norm", |l| flag(matches!(l.op, Elementwise::AddNorm { .. }))),
    ("add", |l| flag(matches!(l.op, Elementwise::Add { .. }))),
    ("qk_norm", |l| flag(matches!(l.op, Elementwise::QkNorm { .. }))),
    ("silu_mul", |l| flag(matches!(l.op, Elementwise::SiluMul { .. }))),
    ("rope", |l| flag(matches!(l.op, Elementwise::Rope { .. }))),
    ("embedding", |l| flag(matches!(l.op, Elementwise::Embedding { .. }))),
    ("few_embedded", |l| flag(matches!(l.op, Elementwise::Embedding { .. }) && l.rows <= FEW_ROWS)),
    ("earlier", |l| flag(l.earlier)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Dtype;
    use crate::config::catalog::catalog;
    use crate::units::Seconds;

    fn on(gpu: &str, op: Elementwise) -> Option<Vec<f32>> {
        let gpu = catalog().gpu(gpu).expect("in the catalog");
        let (math, floor) = (Dtype::Bf16, Seconds(1.5e-6));
        let launching = Launching { gpu, engine: "vllm", kernel: "", math, floor };
        row(&op, &launching).expect("complete record")
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        for rows in [1, 131, 60_000] {
            for op in [
                Elementwise::Norm { rows, width: 4096 },
                Elementwise::AddNorm { rows, width: 5120 },
                Elementwise::Embedding { rows, width: 8192 },
            ] {
                let row = on("h100-sxm", op).expect("learned");
                assert_eq!(row.len(), Family::Elementwise.schema().names.len());
                assert!(row.iter().all(|value| value.is_finite()), "{op:?} {row:?}");
            }
        }
    }

    #[test]
    fn what_nobody_measured_has_no_row() {
        assert_eq!(on("h100-sxm", Elementwise::Sampling { rows: 8, width: 32_000 }), None);
        assert_eq!(on("h100-sxm", Elementwise::Norm { rows: 0, width: 4096 }), None);
    }
}
