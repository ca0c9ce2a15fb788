//! Routed experts in one fused call.

use super::{Count, Schedule};
use crate::config::{Gpu, MissingFigure};
use crate::graph::routing::TILE_ROWS;
use crate::graph::{Moe, Part};
use crate::units::{Bytes, Flops};

/// Tokens come and go as bf16; FP8 and FP4 kernels quantise them on the way.
const ACTIVATION_BYTES: f64 = 2.0;
/// Columns of an output tile, and its depth: what most kernels take where the weights are wide.
const TILE_COLUMNS: u64 = 128;
const TILE_DEPTH: u32 = 64;

/// Counts the busiest rank's share: two FLOP per weight of an expert and token that visits it; the weights
/// of experts with a token from device memory, once; tokens in and out as activations. What lies between
/// the two products is not counted: a kernel that fuses them need not write it.
///
/// # Errors
/// Where the GPU's record lacks its L2 size.
pub fn count(moe: &Moe, gpu: &Gpu) -> Result<Count, MissingFigure> {
    let load = &moe.load;
    let weights = moe.expert_weights() as f64;
    let flops = 2.0 * load.pairs * weights;
    let stored = load.touched * weights * moe.weights.bytes();
    // Tokens that visit none of the rank's experts need not be read.
    let tokens = load.pairs.min(moe.tokens as f64);
    let hidden = moe.hidden as f64;
    let elements = match moe.part {
        Part::Whole => 2.0 * tokens * hidden,
        Part::First => tokens * hidden + load.pairs * moe.first_columns() as f64,
    };
    let activations = Bytes(elements * ACTIVATION_BYTES);
    let count = Count::new(Flops(flops), Some(moe.weights.math()), Bytes(stored), activations, gpu)?;
    Ok(Count { schedule: schedule(moe, gpu), ..count })
}

/// Place in `TILE_ROWS` of the tile height that suits the mean tokens of an expert: the least that holds
/// them, the greatest where none does.
pub fn tile_rows(moe: &Moe) -> usize {
    let mean = moe.load.pairs / moe.load.touched.max(1.0);
    TILE_ROWS.iter().position(|&rows| rows as f64 >= mean).unwrap_or(TILE_ROWS.len() - 1)
}

/// The first product's tiles over the SMs. None where the GPU's record lacks their number.
fn schedule(moe: &Moe, gpu: &Gpu) -> Option<Schedule> {
    let slots = gpu.sm_count().ok()? as u64;
    let place = tile_rows(moe);
    let (rows, padded) = (TILE_ROWS[place], moe.load.padded[place]);
    let row_tiles = (padded / rows as f64).round() as u64;
    let column_tiles = moe.first_columns().div_ceil(TILE_COLUMNS);
    let padding = padded / moe.load.pairs.max(1.0);
    let tile = [rows as u32, TILE_COLUMNS as u32, TILE_DEPTH];
    Some(Schedule::new(tile, row_tiles.saturating_mul(column_tiles), slots, padding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Dtype;
    use crate::config::catalog::catalog;
    use crate::graph::Routing;
    use crate::graph::routing::Pool;

    fn moe(tokens: u64, ep: u64) -> Moe {
        let (experts, topk) = (8, 2);
        let load = Routing::Dealt.load(&Pool { tokens, experts, topk, ep });
        let (hidden, inter, tp) = (1024, 512, 2);
        let (gated, weights, part) = (true, Dtype::Bf16, Part::Whole);
        Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load }
    }

    fn count_on_h100(moe: &Moe) -> Count {
        count(moe, catalog().gpu("h100-sxm").expect("in the catalog")).expect("complete")
    }

    #[test]
    fn by_hand() {
        // 256 columns of each expert on this rank: 3 * 256 * 1024 weights. 4 tokens visit all 8 experts.
        let weights = 3.0 * 256.0 * 1024.0;
        let whole = count_on_h100(&moe(4, 1));
        assert_eq!(whole.flops, Flops(2.0 * 8.0 * weights));
        assert_eq!(whole.stored, Bytes(8.0 * weights * 2.0));
        assert_eq!(whole.operands - whole.stored, Bytes(2.0 * 4.0 * 1024.0 * 2.0));
        // Two ranks: 4 pairs on 4 experts each, one token to an expert.
        let half = count_on_h100(&moe(4, 2));
        assert_eq!((half.flops, half.stored), (Flops(8.0 * weights), Bytes(8.0 * weights)));
        // The first product alone: two thirds of the weights, and its result is written.
        let first = count_on_h100(&Moe { part: Part::First, ..moe(4, 1) });
        assert_eq!(first.flops, Flops(2.0 * 8.0 * weights * 2.0 / 3.0));
        assert_eq!(first.operands - first.stored, Bytes((4.0 * 1024.0 + 8.0 * 512.0) * 2.0));
    }

    #[test]
    fn tiles_by_hand() {
        // 100 tokens are 200 pairs, 25 an expert: tiles of 32, one an expert; 512 columns are four tiles.
        let schedule = count_on_h100(&moe(100, 1)).schedule.expect("a launch");
        assert_eq!((schedule.tile, schedule.tasks), ([32, 128, 64], 32));
        assert_eq!(schedule.padding, 256.0 / 200.0);
    }

    #[test]
    fn experts_without_gates_have_a_third_less() {
        let (gated, plain) = (moe(4, 1), Moe { gated: false, ..moe(4, 1) });
        let (gated, plain) = (count_on_h100(&gated), count_on_h100(&plain));
        assert_eq!(plain.flops.0 * 3.0, gated.flops.0 * 2.0);
        assert_eq!(plain.stored.0 * 3.0, gated.stored.0 * 2.0);
    }
}
