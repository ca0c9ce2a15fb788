//! What identifies a measured call: its shape, which is held out whole, and its size within the shape.

use super::Measured;
use crate::graph::{Elementwise, Latent, Linear, Op, Phase, Sequences};

/// Numbers that tell shapes, or sizes within a shape, apart.
pub type Key = [u64; 4];

impl Measured {
    /// What is held out together: the weights' shape, the head layout, the layer of experts, or the width of
    /// one operator; where models hardly differ in their heads, the heads with the number of sequences.
    pub fn shape(&self) -> Key {
        match &self.op {
            Op::Gemm(gemm) => [gemm.n, gemm.k, 0, 0],
            Op::Attention(attention) => [attention.heads, attention.kv_heads, attention.head_dim, 0],
            Op::Latent(latent) => latent_shape(latent),
            Op::Linear(Linear::Conv(conv)) => [conv.channels, 0, count(&conv.sequences), of(conv.phase)],
            Op::Linear(Linear::Delta(delta)) => {
                [delta.key_heads, delta.value_heads, count(&delta.sequences), of(delta.phase)]
            }
            Op::Elementwise(elementwise) => {
                let (kind, _, width) = parts(elementwise);
                [kind, width, 0, 0]
            }
            Op::Moe(moe) => [moe.hidden, moe.inter, moe.topk, moe.experts],
            Op::Scan(_) | Op::Scores(_) | Op::Collective(_) => [0; 4],
        }
    }

    /// The size within the shape, with the shape a point of the sampling grid.
    pub fn size(&self) -> Key {
        match &self.op {
            Op::Gemm(gemm) => [gemm.m, 0, 0, 0],
            Op::Attention(attention) => {
                let others = attention.sequences.iter().skip(1);
                let others = others.map(|group| group.count * (group.past + group.new)).sum();
                let [count, new, past, _] = lengths(&attention.sequences);
                [count, new, past, attention.window.unwrap_or(others)]
            }
            Op::Latent(Latent::Bmm(bmm)) => [bmm.n, bmm.k, 0, 0],
            Op::Latent(Latent::Attention(call)) => lengths(&call.sequences),
            Op::Latent(Latent::Module(module)) => lengths(&module.sequences),
            Op::Latent(Latent::Sparse(sparse)) => lengths(&sparse.module.sequences),
            Op::Linear(Linear::Conv(conv)) => lengths(&conv.sequences),
            Op::Linear(Linear::Delta(delta)) => lengths(&delta.sequences),
            Op::Elementwise(elementwise) => [parts(elementwise).1, 0, 0, 0],
            Op::Moe(moe) => [moe.tokens, moe.tp, moe.ep, 0],
            Op::Scan(_) | Op::Scores(_) | Op::Collective(_) => [0; 4],
        }
    }

    /// The number formats, as reports group them; with the phase where one family holds both.
    pub fn format(&self) -> String {
        let dtype = self.dtype.id();
        match &self.op {
            Op::Attention(attention) => format!("{dtype} over {}", attention.kv.id()),
            Op::Latent(Latent::Attention(call)) => {
                format!("{} {dtype} over {}", word(call.phase), call.kv.id())
            }
            Op::Latent(Latent::Module(module)) => {
                format!("{} {} over {}", word(module.phase), module.weights.id(), module.kv.id())
            }
            Op::Latent(Latent::Sparse(sparse)) => {
                let module = &sparse.module;
                format!("{} {} over {}", word(module.phase), module.weights.id(), module.kv.id())
            }
            Op::Linear(Linear::Conv(conv)) => format!("{} convolution", word(conv.phase)),
            Op::Linear(Linear::Delta(delta)) => format!("{} delta rule", word(delta.phase)),
            _ => dtype.to_owned(),
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
        Elementwise::Mix { rows, width } => (8, rows, width),
    }
}

fn latent_shape(latent: &Latent) -> Key {
    let block = |heads: u64, sequences: &[Sequences], phase| [heads, count(sequences), of(phase), 0];
    match latent {
        Latent::Attention(call) => block(call.heads.heads, &call.sequences, call.phase),
        Latent::Bmm(bmm) => [bmm.count, bmm.m, 0, 0],
        Latent::Module(module) => block(module.heads.heads, &module.sequences, module.phase),
        Latent::Sparse(sparse) => {
            let module = &sparse.module;
            block(module.heads.heads, &module.sequences, module.phase)
        }
    }
}

fn count(sequences: &[Sequences]) -> u64 {
    sequences.iter().map(|group| group.count).sum()
}

fn lengths(sequences: &[Sequences]) -> Key {
    sequences.first().map_or([0; 4], |group| [group.count, group.new, group.past, 0])
}

fn of(phase: Phase) -> u64 {
    match phase {
        Phase::Prefill => 0,
        Phase::Decode => 1,
    }
}

fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Prefill => "prefill",
        Phase::Decode => "decode",
    }
}
