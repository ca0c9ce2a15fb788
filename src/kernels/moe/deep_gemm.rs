//! DeepGEMM's experts as vLLM calls them, in closed form.
//!
//! vLLM sorts tokens by expert and pads each expert's to whole blocks. How many blocks that takes is only known on the
//! GPU, so it launches as many as could be needed, at least one for each of the rank's experts, and computes all of
//! them. It was never measured separately. The time is that of the launches, of reading the experts visited, of
//! multiplying every block, and of every row's tokens, columns and results:
//!
//! `t = launches + (weights + rows) / bandwidth + FLOP / (sustained clock * peak)`
//!
//! Nothing is fitted. Steps of few tokens take as long as the rank's experts need, however many sequences run.

use super::{Moe, constants, routing::TILE_ROWS};
use crate::config::{Gpu, MissingFigure};
use crate::kernels::ACTIVATION_BYTES;
use crate::units::{Bytes, Flops, Seconds};

pub fn time(moe: &Moe, gpu: &Gpu) -> Result<Seconds, MissingFigure> {
    let block = TILE_ROWS[TILE_ROWS.len() - 1] as f64;
    let weights = moe.expert_weights() as f64;
    let rows = moe.load.pairs + moe.local_experts() as f64 * (block - 1.0);
    let rows = (rows / block).ceil() * block;
    let read = moe.load.touched * weights * moe.weights.bytes();
    // Tokens in and results out; what lies between is written and read.
    let columns = 2.0 * (moe.hidden + moe.first_columns() + moe.width()) as f64;
    let moving = Bytes(read + rows * columns * ACTIVATION_BYTES) / gpu.bandwidth()?;
    let multiplying = Flops(2.0 * rows * weights) / (gpu.peak(moe.weights.math())? * gpu.sustained()?);
    Ok(Seconds(constants().shortest_cycles / gpu.clock_hz()?) + moving + multiplying)
}

#[cfg(test)]
mod tests {
    use super::super::{ExpertLoad, MoePart};
    use super::*;
    use crate::config::{Dtype, catalog};

    #[test]
    fn every_expert_of_a_rank_takes_a_block() {
        let h200 = catalog().gpu("h200-sxm").expect("in the catalog");
        let time = |tp: u64, ep: u64, pairs: f64| {
            let load = ExpertLoad { pairs, touched: 1.0, largest: pairs, padded: [128.0; TILE_ROWS.len()] };
            let (tokens, hidden, inter) = (pairs as u64, 4096, 1536);
            let (gated, weights, part) = (true, Dtype::Fp8Block, MoePart::Whole);
            time(
                &Moe { tokens, hidden, inter, experts: 128, topk: 1, tp, ep, gated, weights, part, load },
                h200,
            )
        };
        let time = |tp, ep, pairs| time(tp, ep, pairs).expect("known").micros();
        // 128 blocks of 128 rows: 18.9 million weights each are 0.62 TFLOP at 1.64 PFLOP/s, 35 kB each 570 MB at 4.8 TB/s.
        assert!((500.0..540.0).contains(&time(1, 1, 1.0)), "{}", time(1, 1, 1.0));
        assert!(time(1, 1, 128.0) < 1.02 * time(1, 1, 1.0), "as long for more tokens");
        assert!(time(2, 1, 1.0) < 0.65 * time(1, 1, 1.0) && time(1, 2, 1.0) < 0.55 * time(1, 1, 1.0));
    }
}
