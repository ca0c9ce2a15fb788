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
        Elementwise::Add { rows, width } => (rows, width, 3.0 * BF16_BYTES),
        Elementwise::QkNorm { rows, width } => (rows, width, 2.0 * BF16_BYTES),
        Elementwise::SiluMul { rows, width } => (rows, width, 3.0 * BF16_BYTES),
        Elementwise::Rope { rows, width } => (rows, width, 2.0 * BF16_BYTES),
        Elementwise::Embedding { rows, width } => (rows, width, 2.0 * BF16_BYTES),
        Elementwise::Mix { rows, width } => (rows, width, BF16_BYTES),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;

    fn on_h100(op: Elementwise) -> Count {
        count(&op, catalog().gpu("h100-sxm").expect("in the catalog")).expect("complete record")
    }

    #[test]
    fn bytes_by_hand() {
        // 10 rows of 4096 elements: 81,920 bytes a tensor.
        let tensor = 81_920.0;
        let (rows, width) = (10, 4096);
        assert_eq!(on_h100(Elementwise::Norm { rows, width }).operands.0, 2.0 * tensor);
        assert_eq!(on_h100(Elementwise::AddNorm { rows, width }).operands.0, 4.0 * tensor);
        assert_eq!(on_h100(Elementwise::Add { rows, width }).operands.0, 3.0 * tensor);
        assert_eq!(on_h100(Elementwise::SiluMul { rows, width }).operands.0, 3.0 * tensor);
        assert_eq!(on_h100(Elementwise::Sampling { rows, width }).operands.0, 2.0 * tensor);
    }

    #[test]
    fn only_the_embedding_table_is_cold() {
        let (rows, width) = (10, 4096);
        let embedding = on_h100(Elementwise::Embedding { rows, width });
        assert_eq!((embedding.stored.0, embedding.bytes.0), (81_920.0, 81_920.0));
        assert_eq!(on_h100(Elementwise::Rope { rows, width }).bytes.0, 0.0);
    }

    #[test]
    fn what_the_l2_cannot_hold_is_compulsory() {
        // 536.9 MB read and written, an L2 of 52.4 MB.
        let count = on_h100(Elementwise::Norm { rows: 32_768, width: 4096 });
        assert_eq!(count.bytes.0, 536_870_912.0 - 52_428_800.0);
    }
}
