//! Parameters and KV cache against published counts.

use rooflight::config::catalog::catalog;
use rooflight::config::model::{Attention, Blocks};

/// Parameters in billions as the publisher states them, or from the safetensors index if it is shown.
#[rustfmt::skip]
const PUBLISHED: [(&str, f64); 166] = [
    ("llama-3.1-8b", 8.03), ("llama-3.1-70b", 70.55), ("llama-3.1-405b", 405.85),
    ("llama-3.1-70b-instruct-fp8", 70.55), ("llama-3.2-1b", 1.236), ("llama-3.2-3b", 3.213),
    ("llama-3.3-70b-instruct", 70.55),
    ("qwen2-72b", 72.71), ("qwen2.5-0.5b-instruct", 0.494), ("qwen2.5-1.5b-instruct", 1.544),
    ("qwen2.5-3b-instruct", 3.086), ("qwen2.5-7b-instruct", 7.616), ("qwen2.5-14b", 14.77),
    ("qwen2.5-32b", 32.76), ("qwen2.5-72b-instruct", 72.71),
    ("qwen3-0.6b", 0.596), ("qwen3-1.7b", 1.72), ("qwen3-4b", 4.022), ("qwen3-8b", 8.19),
    ("qwen3-14b", 14.77), ("qwen3-32b", 32.76), ("qwen3-32b-fp8", 32.76),
    ("mistral-7b-instruct-v0.3", 7.248), ("mistral-small-24b-instruct-2501", 23.57),
    ("mistral-large-instruct-2411", 122.61),
    ("deepseek-r1-distill-llama-8b", 8.03), ("deepseek-r1-distill-llama-70b", 70.55),
    ("deepseek-r1-distill-qwen-1.5b", 1.777), ("deepseek-r1-distill-qwen-32b", 32.76),
    ("yi-1.5-34b", 34.39), ("phi-4", 14.66),
    // Mistral AI's announcements (46.7 B) and safetensors (140.62 B).
    ("mixtral-8x7b-v0.1", 46.70), ("mixtral-8x22b-v0.1", 140.62),
    // DeepSeek-V3's report: 671 B, without the multi-token-prediction module that the files also hold.
    ("deepseek-v3", 671.0), ("deepseek-r1", 671.0), ("deepseek-v3.1-nvfp4", 671.0),
    // GLM-5's announcement.
    ("glm-5", 744.0), ("glm-5.1", 744.0), ("glm-5.2", 744.0),
    // Safetensors.
    ("qwen3-30b-a3b", 30.53), ("qwen3-235b-a22b", 235.09), ("qwen3-235b-a22b-nvfp4", 235.09),
    ("qwen3-coder-480b-a35b-instruct", 480.15), ("minimax-m2.5", 228.70), ("minimax-m2.7-nvfp4", 228.70),
    ("llama-3.3-nemotron-super-49b-v1", 49.87),
    // By name; the language part alone.
    ("qwen3.5-27b", 27.0), ("qwen3.5-122b-a10b", 122.0), ("qwen3.5-397b-a17b", 397.0),
    ("qwen3.5-397b-a17b-nvfp4", 397.0),
    // The model card of gpt-oss: total parameters.
    ("gpt-oss-20b", 20.91), ("gpt-oss-120b", 116.83),
    // Safetensors without the vision encoder (0.9 B).
    ("llama-4-scout-17b-16e-instruct", 107.77), ("llama-4-maverick-17b-128e-instruct", 400.71),
    // Model cards.
    ("gemma-4-26b-a4b", 25.2), ("gemma-4-31b-it-nvfp4", 30.7), ("mimo-v2-flash", 309.0),
    ("nemotron-3-nano-30b-a3b-bf16", 31.6), ("nemotron-3-ultra-550b-a55b-bf16", 550.0),
    // Safetensors.
    ("llama-2-7b-hf", 6.738), ("llama-2-13b-hf", 13.016), ("llama-2-70b-hf", 68.977), ("llama-3-8b", 8.03),
    ("llama-3-70b", 70.55), ("codellama-7b-hf", 6.739), ("codellama-34b-hf", 33.744), ("yi-1.5-9b", 8.829),
    ("smollm2-135m", 0.1345), ("smollm2-360m", 0.3618), ("smollm2-1.7b", 1.711),
    ("falcon3-7b-base", 7.456), ("falcon3-10b-base", 10.306),
    ("granite-3.3-2b-instruct", 2.534), ("granite-3.3-8b-instruct", 8.171),
    ("mistral-nemo-instruct-2407", 12.248), ("ministral-8b-instruct-2410", 8.020),
    ("phi-3-mini-128k-instruct", 3.821), ("phi-3-medium-128k-instruct", 13.960), ("phi-4-mini-instruct", 3.836),
    ("qwen3-4b-instruct-2507", 4.022), ("qwen3-30b-a3b-instruct-2507", 30.53),
    ("qwen3-235b-a22b-instruct-2507", 235.09), ("deepseek-v2-lite", 15.706), ("deepseek-v2", 235.74),
    // The language part: the same without the vision encoder (0.4 to 0.7 B).
    ("mistral-small-3.2-24b-instruct-2506", 23.57), ("qwen2.5-vl-3b-instruct", 3.086),
    ("qwen2.5-vl-7b-instruct", 7.616), ("qwen2.5-vl-32b-instruct", 32.76), ("qwen2.5-vl-72b-instruct", 72.71),
    // DeepSeek-V4's report; MiniMax-M3's announcement, its vision encoder included.
    ("deepseek-v4-flash", 284.0), ("deepseek-v4-flash-fp8", 284.0), ("minimax-m3", 428.0),
    // keras-hub's presets, of the language part.
    ("gemma-3-4b-it", 3.8801), ("gemma-3-12b-it", 11.7658), ("gemma-3-27b-it", 27.0090),
    // Safetensors.
    ("gemma-2-2b-it", 2.614), ("gemma-2-9b-it", 9.242), ("exaone-4.0-32b", 32.0), ("olmo-3.1-32b-instruct", 32.23),
    ("seed-oss-36b-instruct", 36.15), ("hunyuan-a13b-instruct", 80.39), ("granite-4.0-h-small", 32.2),
    ("smollm3-3b", 3.075), ("kimi-linear-48b-a3b-instruct", 49.12), ("c4ai-command-r-v01", 34.98),
    ("phi-3.5-moe-instruct", 41.87), ("phi-3-small-128k-instruct", 7.392),
    // Safetensors or model cards; of OPT, MPT, Falcon and GPT-NeoX exact counts of their weights.
    ("opt-125m", 0.12524), ("opt-6.7b", 6.6585), ("mpt-7b", 6.649), ("falcon-7b", 6.9217), ("gpt-neox-20b", 20.5546),
    ("baichuan2-7b-chat", 7.506), ("chatglm3-6b", 6.2436), ("glm-4-9b-chat", 9.4), ("starcoder2-7b", 7.1739),
    ("internlm2.5-7b-chat", 7.7377), ("internlm2.5-20b-chat", 19.861), ("olmo-2-1124-7b", 7.2986), ("olmo-2-1124-13b", 13.716),
    ("ernie-4.5-21b-a3b-pt", 21.825), ("c4ai-command-r-plus", 103.81), ("tinyllama-1.1b-chat-v1.0", 1.10005),
    ("gemma-2-27b-it", 27.227), ("gemma-3-1b-it", 0.99989), ("exaone-3.5-7.8b-instruct", 7.818),
    ("codestral-22b-v0.1", 22.247), ("moonlight-16b-a3b-instruct", 15.96), ("olmo-3-7b-instruct", 7.298),
    // Safetensors; of OPT and Falcon exact counts of their weights.
    ("baichuan2-13b-chat", 13.897), ("c4ai-command-a-03-2025", 111.06), ("codellama-13b-hf", 13.016),
    ("codellama-70b-hf", 68.977), ("dbrx-instruct", 131.6), ("deepseek-coder-33b-instruct", 33.34),
    ("deepseek-coder-6.7b-instruct", 6.74), ("deepseek-llm-67b-chat", 67.42), ("deepseek-llm-7b-chat", 6.91),
    ("falcon-40b", 41.3), ("gemma-7b-it", 8.538), ("glm-4-32b-0414", 32.57),
    ("glm-4-9b-0414", 9.4), ("olmo-2-0325-32b-instruct", 32.23),
    ("olmoe-1b-7b-0924-instruct", 6.92), ("opt-13b", 12.853), ("opt-30b", 29.975), ("opt-66b", 65.72),
    ("phi-2", 2.78),
    ("phi-3-medium-4k-instruct", 13.96), ("phi-3-mini-4k-instruct", 3.821),
    ("qwen1.5-110b-chat", 111.21), ("qwen1.5-14b-chat", 14.17), ("qwen1.5-32b-chat", 32.51),
    ("qwen1.5-4b-chat", 3.95), ("qwen1.5-72b-chat", 72.29), ("qwen1.5-7b-chat", 7.72),
    ("qwen1.5-moe-a2.7b-chat", 14.32), ("qwen2-57b-a14b-instruct", 57.41), ("solar-10.7b-instruct-v1.0", 10.73),
    ("starcoder2-15b", 15.96), ("yi-6b", 6.061),
    ("bloom-7b1", 7.069), ("minicpm3-4b", 4.07), ("qwen-14b-chat", 14.17), ("smollm-1.7b", 1.71),
    // By name.
    ("ernie-4.5-300b-a47b-pt", 300.0),
];

/// The same for the whole checkpoint, vision encoder and projector included.
const WITH_ENCODER: [(&str, f64); 2] =
    [("llama-3.2-11b-vision-instruct", 10.67), ("llama-3.2-90b-vision-instruct", 88.59)];

// Left out: Kimi K2's 1.04 T counts its first layer as a mixture of experts, which its config does not have
// (1.026 T); Step 3.7, DeepSeek-V4-Pro (1.6 T), Kimi K3 and Nemotron 3 Super, whose makers print rounded figures only.

/// Active parameters in billions, and whether the publisher counts the embedding among them.
#[rustfmt::skip]
const ACTIVE: [(&str, f64, bool); 6] = [
    // Mistral AI's announcements.
    ("mixtral-8x7b-v0.1", 12.9, true), ("mixtral-8x22b-v0.1", 39.0, true),
    // The model card of gpt-oss counts the head and not the embedding.
    ("gpt-oss-20b", 3.61, false), ("gpt-oss-120b", 5.13, false),
    // The tensors of the checkpoint with 8 of 128 experts; the cards print 3.3 and 22.
    ("qwen3-30b-a3b", 3.35, true), ("qwen3-235b-a22b", 22.19, true),
];

#[test]
fn parameters_agree_with_the_published_counts() {
    for (id, billions) in PUBLISHED {
        let counted = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing")).parameters() / 1e9;
        assert!(
            (counted / billions - 1.0).abs() < 0.005,
            "{id}: counted {counted:.3} B, published {billions} B"
        );
    }
}

#[test]
fn checkpoints_with_their_encoder_agree_with_the_published_counts() {
    for (id, billions) in WITH_ENCODER {
        let model = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"));
        let counted = (model.parameters() + f64::from(model.encoder.unwrap_or(0))) / 1e9;
        assert!(
            (counted / billions - 1.0).abs() < 0.001,
            "{id}: counted {counted:.3} B, published {billions} B"
        );
    }
}

#[test]
fn active_parameters_agree_with_the_published_counts() {
    for (id, billions, embedding) in ACTIVE {
        let model = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"));
        let table = if embedding { 0.0 } else { f64::from(model.vocab) * f64::from(model.hidden) };
        let counted = (model.active_parameters() - table) / 1e9;
        assert!(
            (counted / billions - 1.0).abs() < 0.005,
            "{id}: counted {counted:.3} B active, published {billions} B"
        );
    }
}

/// Bytes that a token takes in the KV cache in 16 bits: keys and values of every layer, or the latent of each.
#[test]
fn kv_bytes_of_a_token_are_exact() {
    for (id, bytes) in [
        ("llama-2-7b-hf", 32 * 2 * 32 * 128 * 2),
        ("llama-2-70b-hf", 80 * 2 * 8 * 128 * 2),
        ("codellama-34b-hf", 48 * 2 * 8 * 128 * 2),
        ("mistral-nemo-instruct-2407", 40 * 2 * 8 * 128 * 2),
        ("phi-3-mini-128k-instruct", 32 * 2 * 32 * 96 * 2),
        ("phi-3-small-128k-instruct", 32 * 2 * 8 * 128 * 2),
        // Engines reserve as much for the layers that attend to images.
        ("llama-3.2-11b-vision-instruct", 40 * 2 * 8 * 128 * 2),
        ("llama-3.2-90b-vision-instruct", 100 * 2 * 8 * 128 * 2),
        ("falcon3-7b-base", 28 * 2 * 4 * 256 * 2),
        ("smollm2-135m", 30 * 2 * 3 * 64 * 2),
        ("deepseek-v2-lite", 27 * (512 + 64) * 2),
        ("gemma-3-12b-it", 48 * 2 * 8 * 256 * 2),
        ("kimi-linear-48b-a3b-instruct", 7 * (512 + 64) * 2),
        ("granite-4.0-h-small", 4 * 2 * 8 * 128 * 2),
        ("opt-6.7b", 32 * 2 * 32 * 128 * 2),
        ("gpt-neox-20b", 44 * 2 * 64 * 96 * 2),
        ("mpt-7b", 32 * 2 * 32 * 128 * 2),
        ("falcon-7b", 32 * 2 * 64 * 2),
        ("baichuan2-7b-chat", 32 * 2 * 32 * 128 * 2),
        ("chatglm3-6b", 28 * 2 * 2 * 128 * 2),
        ("glm-4-9b-chat", 40 * 2 * 2 * 128 * 2),
        ("starcoder2-7b", 32 * 2 * 4 * 128 * 2),
        ("internlm2.5-7b-chat", 32 * 2 * 8 * 128 * 2),
        ("olmo-2-1124-7b", 32 * 2 * 32 * 128 * 2),
        ("ernie-4.5-21b-a3b-pt", 28 * 2 * 4 * 128 * 2),
        ("c4ai-command-r-plus", 64 * 2 * 8 * 128 * 2),
        ("gemma-2-27b-it", 46 * 2 * 16 * 128 * 2),
        ("moonlight-16b-a3b-instruct", 27 * (512 + 64) * 2),
    ] {
        let model = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"));
        let of = |blocks: &Blocks| match &blocks.attention {
            Some(Attention::Gqa(gqa)) => blocks.count * 2 * gqa.kv_heads * gqa.head_dim * 2,
            Some(Attention::Mla(mla)) => blocks.count * (mla.latent + mla.rope) * 2,
            _ => 0,
        };
        assert_eq!(model.blocks.iter().map(of).sum::<u32>(), bytes, "{id}");
    }
}
