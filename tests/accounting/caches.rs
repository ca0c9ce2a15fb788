//! Bytes of KV cache: keys and values, KV heads, width, bytes of an element, layers.

use rooflight::config::ModelChoice;
use rooflight::config::model::import::import;

use super::{BF16, FP8, Served, served};

#[test]
fn grouped_queries() {
    let per_token = 2.0 * 8.0 * 128.0 * BF16 * 32.0;
    assert_eq!(per_token, 131_072.0);
    served("llama-3.1-8b").keeps(2, 2.0 * per_token);
    served("llama-3.1-8b").keeps(3000, 3000.0 * per_token);
    // One of 8 KV heads on each of 8 GPUs.
    served("llama-3.1-70b").tp(8).keeps(1000, 1000.0 * 2.0 * 1.0 * 128.0 * BF16 * 80.0);
}

#[test]
fn a_cache_in_fp8_is_half_as_large() {
    served("llama-3.1-8b").fp8_cache().keeps(1000, 1000.0 * 2.0 * 8.0 * 128.0 * FP8 * 32.0);
}

#[test]
fn kv_heads_are_copied_where_there_are_fewer_than_gpus() {
    // 4 KV heads on 8 GPUs: one each, held twice.
    served("qwen3-235b-a22b-fp8").tp(8).ep(8).keeps(1000, 1000.0 * 2.0 * 1.0 * 128.0 * BF16 * 94.0);
}

#[test]
fn one_kv_head_is_on_every_gpu_and_each_head_its_own_where_all_have_one() {
    let config = |kv: u32| {
        format!(
            r#"{{"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 10, "vocab_size": 32000,
            "num_attention_heads": 16, "num_key_value_heads": {kv}, "intermediate_size": 8192,
            "max_position_embeddings": 8192}}"#
        )
    };
    let custom = |kv: u32| {
        let (model, issues) = import(&config(kv), None);
        let model = model.unwrap_or_else(|| panic!("{issues:?}"));
        Served { model: ModelChoice::Custom(Box::new(model)), ..served("") }
    };
    let multi_query = 2.0 * 1.0 * 128.0 * BF16 * 10.0;
    custom(1).keeps(500, 500.0 * multi_query);
    custom(1).tp(8).keeps(500, 500.0 * multi_query);
    custom(16).keeps(500, 500.0 * 16.0 * multi_query);
    custom(16).tp(8).keeps(500, 500.0 * 2.0 * multi_query);
}

#[test]
fn latent_attention_keeps_one_vector_and_a_shared_key_on_every_gpu() {
    let per_token = (512.0 + 64.0) * 61.0;
    served("deepseek-v3").tp(8).ep(8).keeps(2000, 2000.0 * per_token * BF16);
    served("deepseek-v3").tp(4).ep(4).fp8_cache().keeps(2000, 2000.0 * per_token * FP8);
}

#[test]
fn sparse_attention_adds_a_key_of_the_indexer() {
    // An FP8 key of 128 and its f32 scale, in every layer.
    let per_token = ((512.0 + 64.0) * BF16 + 128.0 + 4.0) * 61.0;
    served("deepseek-v3.2").tp(8).ep(8).keeps(2000, 2000.0 * per_token);
    // GLM-5.2 has an indexer in its first 3 layers and in 18 of the 75 others, which share it.
    let per_token = (512.0 + 64.0) * BF16 * 78.0 + (128.0 + 4.0) * 21.0;
    served("glm-5.2-fp8").tp(8).ep(8).keeps(2000, 2000.0 * per_token);
}

#[test]
fn windows_end_what_a_layer_keeps() {
    // gpt-oss: 18 layers see 128 tokens, 18 see all; 8 KV heads of 64.
    let layer = 2.0 * 8.0 * 64.0 * BF16;
    served("gpt-oss-120b").keeps(100, 36.0 * 100.0 * layer);
    served("gpt-oss-120b").keeps(10_000, 18.0 * 10_000.0 * layer + 18.0 * 128.0 * layer);
    // Gemma 4: 25 layers see 1024 tokens with 8 KV heads of 256, 5 see all with 2 of 512.
    let (local, global) = (2.0 * 8.0 * 256.0 * BF16, 2.0 * 2.0 * 512.0 * BF16);
    served("gemma-4-26b-a4b").keeps(500, 500.0 * (25.0 * local + 5.0 * global));
    served("gemma-4-26b-a4b").keeps(4096, 25.0 * 1024.0 * local + 5.0 * 4096.0 * global);
    // Llama 4: chunks of 8192 in three of four layers.
    let layer = 2.0 * 8.0 * 128.0 * BF16;
    served("llama-4-scout-17b-16e-instruct")
        .tp(2)
        .ep(2)
        .keeps(20_000, (36.0 * 8192.0 + 12.0 * 20_000.0) * layer / 2.0);
}

#[test]
fn values_may_be_narrower_than_keys() {
    // MiMo-V2: 39 layers see 128 tokens with 8 KV heads, 9 see all with 4; keys of 192, values of 128.
    let (local, global) = (8.0 * (192.0 + 128.0) * BF16, 4.0 * (192.0 + 128.0) * BF16);
    served("mimo-v2-flash").tp(2).ep(2).keeps(3000, (39.0 * 128.0 * local + 9.0 * 3000.0 * global) / 2.0);
}

#[test]
fn layers_without_attention_keep_nothing() {
    // Nemotron-NAS left attention in 49 of 80 layers.
    let per_token = 2.0 * 8.0 * 128.0 * BF16 * 49.0;
    served("llama-3.3-nemotron-super-49b-v1").keeps(1000, 1000.0 * per_token);
}

#[test]
fn stages_hold_their_layers_only() {
    served("llama-3.1-70b").tp(4).pp(2).keeps(1000, 1000.0 * 2.0 * 2.0 * 128.0 * BF16 * 40.0);
    // 61 layers in 2 stages: 31 on the fuller one.
    served("deepseek-v3").tp(4).ep(4).pp(2).keeps(1000, 1000.0 * 576.0 * BF16 * 31.0);
}
