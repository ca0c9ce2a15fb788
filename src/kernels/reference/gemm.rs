//! bf16 GEMM: the tiled kernels of sm80, sm86, sm89 and sm120, and the persistent ones of sm90.

use super::{Grid, Pipe, Record, TensorCounts, TileChoice, Traffic};

const BF16_BYTES: f64 = 2.0;

/// Counts of `C[m,n] = A[m,k] B[k,n]` launched as `choice` says; `shape` is `[m, n, k]`.
///
/// Off Hopper the split of the reduction follows from the thread blocks launched, and waves of them
/// are charged to the busiest SM. On Hopper a split launch charges it one slice and no waves; a
/// persistent one its share of the tiles, with idle thread blocks counted as if they repeated work.
pub fn gemm(shape: [u64; 3], choice: &TileChoice, record: &Record) -> TensorCounts {
    let grid = Grid::new(shape, choice.tile);
    if grid.tiles == 0 {
        return TensorCounts::nothing(record.tensor_bf16);
    }
    let (cta, tiles) = (choice.cta.max(1), grid.tiles);
    let [tm, tn, tk] = choice.tile;

    // Depth that one round of the busiest SM covers, its rounds, and work done over work needed.
    let (depth, rounds, repeated) = if record.hopper() && choice.persistent {
        (grid.kp, tiles.div_ceil(cta), (cta as f64 / tiles as f64).max(1.0))
    } else {
        let waves = if record.hopper() { 1 } else { cta.div_ceil(record.sm_count()) };
        (grid.slice(cta / tiles, tk), waves, 1.0)
    };
    let steps = depth as f64 * rounds as f64;
    TensorCounts {
        tensor: Pipe { all: grid.flops() * repeated, busiest: 2.0 * f64::from(tm) * f64::from(tn) * steps },
        memory: Traffic {
            all_kib: BF16_BYTES * grid.operands() / 1024.0,
            busiest_kib: BF16_BYTES * (f64::from(tm) + f64::from(tn)) * steps / 1024.0,
        },
        per_clock: record.tensor_bf16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reference::fixtures::{A100, H20, H800, assert_close};

    fn choice(tile: [u32; 3], cta: u64, persistent: bool) -> TileChoice {
        TileChoice { tile, cta, split: 1, persistent }
    }

    // Vectors computed with the published PipeWeave reference.

    #[test]
    fn ampere_waves() {
        let counts = gemm([33950, 27648, 5120], &choice([128, 256, 32], 28782, false), &A100);
        let expected = [
            9639517224960.0,
            43581440.0,
            89590333440.0,
            43745280.0,
            616960.0,
            406865.125,
            256449.53125,
            1025280.0,
            73023008.0,
            8202240.0,
            46026840.0,
        ];
        assert_close(&counts.features(&A100), &expected);
        assert_close(&[counts.sum_cycle(&A100)], &[43581440.0]);
    }

    #[test]
    fn ampere_splits_the_reduction() {
        let counts = gemm([16, 2560, 8192], &choice([64, 128, 32], 160, false), &A100);
        assert_close(&counts.features(&A100)[..4], &[2684354560.0, 12136.2958984375, 33554432.0, 16384.0]);
        assert_close(&counts.features(&A100)[7..8], &[768.0]);
    }

    #[test]
    fn hopper_split_charges_one_slice() {
        let counts = gemm([8, 5120, 5120], &choice([8, 64, 64], 80, false), &H800);
        let expected = [
            419430400.0,
            775.757568359375,
            5242880.0,
            1280.0,
            51280.0,
            26696.462890625,
            10146.8349609375,
            720.0,
            49478.0,
            5760.0,
            18805.6796875,
        ];
        assert_close(&counts.features(&H800), &expected);
    }

    #[test]
    fn hopper_persistent_counts_idle_blocks_as_work() {
        let counts = gemm([1024, 1024, 4096], &choice([128, 128, 64], 78, true), &H20);
        assert_close(&counts.features(&H20)[..4], &[10468982784.0, 131072.0, 134217728.0, 131072.0]);
        assert_close(&[counts.sum_cycle(&H20)], &[131072.0]);
    }

    #[test]
    fn nothing_to_multiply_counts_nothing() {
        for shape in [[0, 8, 8], [8, 0, 8], [8, 8, 0]] {
            for persistent in [false, true] {
                let counts = gemm(shape, &choice([64, 64, 64], 0, persistent), &H800);
                assert_eq!(counts.features(&H800), [0.0; 11]);
            }
        }
    }
}
