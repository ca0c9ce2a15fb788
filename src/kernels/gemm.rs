//! Matrix products of the linear layers.

use super::reference::{Grid, Record, choose};
use super::{Count, Schedule};
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::graph::Gemm;
use crate::units::{Bytes, Flops};

/// Activations come and go as bf16; FP8 kernels quantise them on the way.
const ACTIVATION_BYTES: f64 = 2.0;

/// Counts `C[m,n] = A[m,k] B[k,n]`: `2 m n k` FLOP; B from device memory, A and C as activations.
///
/// # Errors
/// Where the GPU's record lacks its L2 size.
pub fn count(gemm: &Gemm, gpu: &Gpu) -> Result<Count, MissingFigure> {
    let (m, n, k) = (gemm.m as f64, gemm.n as f64, gemm.k as f64);
    let weights = n * k * gemm.weights.bytes();
    let activations = (m * k + m * n) * ACTIVATION_BYTES;
    let math = Some(gemm.weights.math());
    let count = Count::new(Flops(2.0 * m * n * k), math, Bytes(weights), Bytes(activations), gpu)?;
    Ok(Count { schedule: schedule(gemm, gpu), ..count })
}

/// Tile of the block-scaled FP8 kernels.
const FP8_TILE: [u32; 3] = [128, 128, 128];

/// The launch by rule. None where the GPU's record lacks a figure that the rule weighs.
fn schedule(gemm: &Gemm, gpu: &Gpu) -> Option<Schedule> {
    let record = Record::of(gpu).ok()?;
    let shape = [gemm.m, gemm.n, gemm.k];
    let (tile, tasks) = if gemm.weights.math() == Dtype::Fp8 {
        (FP8_TILE, Grid::new(shape, FP8_TILE).tiles)
    } else {
        let choice = choose(shape, &record);
        let tiles = Grid::new(shape, choice.tile).tiles;
        (choice.tile, if choice.persistent { tiles } else { choice.cta })
    };
    let useful = 2.0 * gemm.m as f64 * gemm.n as f64 * gemm.k as f64;
    let padding = Grid::new(shape, tile).flops() / useful.max(1.0);
    Some(Schedule::new(tile, tasks, u64::from(record.sms), padding))
}
