//! Counted work: what each kernel call asks of each resource of the GPU.

pub mod attention;
pub mod collective;
mod count;
pub mod elementwise;
pub mod gemm;
pub mod latent;
pub mod linear;
pub mod moe;
pub mod reference;

pub use count::{Count, Schedule};

use crate::config::{Gpu, MissingFigure};
use crate::graph::Op;

/// What `op` asks of each resource of `gpu`; collectives, which ask nothing of its own pipes, count as
/// nothing.
///
/// # Errors
/// Where the GPU's record lacks a figure the counting needs.
pub fn count(op: &Op, gpu: &Gpu) -> Result<Count, MissingFigure> {
    match op {
        Op::Gemm(gemm) => gemm::count(gemm, gpu),
        Op::Attention(attention) => attention::count(attention, gpu),
        Op::Moe(moe) => moe::count(moe, gpu),
        Op::Latent(latent) => latent::count(latent, gpu),
        Op::Linear(linear) => linear::count(linear, gpu),
        Op::Scan(scan) => linear::scan(scan, gpu),
        Op::Scores(scores) => latent::scores(scores, gpu),
        Op::Elementwise(elementwise) => elementwise::count(elementwise, gpu),
        Op::Collective(_) => Ok(Count::nothing()),
    }
}
