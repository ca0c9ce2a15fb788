//! The memory of a model's own draft layer.

use rooflight::config::catalog::catalog;
use rooflight::config::{Drafts, ModelChoice, Scenario, check};
use rooflight::serving::memory_of;
use rooflight::serving::report::Memory;

use super::{BF16, FP8_BLOCK};

/// On one GPU, whether it fits or not.
fn memory(id: &str, drafted: u32) -> Memory {
    let mut scenario = Scenario { model: ModelChoice::Catalog(id.into()), ..Scenario::default() };
    (scenario.gpu, scenario.workload.osl) = ("b300".into(), 100);
    scenario.workload.drafts = Drafts { drafted, accepted: 0.0 };
    memory_of(&check(&scenario, catalog()).0.expect("sound")).expect("complete")
}

#[test]
fn deepseeks_layer_is_one_more_of_its_last() {
    // 256 routed experts and a shared one, attention as of every layer: 11.5 B parameters, by DeepSeek's own account of
    // the weights, the input's projection among them.
    let attention = 7168.0 * 1536.0
        + 1536.0 * 128.0 * 192.0
        + 7168.0 * 576.0
        + 512.0 * 128.0 * 256.0
        + 128.0 * 128.0 * 7168.0;
    let experts = 257.0 * 3.0 * 7168.0 * 2048.0;
    let joined: f64 = 2.0 * 7168.0 * 7168.0;
    let all = attention + experts + joined;
    assert!((all / 11.5e9 - 1.0).abs() < 0.015, "{all}");

    let more = |id: &str| memory(id, 3).weights.0 - memory(id, 0).weights.0;
    let quantised = (attention + experts) * FP8_BLOCK + joined * BF16;
    // Router and norms; engines keep the latents' expansion in 16 bits too, for absorbed products.
    let kept = 7168.0 * 256.0 * BF16 + 512.0 * 128.0 * 256.0 * BF16;
    assert!((more("deepseek-r1") / (quantised + kept) - 1.0).abs() < 1e-4);
    // NVIDIA's checkpoint in four bits leaves the layer in 16.
    assert!((more("deepseek-v3.1-nvfp4") / (all * BF16 + kept) - 1.0).abs() < 1e-4);
    // One layer more of 61.
    let kept_of = |drafted| memory("deepseek-r1", drafted).kv_per_token.0;
    assert!((kept_of(1) / kept_of(0) - 62.0 / 61.0).abs() < 1e-9);
}

#[test]
fn as_many_layers_are_loaded_as_draft() {
    let more = |drafted| memory("minimax-m2.5", drafted).weights.0 - memory("minimax-m2.5", 0).weights.0;
    assert!((more(2) / more(1) - 2.0).abs() < 1e-9, "one each");
    assert_eq!(more(4), more(3), "there are three");
    // A hybrid drafts by a layer that keeps keys and values, whatever most of its layers are.
    let kept = |drafted| memory("qwen3.5-397b-a17b", drafted).kv_per_token.0;
    assert!(kept(1) > kept(0));
    assert_eq!(memory("llama-3.1-8b", 3).weights, memory("llama-3.1-8b", 0).weights);
}
