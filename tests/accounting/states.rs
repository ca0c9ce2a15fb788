//! States of recurrences, constant in length.

use super::{BF16, served};

#[test]
fn states_of_delta_rules_have_one_size() {
    // Qwen3.5-27B: 16 layers of attention with 4 KV heads of 256; 48 with an f32 state of 128 x 128 for each
    // of 48 value heads, and the last 3 inputs of a convolution over 2 x 16 x 128 + 48 x 128 channels.
    let per_token = 2.0 * 4.0 * 256.0 * BF16 * 16.0;
    let state = (48.0 * 128.0 * 128.0 * 4.0 + 3.0 * (2.0 * 2048.0 + 6144.0) * BF16) * 48.0;
    assert_eq!(state, 153_944_064.0);
    for tokens in [2, 1000, 100_000] {
        served("qwen3.5-27b").keeps(tokens, f64::from(tokens) * per_token + state);
        served("qwen3.5-27b").tp(2).keeps(tokens, (f64::from(tokens) * per_token + state) / 2.0);
    }
    // Kimi K3: 24 layers of latent attention, on every GPU; 69 of delta attention with 96 heads of 128.
    let per_token = (512.0 + 64.0) * BF16 * 24.0;
    let state = (96.0 * 128.0 * 128.0 * 4.0 + 3.0 * 3.0 * 96.0 * 128.0 * BF16) * 69.0;
    served("kimi-k3").tp(8).ep(8).keeps(5000, 5000.0 * per_token + state / 8.0);
}

#[test]
fn states_of_mamba_have_one_size() {
    // Nemotron 3 Nano: 6 layers of attention with 2 KV heads of 128; 23 with an f32 state of 128 for each of
    // 64 x 64 channels, and the last 3 inputs of a convolution over 4096 + 2 x 8 x 128 channels.
    let per_token = 2.0 * 2.0 * 128.0 * BF16 * 6.0;
    let state = (64.0 * 64.0 * 128.0 * 4.0 + 3.0 * (4096.0 + 2048.0) * BF16) * 23.0;
    assert_eq!(state, 49_082_368.0);
    for tokens in [2, 1000, 100_000] {
        served("nemotron-3-nano-30b-a3b-bf16").keeps(tokens, f64::from(tokens) * per_token + state);
    }
}

#[test]
fn drafts_need_a_state_after_each_token() {
    // As above; drafts also keep keys and values in a layer of attention.
    let state = (48.0 * 128.0 * 128.0 * 4.0 + 3.0 * (2.0 * 2048.0 + 6144.0) * BF16) * 48.0;
    let per_token = 2.0 * 4.0 * 256.0 * BF16 * 17.0;
    // vLLM goes on from the state of the last accepted token, the others copy it to the sequence's own.
    for (engine, states) in [("vllm", 4.0), ("sglang", 5.0), ("trtllm", 5.0)] {
        // What is kept per token is that of the longest sequence, with the drafts of its last step.
        let each = per_token + states * state / 1003.0;
        served("qwen3.5-27b").on(engine).drafting(3).keeps(1000, 1000.0 * each);
    }
}
