//! Formats of weights.

use rooflight::config::catalog::catalog;
use rooflight::config::link::Link;
use rooflight::config::model::Formats;
use rooflight::config::model::import::import;
use rooflight::config::{Dtype, ModelChoice, Scenario, check};
use serde_json::{Value, json};

use super::{QWEN3, accepted, changed, refused};

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
    assert_eq!((small.int4_group, small.format_notes.len()), (Some(32), 1));
    assert!((small.stored_bytes(Dtype::Int4) - 4.5 / 8.0).abs() < 1e-12);
    assert_eq!(accepted(json!({"quantization_config": group(4, "int", 128)})).int4_group, None);
    let (model, _) = import(QWEN3, Some(r#"{"quantization": {"quant_algo": "NVFP4"}}"#));
    assert_eq!(model.map(|model| model.weights), Some(Dtype::Nvfp4));
}

#[test]
fn formats_that_names_give_are_read_from_the_file_too() {
    let read = |config: Value| {
        let (model, issues) = import(&changed(json!({"quantization_config": config})), None);
        (model.unwrap_or_else(|| panic!("{issues:?}")), issues)
    };
    let bnb =
        json!({"quant_method": "bitsandbytes", "load_in_4bit": true, "llm_int8_skip_modules": ["lm_head"]});
    let (model, issues) = read(bnb);
    let by_name = Link::read("m=unsloth/Qwen3-8B-bnb-4bit").1;
    assert_eq!(model.weights, Dtype::Int4);
    assert!(by_name.iter().any(|issue| issue.text == issues[0].text), "{issues:?} {by_name:?}");
    let rounded = json!({"quant_method": "auto-round", "bits": 4, "group_size": 128, "data_type": "int",
        "extra_config": {"lm_head": {"bits": 16}, "model.layers.0.mlp.down_proj": {"bits": 8}}});
    let (model, _) = read(rounded);
    let notes = ["1 of 108 linear layers of MLPs use other formats and are counted as int4."];
    assert_eq!((model.weights, &*model.format_notes), (Dtype::Int4, &notes.map(str::to_owned)[..]));
    let fp8 = json!({"weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}, "input_tensors": {"dtype": "fp8_e4m3"}});
    let quark = |all: &Value, export: Value| {
        json!({"quant_method": "quark", "global_quant_config": all, "layer_quant_config": {"*k_proj": fp8},
            "exclude": ["lm_head"], "export": export})
    };
    let (model, _) = read(quark(&fp8, json!({"kv_cache_group": ["*k_proj"]})));
    assert_eq!((model.weights, model.scaled_cache), (Dtype::Fp8, true));
    let fp4 = json!({"weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32}});
    let (model, _) = read(quark(&fp4, json!({"kv_cache_group": []})));
    assert_eq!((model.weights, model.scaled_cache), (Dtype::Mxfp4, false));
}

#[test]
fn a_quantised_output_head_has_a_note() {
    let notes = |head: bool| {
        let config = json!({"quant_method": "gptq", "bits": 4, "group_size": 128, "lm_head": head});
        accepted(json!({"quantization_config": config})).format_notes
    };
    assert_eq!(notes(true), ["The checkpoint quantises the output head, which is counted in 16 bits."]);
    assert!(notes(false).is_empty());
}

#[test]
fn weight_formats_without_kernels_are_refused_by_name() {
    let one = |config: Value| refused(&changed(json!({"quantization_config": config}))).join("\n");
    let (start, end) = ("`model_type` qwen3 with ", ": not covered by this release");
    let awq = json!({"quant_method": "awq", "bits": 3});
    assert_eq!(one(awq), format!("{start}3-bit weights (`quant_method` awq){end}"));
    let instead = "; remove `quantization_config` to choose another format";
    let other = json!({"quant_method": "bitsandbytes", "load_in_8bit": true});
    assert_eq!(one(other), format!("{start}bitsandbytes weights (`quant_method`{instead}){end}"));
    let other = json!({"quant_method": "hqq", "bits": 2});
    assert_eq!(one(other), format!("{start}2-bit hqq weights (`quant_method`{instead}){end}"));
    let quark = json!({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "int4"}}});
    let text = format!("Quark weights in other formats than FP8 and MXFP4 (`quant_method`{instead})");
    assert_eq!(one(quark), format!("{start}{text}{end}"));
    assert_eq!(one(json!("fp8")), format!("{start}a `quantization_config` that is not an object{end}"));
    let blocks = json!({"quant_method": "fp8", "weight_block_size": [64, 64]});
    assert_eq!(one(blocks), format!("{start}FP8 weights scaled in blocks other than 128x128{end}"));
    let group = json!({"weights": {"num_bits": 2, "type": "int", "group_size": 128}});
    let config = json!({"quant_method": "compressed-tensors", "config_groups": {"group_0": group}});
    assert_eq!(one(config), format!("{start}INT2 weights (`num_bits`){end}"));
    let mixed = json!({"quant_algo": "MIXED_PRECISION"});
    let text = "weights in several formats (`quant_algo` MIXED_PRECISION without a list)";
    assert_eq!(one(mixed), format!("{start}{text}{end}"));
    let dynamic = json!({"quant_method": "gptq", "bits": 4, "dynamic": {"+:.*down.*": {"bits": 8}}});
    let text = "weights in several formats (`dynamic` of `quantization_config`)";
    assert_eq!(one(dynamic), format!("{start}{text}{end}"));
    let odd = json!({"quant_method": "fp8", "modules_to_not_convert": ["re:(?!a)b"]});
    assert_eq!(
        one(odd),
        format!("{start}modules by a regular expression that is not supported (re:(?!a)b){end}")
    );
    let (model, issues) = import(QWEN3, Some(r#"{"quantization": {"quant_algo": "W4A8_AWQ"}}"#));
    assert!(model.is_none());
    assert_eq!(issues[0].text, format!("{start}W4A8_AWQ weights (`quant_algo`){end}"));
    assert!(refused_with_record("{").starts_with("hf_quant_config.json: not JSON"));
}

fn refused_with_record(record: &str) -> String {
    import(QWEN3, Some(record)).1.into_iter().map(|issue| issue.text).collect()
}

#[test]
fn layers_kept_in_bf16_have_a_note() {
    let config = json!({
        "quant_method": "fp8",
        "modules_to_not_convert": ["lm_head", "model.layers.0.mlp.down_proj", "model.layers.0.input_layernorm"],
    });
    let model = accepted(json!({"quantization_config": config}));
    assert_eq!(
        model.format_notes,
        ["1 of 108 linear layers of MLPs use other formats and are counted as fp8."]
    );
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
    let fp8 = json!({"quant_method": "fp8", "ignored_layers": each});
    let model = accepted(json!({"quantization_config": fp8}));
    assert_eq!(model.formats(Dtype::Fp8).attention, Dtype::Bf16, "the key that vLLM reads");
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
fn int8_with_int8_activations_is_served_dense_and_refused_for_experts() {
    let group = json!({"weights": {"num_bits": 8, "type": "int", "strategy": "channel"},
        "input_activations": {"num_bits": 8, "type": "int"}, "targets": ["Linear"]});
    let config = json!({"quant_method": "compressed-tensors", "config_groups": {"group_0": group}, "ignore": ["lm_head"]});
    let model = accepted(json!({"quantization_config": config}));
    assert_eq!(model.weights, Dtype::W8a8);
    // Tensor cores of B300 and V100 have no published INT8 rate.
    let accepts = |gpu: &str| {
        let model = ModelChoice::Custom(Box::new(model.clone()));
        check(&Scenario { model, gpu: gpu.into(), ..Scenario::default() }, catalog()).0.is_some()
    };
    assert_eq!(["a100-sxm-80gb", "h100-sxm", "b300"].map(accepts), [true, true, false]);
    let moe = json!({
        "model_type": "qwen3_moe", "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768,
        "quantization_config": config,
    });
    assert_eq!(refused(&changed(moe)), ["INT8 experts with INT8 activations: not covered by this release"]);
}
