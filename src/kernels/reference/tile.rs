//! A matrix product cut into tiles, and how the launch deals them out.

use serde::Serialize;

/// How a GEMM is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TileChoice {
    /// Rows, columns and depth of one step of a thread block, in elements.
    pub tile: [u32; 3],
    /// Thread blocks launched.
    pub cta: u64,
    /// Slices that the reduction is cut into, each its own thread block.
    pub split: u64,
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

    /// Depth of one slice when the reduction is cut into `split`, padded to whole tiles.
    pub fn slice(&self, split: u64, tk: u32) -> u64 {
        let tk = u64::from(tk.max(1));
        self.kp.div_ceil(split.max(1)).div_ceil(tk).saturating_mul(tk)
    }
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
