//! Block-scaled FP8 GEMM in the manner of DeepGEMM.

use super::{Grid, Pipe, Record, TensorCounts, TileChoice, Traffic};

/// The one tile of the reference; one byte an element.
const TILE: [u32; 3] = [128, 128, 128];

/// The launch of `C[m,n] = A[m,k] B[k,n]` in FP8: one thread block a tile; `shape` is `[m, n, k]`.
pub fn choose_fp8(shape: [u64; 3]) -> TileChoice {
    TileChoice { tile: TILE, cta: Grid::new(shape, TILE).tiles, split: 1, persistent: false }
}

/// Counts of `C[m,n] = A[m,k] B[k,n]` in FP8; `shape` is `[m, n, k]`. None where the tensor cores do
/// not multiply FP8. Sensible for n and k that are multiples of 128.
pub fn gemm_fp8(shape: [u64; 3], record: &Record) -> Option<TensorCounts> {
    let per_clock = record.tensor_fp8?;
    let grid = Grid::new(shape, TILE);
    if grid.tiles == 0 {
        return Some(TensorCounts::nothing(per_clock));
    }
    let [tm, tn, _] = TILE.map(f64::from);
    let waves = grid.tiles.div_ceil(record.sm_count()) as f64;
    let steps = grid.kp as f64 * waves;
    Some(TensorCounts {
        tensor: Pipe { all: grid.flops(), busiest: 2.0 * tm * tn * steps },
        memory: Traffic { all_kib: grid.operands() / 1024.0, busiest_kib: (tm + tn) * steps / 1024.0 },
        per_clock,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reference::fixtures::{A100, H800, assert_close};

    #[test]
    fn hopper_decode_shape() {
        // Computed with the published PipeWeave reference.
        let counts = gemm_fp8([33, 7168, 2048], &H800).expect("Hopper multiplies FP8");
        let expected = [
            3758096384.0,
            3475.39404296875,
            67108864.0,
            8192.0,
            14592.0,
            7596.6220703125,
            2887.336669921875,
            512.0,
            35184.35546875,
            4096.0,
            13372.927734375,
        ];
        assert_close(&counts.features(&H800), &expected);
        assert_close(&[counts.sum_cycle(&H800)], &[3475.3939393939395]);
    }

    #[test]
    fn ampere_has_none_and_nothing_is_nothing() {
        assert_eq!(gemm_fp8([128; 3], &A100), None);
        let empty = gemm_fp8([0, 128, 128], &H800).expect("Hopper multiplies FP8");
        assert_eq!(empty.features(&H800), [0.0; 11]);
    }
}
