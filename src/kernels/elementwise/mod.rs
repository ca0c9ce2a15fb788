//! Memory-bound kernels: norms, activations, rotary embeddings, residual adds.

#[cfg(feature = "tools")]
pub mod measured;
mod vector;

pub use vector::FAMILY;

use super::{CallPoint, Count, Family, Kernel, Launch};
use crate::config::{Gpu, MissingFigure};
use crate::units::{BF16_BYTES, Bytes, F32_BYTES, Flops};

/// `rows` rows of `width` elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Elementwise {
    pub kind: ElementwiseKind,
    pub rows: u64,
    pub width: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElementwiseKind {
    /// RMSNorm alone: read, write.
    Norm,
    /// Residual add and RMSNorm: two reads, two writes.
    AddNorm,
    /// Residual add alone: two reads, one write.
    Add,
    /// RMSNorm over each head of Q and K, in place.
    QkNorm,
    /// SiLU of one half times the other; `width` is the output's.
    SiluMul,
    /// Rotary embedding of Q and K, in place.
    Rope,
    /// Gather of embedding rows.
    Embedding,
    /// Softmax and sampling over the vocabulary, f32 logits.
    Sampling,
    /// Mixing of residual streams: `width` elements read and written in total.
    Mix,
    /// An activation without a gate (squared ReLU): read, write.
    Activation,
    /// A copy in another layout: read, write.
    Copy,
}

impl ElementwiseKind {
    /// Bytes moved per element of the row.
    fn bytes_per_element(self) -> f64 {
        match self {
            Self::Norm | Self::QkNorm | Self::Rope | Self::Embedding => 2.0 * BF16_BYTES,
            Self::Activation | Self::Copy => 2.0 * BF16_BYTES,
            Self::Add | Self::SiluMul => 3.0 * BF16_BYTES,
            Self::AddNorm => 4.0 * BF16_BYTES,
            Self::Mix => BF16_BYTES,
            Self::Sampling => F32_BYTES,
        }
    }
}

impl Kernel for Elementwise {
    /// Reads and writes; arithmetic hides behind them. Embedding rows are cold, everything else was just written by
    /// the previous kernel.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let bytes = self.rows as f64 * self.width as f64 * self.kind.bytes_per_element();
        let cold = if self.kind == ElementwiseKind::Embedding { bytes / 2.0 } else { 0.0 };
        Count::new(Flops::ZERO, None, Bytes(cold), Bytes(bytes - cold), gpu)
    }

    fn shape(&self) -> String {
        format!("{} × {}", self.rows, self.width)
    }

    fn family(&self) -> Option<Family> {
        Some(Family::Elementwise)
    }

    fn vector(&self, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        vector::of(self, launch)
    }

    fn point(&self) -> CallPoint {
        CallPoint { shape: [self.kind as u64, self.width, 0, 0], size: [self.rows, 0, 0, 0] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    fn on_h100(kind: ElementwiseKind, rows: u64) -> Count {
        let gpu = catalog().gpu("h100-sxm").expect("in the catalog");
        Elementwise { kind, rows, width: 4096 }.count(gpu).expect("complete record")
    }

    #[test]
    fn bytes_by_hand() {
        // 10 rows of 4096 elements: 81,920 bytes a tensor.
        let tensor = 81_920.0;
        assert_eq!(on_h100(ElementwiseKind::Norm, 10).operands.0, 2.0 * tensor);
        assert_eq!(on_h100(ElementwiseKind::AddNorm, 10).operands.0, 4.0 * tensor);
        assert_eq!(on_h100(ElementwiseKind::Add, 10).operands.0, 3.0 * tensor);
        assert_eq!(on_h100(ElementwiseKind::SiluMul, 10).operands.0, 3.0 * tensor);
        assert_eq!(on_h100(ElementwiseKind::Sampling, 10).operands.0, 2.0 * tensor);
    }

    #[test]
    fn only_the_embedding_table_is_cold() {
        let embedding = on_h100(ElementwiseKind::Embedding, 10);
        assert_eq!((embedding.stored.0, embedding.bytes.0), (81_920.0, 81_920.0));
        assert_eq!(on_h100(ElementwiseKind::Rope, 10).bytes.0, 0.0);
    }

    #[test]
    fn what_the_l2_cannot_hold_is_compulsory() {
        // 536.9 MB read and written, an L2 of 52.4 MB.
        assert_eq!(on_h100(ElementwiseKind::Norm, 32_768).bytes.0, 536_870_912.0 - 52_428_800.0);
    }
}
