//! Bytes of weights by class: elements of one layer, layers, bytes of an element.

use rooflight::config::model::Class;

use super::{BF16, FP8, FP8_BLOCK, INT4, MXFP4, NVFP4, bytes};

#[test]
fn dense_layers_by_class() {
    // Q and output as wide as the model, K and V 8 heads of 128; three projections of 14336.
    let attention = 4096.0 * (4096.0 + 1024.0 + 1024.0 + 4096.0);
    bytes("llama-3.1-8b", Class::Attention, attention * 32.0, BF16);
    bytes("llama-3.1-8b", Class::Mlp, 3.0 * 4096.0 * 14336.0 * 32.0, BF16);
    bytes("llama-3.1-8b", Class::Kept, 2.0 * 4096.0 * 32.0, BF16);
    bytes("qwen3-32b-fp8", Class::Mlp, 3.0 * 5120.0 * 25600.0 * 64.0, FP8_BLOCK);
    bytes("llama-3.1-70b-instruct-fp8", Class::Mlp, 3.0 * 8192.0 * 28672.0 * 80.0, FP8);
}

#[test]
fn latent_attention_and_experts_by_class() {
    // Queries through 1536 to 128 heads of 192; 512 + 64 down, 512 up to 128 heads of 128 + 128; output.
    let attention = 7168.0 * 1536.0
        + 1536.0 * 128.0 * 192.0
        + 7168.0 * 576.0
        + 512.0 * 128.0 * 256.0
        + 128.0 * 128.0 * 7168.0;
    let expert = 3.0 * 7168.0 * 2048.0;
    bytes("deepseek-v3", Class::Attention, attention * 61.0, FP8_BLOCK);
    bytes("deepseek-v3", Class::Mlp, 3.0 * 7168.0 * 18432.0 * 3.0, FP8_BLOCK);
    bytes("deepseek-v3", Class::Shared, expert * 58.0, FP8_BLOCK);
    bytes("deepseek-v3", Class::Experts, 256.0 * expert * 58.0, FP8_BLOCK);
    // NVIDIA's checkpoint keeps four of the five projections of attention in 16 bits.
    bytes("deepseek-v3.1-nvfp4", Class::Attention, attention * 61.0, BF16);
    bytes("deepseek-v3.1-nvfp4", Class::Shared, expert * 58.0, NVFP4);
    bytes("deepseek-v3.1-nvfp4", Class::Experts, 256.0 * expert * 58.0, NVFP4);
    // Kimi K2.5: integers in the experts only.
    bytes("kimi-k2.5", Class::Experts, 384.0 * expert * 60.0, INT4);
    bytes("kimi-k2.5", Class::Shared, expert * 60.0, BF16);
}

#[test]
fn experts_with_biases_in_mxfp4() {
    // Three projections of 2880 x 2880, biases of 2 x 2880 and 2880.
    let expert = 3.0 * 2880.0 * 2880.0 + 3.0 * 2880.0;
    bytes("gpt-oss-120b", Class::Experts, 128.0 * expert * 36.0, MXFP4);
    let attention = 2880.0 * (64.0 * 64.0 + 2.0 * 8.0 * 64.0 + 64.0 * 64.0);
    bytes("gpt-oss-120b", Class::Attention, attention * 36.0, BF16);
}

#[test]
fn hybrids_by_class() {
    // Qwen3.6-35B-A3B: 10 layers with gated attention (2 x 16 heads of 256, 2 KV heads), 30 with delta rules
    // (keys 16 x 128, values 32 x 128; gate and output as wide as the values).
    let gated = 2048.0 * (2.0 * 4096.0 + 2.0 * 512.0 + 4096.0);
    let delta = 2048.0 * (2.0 * 2048.0 + 4096.0 + 4096.0 + 4096.0);
    bytes("qwen3.6-35b-a3b-nvfp4", Class::Attention, 10.0 * gated + 30.0 * delta, FP8);
    bytes("qwen3.6-35b-a3b-nvfp4", Class::Shared, 3.0 * 2048.0 * 512.0 * 40.0, NVFP4);
    // Nemotron 3 Nano: two projections an expert, the shared one twice as wide.
    bytes("nemotron-3-nano-30b-a3b-bf16", Class::Experts, 2.0 * 2688.0 * 1856.0 * 128.0 * 23.0, BF16);
    bytes("nemotron-3-nano-30b-a3b-bf16", Class::Shared, 2.0 * 2688.0 * 3712.0 * 23.0, BF16);
    // Mamba: gate and values of 4096, 2 x 8 groups of 128, a step for each of 64 heads; back from 4096.
    let mamba = 2688.0 * (2.0 * 4096.0 + 2.0 * 1024.0 + 64.0) + 4096.0 * 2688.0;
    let attention = 2688.0 * (4096.0 + 2.0 * 256.0 + 4096.0);
    bytes("nemotron-3-nano-30b-a3b-bf16", Class::Attention, 23.0 * mamba + 6.0 * attention, BF16);
    // Super: experts between projections to 1024 and back.
    bytes("nemotron-3-super-120b-a12b-fp8", Class::Experts, 2.0 * 1024.0 * 2688.0 * 512.0 * 40.0, FP8);
    let shared = 2.0 * 4096.0 * 5376.0 + 2.0 * 4096.0 * 1024.0;
    bytes("nemotron-3-super-120b-a12b-fp8", Class::Shared, shared * 40.0, FP8);
}

// Weights on one GPU, by sharding.
