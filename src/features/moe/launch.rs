//! One fused-MoE launch: times of its resources, and how it is cut into tiles.

use super::super::silicon::Silicon;
use super::super::term::ln_share;
use super::super::{Family, Launching};
use super::Kernel;
use crate::config::{Arch, MissingFigure};
use crate::graph::routing::TILE_ROWS;
use crate::graph::{Moe, Part};
use crate::kernels;

/// What every call takes besides its work, in cycles: routing, permutation, two products, activation and
/// sum of at least one tile each. 15 µs where all are one launch, 20 to 60 where each is its own.
const SHORTEST_CYCLES: f64 = 40_000.0;
/// Intermediate activations are bf16.
const ACTIVATION_BYTES: f64 = 2.0;
/// Dense BF16 FLOP per clock and SM that sm80's instructions reach at most, on whatever tensor cores.
const SYNCHRONOUS_RATE: f64 = 2048.0;
/// Columns of an output tile.
const TILE_COLUMNS: f64 = 128.0;

/// One launch, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    pub(in crate::features) silicon: Silicon,
    pub kernel: Kernel,
    pub arch: Arch,
    pub moe: Moe,
    /// Tensor time at the sustained clock, rows padded to the tile that suits the load.
    pub compute: f64,
    /// Weights of touched experts, from L2 as far as they are there.
    pub weights: f64,
    /// Tokens, both products' results and what feeds the second one, written and read.
    pub activations: f64,
    /// The same for pairs with other ranks' experts, where the kernel carries them along.
    pub empty_rows: f64,
    pub activation_bytes: f64,
    /// Share of the weights that is in the L2 at launch.
    pub hits: f64,
    /// What efficiency is relative to: peak rates, compulsory bytes, the launch floor.
    pub ideal: f64,
}

impl Launch {
    pub fn new(moe: &Moe, kernel: Kernel, launching: &Launching<'_>) -> Result<Self, MissingFigure> {
        let &Launching { gpu, floor, .. } = launching;
        let silicon = Silicon::new(gpu, Family::Moe)?;
        let count = kernels::moe::count(moe, gpu)?;
        let peak = gpu.peak(moe.weights)?;
        let at_peak = (count.flops / peak).micros();
        let load = &moe.load;
        let weight_bytes = load.touched * moe.expert_weights() as f64 * kernel.weight_bytes(moe.weights);
        let hits = silicon.resident(weight_bytes);
        let (hidden, width) = (moe.hidden as f64, moe.width() as f64);
        let a_pair = match moe.part {
            Part::Whole => 2.0 * moe.first_columns() as f64 + 2.0 * width + 3.0 * hidden,
            Part::First => moe.first_columns() as f64 + hidden,
        };
        let activation_bytes = (load.pairs * a_pair + 2.0 * moe.tokens as f64 * hidden) * ACTIVATION_BYTES;
        let empty_pairs = match kernel.carries_all_pairs() {
            true => ((moe.tokens * moe.topk) as f64 - load.pairs).max(0.0),
            false => 0.0,
        };
        let empty_bytes = empty_pairs * a_pair * ACTIVATION_BYTES;
        let tile = kernels::moe::tile_rows(moe);
        let stretch = load.padded[tile] / load.pairs;
        let slowed = if kernel.synchronous() { (silicon.rate / SYNCHRONOUS_RATE).max(1.0) } else { 1.0 };
        Ok(Self {
            silicon,
            kernel,
            moe: *moe,
            arch: gpu.arch,
            compute: at_peak / silicon.sustained * stretch * slowed,
            weights: silicon.read(weight_bytes, hits),
            activations: silicon.read(activation_bytes, silicon.resident(activation_bytes)),
            empty_rows: silicon.read(empty_bytes, silicon.resident(empty_bytes)),
            activation_bytes,
            hits,
            ideal: at_peak.max((count.bytes / gpu.bandwidth()?).micros()).max(floor.micros()),
        })
    }

    /// The products overlap with their operands; permutation, activation and sum do not.
    pub fn reference(&self) -> f64 {
        self.compute.max(self.weights) + self.activations + self.empty_rows + self.shortest()
    }

    pub fn shortest(&self) -> f64 {
        SHORTEST_CYCLES / self.silicon.clock
    }

    pub fn share(&self, time: f64) -> f64 {
        ln_share(time, self.reference())
    }

    /// Mean over touched experts.
    pub fn tokens_per_expert(&self) -> f64 {
        self.moe.load.pairs / self.moe.load.touched
    }

    /// Padding of the rows to the tile height in place `rows` of `TILE_ROWS`.
    pub fn padding(&self, rows: usize) -> f64 {
        (self.moe.load.padded[rows] / self.moe.load.pairs).ln()
    }

    fn tiles(&self, rows: usize, columns: f64) -> f64 {
        self.moe.load.padded[rows] / TILE_ROWS[rows] as f64 * (columns / TILE_COLUMNS).ceil()
    }

    pub fn first_tiles(&self, rows: usize) -> f64 {
        self.tiles(rows, self.moe.first_columns() as f64)
    }

    pub fn second_tiles(&self, rows: usize) -> f64 {
        self.tiles(rows, self.moe.hidden as f64)
    }

    pub fn first_rounding(&self, rows: usize) -> f64 {
        self.silicon.rounding(self.first_tiles(rows))
    }

    pub fn second_rounding(&self, rows: usize) -> f64 {
        self.silicon.rounding(self.second_tiles(rows))
    }

    /// Tensor time of the expert with most tokens, were it alone.
    pub fn largest_expert(&self) -> f64 {
        self.share(self.compute * self.moe.load.largest / self.moe.load.pairs)
    }
}
