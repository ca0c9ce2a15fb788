//! Bytes of weights on one GPU.

use super::{BF16, FP8_BLOCK, served};

#[test]
fn dense_weights_sharded() {
    let attention = 4096.0 * (4096.0 + 4096.0);
    let kv = 4096.0 * 2.0 * 1024.0;
    let mlp = 3.0 * 4096.0 * 14336.0;
    let (norms, table) = (2.0 * 4096.0, 128_256.0 * 4096.0);
    let one = 32.0 * (attention + kv + mlp + norms) + 2.0 * table;
    served("llama-3.1-8b").weighs(one * BF16);
    // Everything but the norms is sharded over the ranks.
    let rank = 32.0 * ((attention + kv + mlp) / 4.0 + norms) + 2.0 * table / 4.0;
    served("llama-3.1-8b").tp(4).weighs(rank * BF16);
    // Half the layers, and either the embedding or the head.
    let stage = 16.0 * (attention + kv + mlp + norms) + table;
    served("llama-3.1-8b").pp(2).weighs(stage * BF16);
}

#[test]
fn experts_sharded() {
    let expert = 3.0 * 4096.0 * 1536.0;
    let attention = 2.0 * 4096.0 * 8192.0;
    let kv = 4096.0 * 2.0 * 4.0 * 128.0;
    let kept = 2.0 * 4096.0 + 2.0 * 128.0 + 4096.0 * 128.0;
    let table = 151_936.0 * 4096.0;
    // 4 KV heads on 8 ranks: each rank has one of them, so a quarter of the projections.
    let ranks = attention / 8.0 + kv / 4.0 + 128.0 * expert / 8.0;
    let bytes = 94.0 * (ranks * FP8_BLOCK + kept * BF16) + 2.0 * table / 8.0 * BF16;
    served("qwen3-235b-a22b-fp8").tp(8).ep(8).weighs(bytes);
    // Attention replicated on 8 GPUs, the experts sharded over them.
    let own = attention + kv + 128.0 * expert / 8.0;
    let bytes = 94.0 * (own * FP8_BLOCK + kept * BF16) + 2.0 * table * BF16;
    served("qwen3-235b-a22b-fp8").dp(8).ep(8).weighs(bytes);
}
