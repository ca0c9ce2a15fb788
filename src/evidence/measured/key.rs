//! What identifies a measured call: its shape, which is held out whole, and its size within the shape.

use super::Measured;
use crate::graph::Op;

/// Numbers that tell shapes, or sizes within a shape, apart.
pub type Key = [u64; 4];

impl Measured {
    /// What is held out together: the weights' shape, the head layout, or the layer of experts.
    pub fn shape(&self) -> Key {
        match &self.op {
            Op::Gemm(gemm) => [gemm.n, gemm.k, 0, 0],
            Op::Attention(attention) => [attention.heads, attention.kv_heads, attention.head_dim, 0],
            Op::Moe(moe) => [moe.hidden, moe.inter, moe.topk, moe.experts],
            Op::Elementwise(_) | Op::Collective(_) => [0; 4],
        }
    }

    /// The size within the shape, with the shape a point of the sampling grid.
    pub fn size(&self) -> Key {
        match &self.op {
            Op::Gemm(gemm) => [gemm.m, 0, 0, 0],
            Op::Attention(attention) => match attention.sequences.first() {
                Some(group) => [group.count, group.new, group.past, 0],
                None => [0; 4],
            },
            Op::Moe(moe) => [moe.tokens, moe.tp, moe.ep, 0],
            Op::Elementwise(_) | Op::Collective(_) => [0; 4],
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
