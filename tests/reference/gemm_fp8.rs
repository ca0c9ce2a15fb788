//! Block-scaled FP8 GEMM in the manner of DeepGEMM.

use rooflight::kernels::reference::{FP8_TILE, Grid, Pipe, Record, TensorCounts, Traffic};

/// Counts of `C[m,n] = A[m,k] B[k,n]` in FP8; `shape` is `[m, n, k]`. None if the tensor cores do
/// not multiply FP8. Sensible for n and k that are multiples of 128.
pub fn gemm_fp8(shape: [u64; 3], record: &Record) -> Option<TensorCounts> {
    let per_clock = record.tensor_fp8?;
    let grid = Grid::new(shape, FP8_TILE);
    if grid.tiles == 0 {
        return Some(TensorCounts::nothing(per_clock));
    }
    let [tm, tn, _] = FP8_TILE.map(f64::from);
    let waves = grid.tiles.div_ceil(record.sm_count()) as f64;
    let steps = grid.kp as f64 * waves;
    Some(TensorCounts {
        tensor: Pipe { all: grid.flops(), busiest: 2.0 * tm * tn * steps },
        memory: Traffic { all_kib: grid.operands() / 1024.0, busiest_kib: (tm + tn) * steps / 1024.0 },
        per_clock,
    })
}
