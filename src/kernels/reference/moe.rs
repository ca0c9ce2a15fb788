//! Fused mixture of experts in Triton, one of its two grouped GEMMs a call. The reference publishes
//! no vectors for it.

use super::{Pipe, Record, TensorCounts, Traffic};

const BF16_BYTES: f64 = 2.0;

/// Which grouped GEMM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoePass {
    /// Gate and up projection: `[tokens, hidden] x [hidden, 2 inter]`.
    W13,
    /// Down projection: `[tokens, inter] x [inter, hidden]`.
    W2,
}

/// A layer of experts and what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moe {
    pub tokens: u64,
    pub experts: u64,
    /// Experts that each token visits.
    pub topk: u64,
    pub hidden: u64,
    /// Width of one expert on this rank.
    pub inter: u64,
}

/// Counts of one pass. Tokens are dealt to the experts in turn, each expert's share is padded to the
/// block height, and every thread block loads its operands anew.
pub fn moe(layer: &Moe, pass: MoePass, record: &Record) -> TensorCounts {
    let (columns, depth) = match pass {
        MoePass::W13 => (layer.inter.saturating_mul(2), layer.hidden),
        MoePass::W2 => (layer.hidden, layer.inter),
    };
    let [height, width] = blocks(layer, record.smem_kib);
    let rows = padded_rows(layer, height);
    let grid = rows.div_ceil(height).saturating_mul(columns.div_ceil(width));
    if grid == 0 {
        return TensorCounts::nothing(record.tensor_bf16);
    }
    let flops = 2.0 * rows as f64 * columns as f64 * depth as f64;
    let kib = (height + width) as f64 * depth as f64 * BF16_BYTES / 1024.0;
    let (all, busiest) = (grid as f64, grid.div_ceil(record.sm_count()) as f64);
    TensorCounts {
        tensor: Pipe { all: flops, busiest: flops / all * busiest },
        memory: Traffic { all_kib: kib * all, busiest_kib: kib * busiest },
        per_clock: record.tensor_bf16,
    }
}

/// Height and width of a thread block. Quirk: the height follows the tokens of the whole layer, not
/// those of an expert.
fn blocks(layer: &Moe, smem_kib: f64) -> [u64; 2] {
    /// Shared memory per SM of workstation parts and of A100, in KiB.
    const SMALL: f64 = 100.0;
    const MEDIUM: f64 = 164.0;
    let (small, medium) = (smem_kib <= SMALL, smem_kib <= MEDIUM);
    let height = match layer.tokens {
        ..=128 => 16,
        129..=256 => 32,
        257..=512 => 64,
        _ if medium && !small => 64,
        2049.. if small && layer.experts < 64 => 64,
        _ => 128,
    };
    let width = match (small, layer.hidden) {
        (true, ..=1536) if layer.tokens <= 128 => 16,
        (true, _) => 64,
        (false, _) => 128,
    };
    [height, width]
}

/// Rows of all experts, each padded to `height`.
fn padded_rows(layer: &Moe, height: u64) -> u64 {
    let routed = layer.tokens.saturating_mul(layer.topk);
    let (Some(share), Some(longer)) = (routed.checked_div(layer.experts), routed.checked_rem(layer.experts))
    else {
        return 0;
    };
    let padded = |rows: u64| rows.div_ceil(height).saturating_mul(height);
    let long = longer.saturating_mul(padded(share + 1));
    long.saturating_add((layer.experts - longer).saturating_mul(padded(share)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reference::fixtures::{A40, A100, H800};

    const LAYER: Moe = Moe { tokens: 100, experts: 8, topk: 2, hidden: 1024, inter: 512 };

    #[test]
    fn by_hand() {
        // 200 rows over 8 experts are 25 each, padded to 32: 256 rows, 16 blocks of 16; 8 of 128
        // columns. 128 blocks on 108 SMs: two on the busiest.
        let counts = moe(&LAYER, MoePass::W13, &A100);
        let flops = 2.0 * 256.0 * 1024.0 * 1024.0;
        assert_eq!(counts.tensor, Pipe { all: flops, busiest: flops / 64.0 });
        let kib = (16.0 + 128.0) * 1024.0 * 2.0 / 1024.0;
        assert_eq!(counts.memory, Traffic { all_kib: 128.0 * kib, busiest_kib: 2.0 * kib });

        let down = moe(&LAYER, MoePass::W2, &A100);
        assert_eq!(down.tensor.all, flops / 2.0);
    }

    #[test]
    fn blocks_follow_tokens_experts_and_shared_memory() {
        let of = |tokens, experts, hidden, record: &Record| {
            blocks(&Moe { tokens, experts, hidden, ..LAYER }, record.smem_kib)
        };
        assert_eq!(of(128, 8, 1536, &A40), [16, 16]);
        assert_eq!(of(129, 8, 1536, &A40), [32, 64]);
        assert_eq!(of(2048, 8, 4096, &A40), [128, 64]);
        assert_eq!(of(2049, 63, 4096, &A40), [64, 64]);
        assert_eq!(of(2049, 64, 4096, &A40), [128, 64]);
        assert_eq!(of(4096, 64, 4096, &A100), [64, 128]);
        assert_eq!(of(513, 8, 1024, &H800), [128, 128]);
    }

    #[test]
    fn an_uneven_deal_pads_every_expert() {
        // 18 rows over 8 experts: two get 3, six get 2, each a block of 16.
        assert_eq!(padded_rows(&Moe { tokens: 9, ..LAYER }, 16), 128);
        // 3 rows: five experts get none.
        assert_eq!(padded_rows(&Moe { tokens: 3, topk: 1, ..LAYER }, 16), 48);
    }

    #[test]
    fn nothing_routed_counts_nothing() {
        for layer in [Moe { tokens: 0, ..LAYER }, Moe { experts: 0, ..LAYER }, Moe { hidden: 0, ..LAYER }] {
            assert_eq!(moe(&layer, MoePass::W2, &H800).features(&H800), [0.0; 11]);
        }
    }
}
