//! The import of `config.json` against wrong, odd and damaged files.

use proptest::prelude::*;
use rooflight::config::model::import::import;
use rooflight::config::{Dtype, Issue, Model, Severity};
use serde_json::{Value, json};

/// Qwen3-8B, as published.
const QWEN3: &str = r#"{
  "architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "head_dim": 128, "hidden_act": "silu",
  "hidden_size": 4096, "intermediate_size": 12288, "max_position_embeddings": 40960,
  "max_window_layers": 36, "model_type": "qwen3", "num_attention_heads": 32, "num_hidden_layers": 36,
  "num_key_value_heads": 8, "rope_scaling": null, "rope_theta": 1000000, "sliding_window": null,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16", "use_sliding_window": false, "vocab_size": 151936
}"#;

/// The published file with some keys set; `null` leaves one out.
fn changed(change: Value) -> String {
    let mut config: Value = serde_json::from_str(QWEN3).unwrap();
    for (key, value) in change.as_object().unwrap() {
        config[key] = value.clone();
    }
    config.to_string()
}

#[track_caller]
fn accepted(change: Value) -> Model {
    let (model, issues) = import(&changed(change), None);
    model.unwrap_or_else(|| panic!("{issues:?}"))
}

/// What is said against a file that gives no model.
#[track_caller]
fn refused(text: &str) -> Vec<String> {
    let (model, issues) = import(text, None);
    assert!(model.is_none());
    assert!(issues.iter().any(Issue::is_error), "{issues:?}");
    issues.into_iter().map(|issue| issue.text).collect()
}

#[test]
fn text_that_is_no_object_is_named() {
    assert_eq!(refused(""), ["the text is empty: an object in braces is right"]);
    assert_eq!(refused("[1, 2]"), ["this is a list: an object in braces is right"]);
    assert_eq!(refused("{\n \"a\": 1,\n}"), ["not JSON: trailing comma at line 3 column 1"]);
    assert!(refused(&QWEN3[..60])[0].contains("EOF"), "{:?}", refused(&QWEN3[..60]));
    assert!(refused("<!doctype html>")[0].starts_with("not JSON: expected value at line 1"));
    assert!(refused(&"[".repeat(100_000))[0].contains("recursion limit"));
    assert_eq!(refused(&" ".repeat(2 << 20)), ["the text is 2048 KiB: at most 1024 KiB are read"]);
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
    assert_eq!(one(json!({"hidden_size": 0})), "`hidden_size` is 0: a whole number from 1 to 65536 is right");
    assert!(one(json!({"num_hidden_layers": 1_000_000_000})).contains("from 1 to 1000"));
    assert!(one(json!({"hidden_size": 4096.5})).contains("4096.5"));
    assert!(one(json!({"vocab_size": -1})).contains("`vocab_size` is -1"));
    assert!(one(json!({"vocab_size": "many"})).contains("`vocab_size` is \"many\""));
    assert!(one(json!({"num_attention_heads": [32]})).contains("is a list"));
    assert!(one(json!({"num_key_value_heads": 5})).contains("the second has to divide the first"));
    assert!(one(json!({"head_dim": 100})).contains("multiples of 8"));
    assert!(one(json!({"head_dim": null, "num_attention_heads": 24})).contains("`head_dim` has to be given"));
    assert!(one(json!({"tie_word_embeddings": "no"})).contains("true or false is right"));
}

#[test]
fn python_numbers_are_read_as_what_they_are() {
    let text = QWEN3.replace("\"hidden_size\": 4096", "\"hidden_size\": NaN");
    assert!(refused(&text)[0].contains("`hidden_size` is \"NaN\""));
    let text =
        QWEN3.replace("\"rope_theta\": 1000000", "\"limit\": [0.0, -Infinity], \"a\": \"NaN \\\" NaN\"");
    assert!(import(&text, None).0.is_some());
}

#[test]
fn a_key_given_twice_is_said() {
    let text = QWEN3.replace("\"hidden_size\": 4096,", "\"hidden_size\": 1024, \"hidden_size\": 4096,");
    let (model, issues) = import(&text, None);
    assert_eq!(model.map(|model| model.hidden), Some(4096));
    assert_eq!(issues[0].severity, Severity::Warning);
    assert_eq!(issues[0].text, "`hidden_size` is given twice: the last one counts");
}

#[test]
fn unknown_architectures_are_refused_by_name() {
    let one = |change: Value| refused(&changed(change)).join("\n");
    assert!(
        one(json!({"model_type": "grok"}))
            .starts_with("`model_type` is grok, which this release does not know")
    );
    assert_eq!(
        one(json!({"architectures": ["Qwen3ForSequenceClassification"]})),
        "no text generation (`architectures` is Qwen3ForSequenceClassification): not covered by this release"
    );
    assert!(one(json!({"hidden_act": "gelu"})).contains("gelu activation"));
    assert!(one(json!({"num_experts": 64})).contains("mixture of experts (64 experts)"));
}

#[test]
fn windows_count_only_where_they_take_effect() {
    accepted(json!({"sliding_window": 4096}));
    accepted(json!({"sliding_window": 40960, "use_sliding_window": true}));
    let text = refused(&changed(json!({"sliding_window": 4096, "use_sliding_window": true})));
    assert_eq!(text, ["sliding-window attention (window 4096): not covered by this release"]);
    // MistralConfig slides unless told otherwise.
    let mistral =
        json!({"model_type": "mistral", "architectures": ["MistralForCausalLM"], "use_sliding_window": null});
    accepted(mistral.clone());
    let without = changed(mistral).replace("\"sliding_window\":null,", "");
    assert!(refused(&without)[0].contains("window 4096"));
}

#[test]
fn context_follows_rope_scaling() {
    let context = |scaling: Value| accepted(json!({"rope_scaling": scaling})).max_context;
    let yarn = json!({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768});
    assert_eq!(context(yarn), 131_072);
    assert_eq!(context(json!({"type": "linear", "factor": 2})), 81_920);
    assert_eq!(context(json!({"rope_type": "llama3", "factor": 8.0})), 40_960);
    let text = refused(&changed(json!({"rope_scaling": {"type": "linear", "factor": 1e300}})));
    assert!(text[0].contains("rope_scaling.factor"), "{text:?}");
}

#[test]
fn weight_formats_are_read() {
    let weights = |config: Value| accepted(json!({"quantization_config": config})).weights;
    assert_eq!(weights(json!({"quant_method": "fp8", "weight_block_size": [128, 128]})), Dtype::Fp8Block);
    assert_eq!(weights(json!({"quant_method": "fp8", "fmt": "e4m3"})), Dtype::Fp8);
    let tensor = json!({"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}});
    let config = json!({"quant_method": "compressed-tensors", "config_groups": {"group_0": tensor}});
    assert_eq!(weights(config), Dtype::Fp8);
    let (model, _) = import(QWEN3, Some(r#"{"quantization": {"quant_algo": "FP8"}}"#));
    assert_eq!(model.map(|model| model.weights), Some(Dtype::Fp8));
}

#[test]
fn weight_formats_without_kernels_are_refused_by_name() {
    let one = |config: Value| refused(&changed(json!({"quantization_config": config}))).join("\n");
    let end = ": not covered by this release";
    let awq = json!({"quant_method": "awq", "bits": 4});
    assert_eq!(one(awq), format!("4-bit weights (`quant_method` awq){end}"));
    let blocks = json!({"quant_method": "fp8", "weight_block_size": [64, 64]});
    assert_eq!(one(blocks), format!("FP8 weights scaled in blocks other than 128x128{end}"));
    let group = json!({"weights": {"num_bits": 4, "type": "int", "group_size": 128}});
    let config = json!({"quant_method": "compressed-tensors", "config_groups": {"group_0": group}});
    assert_eq!(one(config), format!("INT4 weights (`num_bits`){end}"));
    let (model, issues) = import(QWEN3, Some(r#"{"quantization": {"quant_algo": "NVFP4"}}"#));
    assert!(model.is_none());
    assert_eq!(issues[0].text, format!("NVFP4 weights (`quant_algo`){end}"));
    assert!(refused_with_record("{").starts_with("hf_quant_config.json: not JSON"));
}

fn refused_with_record(record: &str) -> String {
    import(QWEN3, Some(record)).1.into_iter().map(|issue| issue.text).collect()
}

#[test]
fn layers_kept_in_bf16_are_said() {
    let config = json!({
        "quant_method": "fp8",
        "modules_to_not_convert": ["lm_head", "model.layers.0.mlp.down_proj", "model.layers.0.input_layernorm"],
    });
    let model = accepted(json!({"quantization_config": config}));
    assert_eq!(
        model.notes,
        ["Linear layers kept in BF16 are counted as FP8: 1 (model.layers.0.mlp.down_proj ...)."]
    );
}

#[test]
fn the_language_part_of_a_vision_model_is_read() {
    let text: Value = serde_json::from_str(QWEN3).unwrap();
    let config = json!({"model_type": "qwen3_vl", "text_config": text, "vision_config": {"depth": 27}});
    let (model, issues) = import(&config.to_string(), None);
    assert_eq!(model.map(|model| model.layers()), Some(36));
    assert!(issues[0].text.contains("vision encoder") && issues[0].severity == Severity::Warning);
}

/// Published configs where the measured data is at hand, and the inline one always.
fn samples() -> &'static [String] {
    static SAMPLES: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/model_configs");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.chain([QWEN3.to_owned()]).collect()
    });
    &SAMPLES
}

/// One edit of a file: bytes at a place, removed and put in.
fn edit() -> impl Strategy<Value = (prop::sample::Index, usize, String)> {
    let put = prop_oneof![
        Just(String::new()),
        "[0-9]{1,25}",
        "[\\[\\]{}\",:eE.-]{1,4}",
        Just("null".to_owned()),
        Just("NaN".to_owned()),
        Just("1e308".to_owned()),
        any::<char>().prop_map(String::from),
    ];
    (any::<prop::sample::Index>(), 0usize..12, put)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_damage_panics(sample in any::<prop::sample::Index>(), edits in prop::collection::vec(edit(), 1..6)) {
        let mut text: Vec<char> = samples()[sample.index(samples().len())].chars().collect();
        for (place, removed, put) in edits {
            let start = place.index(text.len() + 1);
            let end = (start + removed).min(text.len());
            text.splice(start..end, put.chars());
        }
        let text: String = text.into_iter().collect();
        let (model, issues) = import(&text, Some(&text));
        prop_assert_eq!(model.is_some(), !issues.iter().any(Issue::is_error));
        if let Some(model) = model {
            prop_assert!(model.parameters().is_finite() && model.objections().is_empty());
        }
        let (model, issues) = import(&text, None);
        prop_assert_eq!(model.is_some(), !issues.iter().any(Issue::is_error));
    }
}
