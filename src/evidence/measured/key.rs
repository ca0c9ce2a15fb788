//! What identifies a measured call: its shape, which is held out whole, and its size within the shape.

use super::Measured;
use crate::graph::{Elementwise, Op};

/// Numbers that tell shapes, or sizes within a shape, apart.
pub type Key = [u64; 4];

impl Measured {
    /// What is held out together: the weights' shape, the head layout, the layer of experts, or the width of one
    /// operator.
    pub fn shape(&self) -> Key {
        match &self.op {
            Op::Gemm(gemm) => [gemm.n, gemm.k, 0, 0],
            Op::Attention(attention) => [attention.heads, attention.kv_heads, attention.head_dim, 0],
            Op::Moe(moe) => [moe.hidden, moe.inter, moe.topk, moe.experts],
            Op::Elementwise(elementwise) => {
                let (kind, _, width) = parts(elementwise);
                [kind, width, 0, 0]
            }
            Op::Collective(_) => [0; 4],
        }
    }

    /// The size within the shape, with the shape a point of the sampling grid.
    pub fn size(&self) -> Key {
        match &self.op {
            Op::Gemm(gemm) => [gemm.m, 0, 0, 0],
            Op::Attention(attention) => match attention.sequences.first() {
                Some(group) => {
                    let others = attention.sequences.iter().skip(1);
                    let others = others.map(|group| group.count * (group.past + group.new)).sum();
                    [group.count, group.new, group.past, attention.window.unwrap_or(others)]
                }
                None => [0; 4],
            },
            Op::Moe(moe) => [moe.tokens, moe.tp, moe.ep, 0],
            Op::Elementwise(elementwise) => [parts(elementwise).1, 0, 0, 0],
            Op::Collective(_) => [0; 4],
        }
    }

    /// The number formats, as reports group them.
    pub fn format(&self) -> String {
        match &self.op {
            Op::Attention(attention) => format!("{} over {}", self.dtype.id(), attention.kv.id()),
            _ => self.dtype.id().to_owned(),
        }
    }
}

/// A number for the operator, its rows and their width.
fn parts(op: &Elementwise) -> (u64, u64, u64) {
    match *op {
        Elementwise::Norm { rows, width } => (0, rows, width),
        Elementwise::AddNorm { rows, width } => (1, rows, width),
        Elementwise::Add { rows, width } => (2, rows, width),
        Elementwise::QkNorm { rows, width } => (3, rows, width),
        Elementwise::SiluMul { rows, width } => (4, rows, width),
        Elementwise::Rope { rows, width } => (5, rows, width),
        Elementwise::Embedding { rows, width } => (6, rows, width),
        Elementwise::Sampling { rows, width } => (7, rows, width),
    }
}
