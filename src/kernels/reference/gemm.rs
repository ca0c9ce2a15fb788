//! bf16 GEMM: the tiled kernels of sm80, sm86, sm89 and sm120, and the persistent ones of sm90; and the grid of block-scaled
//! FP8 GEMM in the manner of DeepGEMM.

use super::{Pipe, Record, TensorCounts, Traffic};
use crate::units::BF16_BYTES;

/// How a GEMM is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileChoice {
    /// Rows, columns and depth of one step of a thread block, in elements.
    pub tile: [u32; 3],
    /// Thread blocks launched.
    pub cta: u64,
    /// One thread block per SM that walks over several tiles (Hopper).
    pub persistent: bool,
}

/// `C[m,n] = A[m,k] B[k,n]` padded to whole tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Output tiles.
    pub tiles: u64,
    /// Padded sizes.
    pub mp: u64,
    pub np: u64,
    pub kp: u64,
}

impl Grid {
    pub fn new([m, n, k]: [u64; 3], tile: [u32; 3]) -> Self {
        let [tm, tn, tk] = tile.map(|side| u64::from(side.max(1)));
        let (rows, columns) = (m.div_ceil(tm), n.div_ceil(tn));
        Self {
            tiles: rows.saturating_mul(columns),
            mp: rows.saturating_mul(tm),
            np: columns.saturating_mul(tn),
            kp: k.div_ceil(tk).saturating_mul(tk),
        }
    }

    /// FLOP of the padded product.
    pub fn flops(&self) -> f64 {
        2.0 * self.mp as f64 * self.np as f64 * self.kp as f64
    }

    /// Elements of both operands, each once.
    pub fn operands(&self) -> f64 {
        (self.mp as f64 + self.np as f64) * self.kp as f64
    }

    /// Depth of one slice when the reduction is split into `split`, padded to whole tiles.
    pub fn slice(&self, split: u64, tk: u32) -> u64 {
        let tk = u64::from(tk.max(1));
        self.kp.div_ceil(split.max(1)).div_ceil(tk).saturating_mul(tk)
    }
}

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

/// The one tile of FP8; one byte an element.
pub const FP8_TILE: [u32; 3] = [128, 128, 128];

/// The launch of `C[m,n] = A[m,k] B[k,n]` in FP8: one thread block a tile; `shape` is `[m, n, k]`.
pub fn choose_fp8(shape: [u64; 3]) -> TileChoice {
    TileChoice { tile: FP8_TILE, cta: Grid::new(shape, FP8_TILE).tiles, persistent: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pads_every_side_to_whole_tiles() {
        let grid = Grid::new([130, 200, 100], [128, 64, 32]);
        assert_eq!(grid, Grid { tiles: 8, mp: 256, np: 256, kp: 128 });
        assert_eq!(grid.slice(3, 32), 64);
    }

    #[test]
    fn absurd_sizes_saturate() {
        let grid = Grid::new([u64::MAX; 3], [16, 16, 16]);
        assert!(grid.flops().is_finite() && grid.operands().is_finite());
    }
}
