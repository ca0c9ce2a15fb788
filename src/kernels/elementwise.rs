//! Kernels that move bytes and hardly compute.

use super::Count;
use crate::config::{Gpu, MissingFigure};
use crate::graph::Elementwise;
use crate::units::{Bytes, Flops};

const BF16_BYTES: f64 = 2.0;
const F32_BYTES: f64 = 4.0;

/// Counts reads and writes of one launch; arithmetic is left out, it hides behind them.
///
/// # Errors
/// Where the GPU's record lacks its L2 size.
pub fn count(op: &Elementwise, gpu: &Gpu) -> Result<Count, MissingFigure> {
    // Bytes moved per element of the row.
    let (rows, width, per_element) = match *op {
        Elementwise::Norm { rows, width } => (rows, width, 2.0 * BF16_BYTES),
        Elementwise::AddNorm { rows, width } => (rows, width, 4.0 * BF16_BYTES),
        Elementwise::QkNorm { rows, width } => (rows, width, 2.0 * BF16_BYTES),
        Elementwise::SiluMul { rows, width } => (rows, width, 3.0 * BF16_BYTES),
        Elementwise::Rope { rows, width } => (rows, width, 2.0 * BF16_BYTES),
        Elementwise::Embedding { rows, width } => (rows, width, 2.0 * BF16_BYTES),
        Elementwise::Sampling { rows, width } => (rows, width, F32_BYTES),
    };
    let bytes = rows as f64 * width as f64 * per_element;
    // Rows of the embedding table are cold; all else was just written by the kernel before.
    let (cold, warm) = match op {
        Elementwise::Embedding { .. } => (bytes / 2.0, bytes / 2.0),
        _ => (0.0, bytes),
    };
    Count::new(Flops::ZERO, None, Bytes(cold), Bytes(warm), gpu)
}
