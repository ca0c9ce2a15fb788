//! Matrix products of the linear layers.

use super::reference::{self, Record};
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

/// The launch by rule. None where the GPU's record lacks a figure that the rule weighs.
fn schedule(gemm: &Gemm, gpu: &Gpu) -> Option<Schedule> {
    let record = Record::of(gpu).ok()?;
    let shape = [gemm.m, gemm.n, gemm.k];
    let choice = match gemm.weights.math() {
        Dtype::Fp8 => reference::choose_fp8(shape),
        _ => reference::choose(shape, &record),
    };
    Some(reference::schedule(shape, &choice, &record))
}
