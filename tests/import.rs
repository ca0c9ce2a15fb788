//! The import of `config.json` against wrong, odd and damaged files.

use proptest::prelude::*;
use rooflight::config::model::import::import;
use rooflight::config::model::{Attention, Blocks, Formats};
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
    assert!(moe(json!({"num_experts_per_tok": 200})).contains("cannot visit more experts than there are"));
    assert!(moe(json!({"moe_intermediate_size": "NaN"})).contains("`moe_intermediate_size` is \"NaN\""));
    assert!(moe(json!({"mlp_only_layers": ["one"]})).contains("`mlp_only_layers` holds text"));
    assert!(
        moe(json!({"moe_layer_freq": [0, 1]}))
            .contains("`moe_layer_freq` has 2 entries and the model 36 layers")
    );
    let types = json!({"layer_types": vec!["full_attention"; 35]});
    assert!(one(types).contains("`layer_types` has 35 entries and the model 36 layers"));
    let types = json!({"layer_types": vec!["whole"; 36]});
    assert!(
        one(types).contains("`layer_types[0]` is \"whole\": full_attention or sliding_attention is right")
    );
    let hybrid = json!({"model_type": "nemotron_h", "hidden_act": null, "hybrid_override_pattern": "M*-"});
    assert!(one(hybrid).contains("`num_hidden_layers` is 36 and `hybrid_override_pattern` has 3 layers"));
    let hybrid = json!({"model_type": "nemotron_h", "hidden_act": null, "hybrid_override_pattern": "M*x"});
    assert!(one(hybrid).contains("has a layer of another kind: M, E, * and - are right"));
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
    assert_eq!(refused(&text), ["the text is 51200 KiB: at most 1024 KiB are read"]);
}

#[test]
fn encoders_are_refused_by_name() {
    let bert = json!({"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_act": "gelu"});
    assert_eq!(
        refused(&changed(bert)),
        ["no text generation (`architectures` is BertForMaskedLM): not covered by this release"]
    );
    let t5 = json!({"model_type": "t5", "is_encoder_decoder": true});
    assert_eq!(
        refused(&changed(t5)),
        ["encoder-decoder (`is_encoder_decoder`): not covered by this release"]
    );
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
    let windows = |model: Model| -> Vec<(u32, Option<u32>)> {
        let of = |blocks: &Blocks| match &blocks.attention {
            Some(Attention::Gqa(gqa)) => (blocks.count, gqa.window),
            other => panic!("{other:?}"),
        };
        model.blocks.iter().map(of).collect()
    };
    assert_eq!(windows(accepted(json!({"sliding_window": 4096}))), [(36, None)]);
    // As long as the context: no layer slides.
    assert_eq!(windows(accepted(json!({"sliding_window": 40960, "use_sliding_window": true}))), [(36, None)]);
    let slides = json!({"sliding_window": 4096, "use_sliding_window": true, "max_window_layers": 28});
    assert_eq!(windows(accepted(slides)), [(28, None), (8, Some(4096))]);
    // MistralConfig slides unless told otherwise.
    let mistral =
        json!({"model_type": "mistral", "architectures": ["MistralForCausalLM"], "use_sliding_window": null});
    assert_eq!(windows(accepted(mistral.clone())), [(36, None)]);
    let without = changed(mistral).replace("\"sliding_window\":null,", "");
    assert_eq!(windows(import(&without, None).0.unwrap()), [(36, Some(4096))]);
    // Layers by name.
    let names: Vec<&str> =
        (0..36).map(|layer| if layer % 6 == 5 { "full_attention" } else { "sliding_attention" }).collect();
    let named = json!({"layer_types": names, "sliding_window": 512, "use_sliding_window": true});
    assert_eq!(windows(accepted(named)), [(30, Some(512)), (6, None)]);
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
fn four_bit_formats_are_read() {
    let weights = |config: Value| accepted(json!({"quantization_config": config})).weights;
    assert_eq!(weights(json!({"quant_method": "awq", "bits": 4})), Dtype::Int4);
    assert_eq!(weights(json!({"quant_method": "gptq", "bits": 4, "group_size": 128})), Dtype::Int4);
    assert_eq!(weights(json!({"quant_method": "gptq", "bits": 8})), Dtype::Int8);
    let group = |bits: u32, kind: &str, size: u32| {
        let weights = json!({"num_bits": bits, "type": kind, "group_size": size, "strategy": "group"});
        let group = json!({"weights": weights, "targets": ["Linear"]});
        json!({"quant_method": "compressed-tensors", "config_groups": {"group_0": group}, "ignore": ["lm_head"]})
    };
    assert_eq!(weights(group(4, "int", 128)), Dtype::Int4);
    assert_eq!(weights(group(4, "float", 16)), Dtype::Nvfp4);
    assert_eq!(weights(group(4, "float", 32)), Dtype::Mxfp4);
    let small = accepted(json!({"quantization_config": group(4, "int", 32)}));
    assert!(small.notes[0].contains("One scale per 32"), "{:?}", small.notes);
    let (model, _) = import(QWEN3, Some(r#"{"quantization": {"quant_algo": "NVFP4"}}"#));
    assert_eq!(model.map(|model| model.weights), Some(Dtype::Nvfp4));
}

#[test]
fn weight_formats_without_kernels_are_refused_by_name() {
    let one = |config: Value| refused(&changed(json!({"quantization_config": config}))).join("\n");
    let end = ": not covered by this release";
    let awq = json!({"quant_method": "awq", "bits": 3});
    assert_eq!(one(awq), format!("3-bit weights (`quant_method` awq){end}"));
    let other = json!({"quant_method": "bitsandbytes"});
    assert_eq!(one(other), format!("bitsandbytes weights (`quant_method`){end}"));
    let blocks = json!({"quant_method": "fp8", "weight_block_size": [64, 64]});
    assert_eq!(one(blocks), format!("FP8 weights scaled in blocks other than 128x128{end}"));
    let group = json!({"weights": {"num_bits": 2, "type": "int", "group_size": 128}});
    let config = json!({"quant_method": "compressed-tensors", "config_groups": {"group_0": group}});
    assert_eq!(one(config), format!("INT2 weights (`num_bits`){end}"));
    let mixed = json!({"quant_algo": "MIXED_PRECISION"});
    let text = "weights in several formats (`quant_algo` MIXED_PRECISION without a list)";
    assert_eq!(one(mixed), format!("{text}{end}"));
    let odd = json!({"quant_method": "fp8", "modules_to_not_convert": ["re:(a(b))"]});
    assert_eq!(one(odd), format!("modules by a pattern that is not understood (re:(a(b))){end}"));
    let (model, issues) = import(QWEN3, Some(r#"{"quantization": {"quant_algo": "W4A8_AWQ"}}"#));
    assert!(model.is_none());
    assert_eq!(issues[0].text, format!("W4A8_AWQ weights (`quant_algo`){end}"));
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
    assert_eq!(model.notes, ["1 of 108 linear layers of MLPs are in other formats and counted as fp8."]);
    assert_eq!((model.weights, model.checkpoints.len()), (Dtype::Fp8, 0));
}

#[test]
fn classes_kept_in_bf16_are_counted_so() {
    let formats = |kept: Value| {
        let config = json!({"quant_algo": "NVFP4", "exclude_modules": kept});
        let model = accepted(json!({"quantization_config": config}));
        model.formats(model.weights)
    };
    let uniform = Formats::uniform(Dtype::Nvfp4);
    assert_eq!(formats(json!(["lm_head"])), uniform);
    // In each of the lists' dialects.
    let attention = Formats { attention: Dtype::Bf16, ..uniform };
    for kept in
        ["model.layers.*.self_attn", "*.self_attn.*", "self_attn", "re:.*self_attn.*", "model.layers.*attn*"]
    {
        assert_eq!(formats(json!([kept])), attention, "{kept}");
    }
    let each: Vec<String> = (0..36).map(|layer| format!("model.layers.{layer}.self_attn*")).collect();
    assert_eq!(formats(json!(each)), attention);
    // Modules with a format each.
    let listed = json!({
        "quant_algo": "MIXED_PRECISION",
        "quantized_layers": (0..36).flat_map(|layer| [
            (format!("model.layers.{layer}.self_attn"), json!({"quant_algo": "FP8"})),
            (format!("model.layers.{layer}.mlp"), json!({"quant_algo": "NVFP4"})),
        ]).collect::<serde_json::Map<String, Value>>(),
    });
    let model = accepted(json!({"quantization_config": listed}));
    assert_eq!(model.formats(Dtype::Nvfp4), Formats { attention: Dtype::Fp8, ..uniform });
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

/// Half of the damaged files tried, for each of the two tests below: `ROOFLIGHT_FUZZ_CASES`, or 4,000.
fn cases() -> u32 {
    let all = std::env::var("ROOFLIGHT_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok());
    all.unwrap_or(4_000) / 2
}

/// Numbers, names and values that stand somewhere in the files, and odd ones, to put in place of others.
fn stranger() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..200_000).prop_map(Value::from),
        prop::sample::select(vec![json!(1e9), json!(1e308), json!(0.5), json!(-1), json!(u64::MAX)]),
        prop::sample::select(vec![
            json!([]),
            json!({}),
            json!([1, "a", null]),
            json!({"a": {}}),
            json!("NaN")
        ]),
        prop::sample::select(vec![
            json!("full_attention"),
            json!("linear_attention"),
            json!("llama"),
            json!("qwen3_5_moe"),
            json!("deepseek_v3"),
            json!("nemotron_h"),
            json!("gemma4"),
            json!("M*E-"),
            json!("re:(a|b)*.*+"),
        ]),
    ]
}

/// Puts a stranger at a place of the tree.
fn replace(value: &mut Value, path: &[prop::sample::Index], stranger: &Value) {
    let Some((first, rest)) = path.split_first() else {
        *value = stranger.clone();
        return;
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            let place = first.index(map.len());
            if let Some(inner) = map.values_mut().nth(place) {
                replace(inner, rest, stranger);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let place = first.index(list.len());
            replace(&mut list[place], rest, stranger);
        }
        other => *other = stranger.clone(),
    }
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
    #![proptest_config(ProptestConfig::with_cases(cases()))]

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

    #[test]
    fn no_strange_value_panics(
        sample in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        edits in prop::collection::vec(
            (prop::collection::vec(any::<prop::sample::Index>(), 1..4), stranger()), 1..8),
    ) {
        let text = &samples()[sample.index(samples().len())];
        let Ok(mut config) = serde_json::from_str::<Value>(text) else { return Ok(()) };
        for (path, stranger) in edits {
            replace(&mut config, &path, &stranger);
        }
        let record = &samples()[other.index(samples().len())];
        for record in [None, Some(record.as_str())] {
            let (model, issues) = import(&config.to_string(), record);
            prop_assert_eq!(model.is_some(), !issues.iter().any(Issue::is_error));
            if let Some(model) = model {
                prop_assert!(model.parameters().is_finite() && model.objections().is_empty());
                prop_assert!(model.layers() > 0 && model.active_parameters() <= model.parameters());
            }
        }
    }
}
