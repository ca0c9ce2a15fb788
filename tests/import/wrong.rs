//! Files that are not configs, and numbers that do not make a model.

use rooflight::config::model::import::{import, import_files};
use rooflight::config::{Dtype, Severity};
use serde_json::{Value, json};

use super::{QWEN3, changed, refused};

#[test]
fn text_that_is_not_an_object_is_refused() {
    let one = |text: &str, part: &str| {
        let texts = refused(text);
        assert!(texts.len() == 1 && texts[0].contains(part), "{part}: {texts:?}");
    };
    one("", "empty");
    one("[1, 2]", "a list");
    one("{\n \"a\": 1,\n}", "trailing comma at line 3 column 1");
    assert!(refused(&QWEN3[..60])[0].contains("ends early"), "{:?}", refused(&QWEN3[..60]));
    assert!(refused("<!doctype html>")[0].starts_with("this is not JSON: "));
    assert!(refused(&"[".repeat(100_000))[0].contains("recursion limit"));
    one(&" ".repeat(2 << 20), "2048 KiB");
}

#[test]
fn every_missing_field_is_named_at_once() {
    let text = refused(r#"{"model_type": "qwen3"}"#).join("\n");
    for key in
        ["num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "vocab_size"]
    {
        assert!(text.contains(&format!("`{key}` is missing")), "{key}: {text}");
    }
    assert!(refused("{}")[0].starts_with("`model_type` is missing"));
}

#[test]
fn impossible_numbers_are_named() {
    let one = |change: Value| refused(&changed(change)).join("\n");
    assert_eq!(one(json!({"hidden_size": 0})), "`hidden_size` is 0: expected a whole number from 1 to 65536");
    assert!(one(json!({"num_hidden_layers": 1_000_000_000})).contains("from 1 to 1000"));
    assert!(one(json!({"hidden_size": 4096.5})).contains("4096.5"));
    assert!(one(json!({"vocab_size": -1})).contains("`vocab_size` is -1"));
    assert!(one(json!({"vocab_size": "many"})).contains("`vocab_size` is \"many\""));
    assert!(one(json!({"num_attention_heads": [32]})).contains("is a list"));
    assert!(
        one(json!({"num_key_value_heads": 5})).contains("of `num_key_value_heads`: 32 is not divisible by 5")
    );
    assert!(one(json!({"head_dim": 100})).contains("multiple of 8"));
    assert!(one(json!({"head_dim": null, "num_attention_heads": 24})).contains("and `head_dim` is missing"));
    assert!(one(json!({"tie_word_embeddings": "no"})).contains("expected true or false"));
}

#[test]
fn contradictions_are_named() {
    let one = |change: Value| refused(&changed(change)).join("\n");
    let moe = |change: Value| {
        let mut config = json!({
            "model_type": "qwen3_moe", "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768,
        });
        for (key, value) in change.as_object().unwrap() {
            config[key] = value.clone();
        }
        one(config)
    };
    assert!(moe(json!({"num_experts": null})).contains("`num_experts` is missing"));
    assert!(moe(json!({"num_experts_per_tok": 200})).contains("(200) is larger than `num_experts` (128)"));
    assert!(moe(json!({"moe_intermediate_size": "NaN"})).contains("`moe_intermediate_size` is \"NaN\""));
    assert!(moe(json!({"mlp_only_layers": ["one"]})).contains("`mlp_only_layers[0]` is \"one\""));
    assert!(moe(json!({"moe_layer_freq": [0, 1]})).contains("`moe_layer_freq` has 2 entries for 36 layers"));
    let types = json!({"layer_types": vec!["full_attention"; 35]});
    assert!(one(types).contains("`layer_types` has 35 entries for 36 layers"));
    let types = json!({"layer_types": vec!["whole"; 36]});
    assert!(
        one(types).contains("`layer_types[0]` is \"whole\": expected full_attention or sliding_attention")
    );
    let hybrid = json!({"model_type": "nemotron_h", "hidden_act": null, "hybrid_override_pattern": "M*-"});
    assert!(one(hybrid).contains("`num_hidden_layers` is 36, but `hybrid_override_pattern` has 3 layers"));
    let hybrid = json!({"model_type": "nemotron_h", "hidden_act": null, "hybrid_override_pattern": "M*x"});
    assert!(one(hybrid).contains("has an unknown letter: expected M, E, * and -"));
    let uneven = json!({"model_type": "nemotron-nas", "num_hidden_layers": 1, "block_configs": [
        {"attention": {"no_op": true}, "ffn": {"ffn_mult": -1.0}},
    ]});
    assert!(one(uneven).contains("`block_configs[0].ffn.ffn_mult` is -1"));
    let latent = one(json!({"model_type": "deepseek_v3"}));
    for key in ["kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim", "n_routed_experts"] {
        assert!(latent.contains(&format!("`{key}` is missing")), "{key}: {latent}");
    }
    let kimi = json!({"model_type": "kimi_linear", "linear_attn_config": {"kda_layers": [1, 1, 99, 0.5]}});
    let kimi = one(kimi);
    assert!(kimi.contains("`linear_attn_config.num_heads` is missing"), "{kimi}");
}

#[test]
fn long_texts_are_refused_before_they_are_read() {
    let text = format!("{{\"a\": \"{}\"}}", "x".repeat(50 << 20));
    let texts = refused(&text);
    assert!(texts.len() == 1 && texts[0].contains("51200 KiB"), "{texts:?}");
}

#[test]
fn encoders_are_refused_by_name() {
    let bert = json!({"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_act": "gelu"});
    assert_eq!(
        refused(&changed(bert)),
        [
            "`model_type` bert with `architectures` BertForMaskedLM: only models that generate text are supported"
        ]
    );
    let t5 = json!({"model_type": "t5", "is_encoder_decoder": true});
    assert_eq!(
        refused(&changed(t5)),
        [
            "`model_type` t5 is not supported; encoder-decoder (`is_encoder_decoder`): not covered by this release"
        ]
    );
}

#[test]
fn python_number_literals_are_read() {
    let text = QWEN3.replace("\"hidden_size\": 4096", "\"hidden_size\": NaN");
    assert!(refused(&text)[0].contains("`hidden_size` is \"NaN\""));
    let text = QWEN3.replace(
        "\"rope_theta\": 1000000",
        "\"time_step_limit\": [0.0, -Infinity], \"prefix\": \"NaN \\\" NaN\"",
    );
    assert!(import(&text, None).0.is_some());
    let record = r#"{"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}"#;
    let (both, issues) = import_files(&format!("{text}\n{record}"));
    assert_eq!(both.map(|model| model.weights), Some(Dtype::Fp8), "{issues:?}");
}

#[test]
fn a_key_given_twice_is_reported() {
    let text = QWEN3.replace("\"hidden_size\": 4096,", "\"hidden_size\": 1024, \"hidden_size\": 4096,");
    let (model, issues) = import(&text, None);
    assert_eq!(model.map(|model| model.hidden), Some(4096));
    assert_eq!(issues[0].severity, Severity::Warning);
    assert_eq!(issues[0].text, "`hidden_size` is given twice: the last one counts");
}
