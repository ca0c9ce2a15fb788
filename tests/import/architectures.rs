//! What a config says about the architecture.

use rooflight::config::model::import::import;
use rooflight::config::model::{Attention, Blocks, Ffn, GqaTrait};
use rooflight::config::{Model, Severity};
use serde_json::{Value, json};

use super::{QWEN3, accepted, changed, refused};

#[test]
fn unknown_architectures_are_refused_by_name() {
    let one = |change: Value| refused(&changed(change)).join("\n");
    assert!(
        one(json!({"model_type": "grok", "attn_output_multiplier": 0.088}))
            .starts_with("`model_type` grok is not supported; it cannot be read as a plain decoder because of `attn_output_multiplier`")
    );
    assert_eq!(
        one(json!({"architectures": ["Qwen3ForSequenceClassification"]})),
        "`model_type` qwen3 with `architectures` Qwen3ForSequenceClassification: only models that generate text are supported"
    );
    assert!(one(json!({"hidden_act": "gelu"})).contains("gelu activation"));
    assert!(one(json!({"num_experts": 64})).contains("mixture of experts (`num_experts` 64)"));
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
fn the_language_part_of_a_vision_model_is_read() {
    let text: Value = serde_json::from_str(QWEN3).unwrap();
    let config = json!({"model_type": "qwen3_vl", "text_config": text, "vision_config": {"depth": 27}});
    let (model, issues) = import(&config.to_string(), None);
    assert_eq!(model.map(|model| model.layers()), Some(36));
    assert!(issues[0].text.contains("vision encoder") && issues[0].severity == Severity::Warning);
}

#[test]
fn compressed_keys_are_read_layer_by_layer() {
    let config = json!({
        "model_type": "deepseek_v4", "num_hidden_layers": 4, "compress_ratios": [0, 4, 128, 4, 0], "head_dim": 512,
        "qk_rope_head_dim": 64, "q_lora_rank": 1024, "sliding_window": 128, "o_groups": 8, "o_lora_rank": 1024,
        "index_n_heads": 64, "index_head_dim": 128, "index_topk": 512, "hc_mult": 4, "n_routed_experts": 16,
        "num_experts_per_tok": 6, "moe_intermediate_size": 2048, "n_shared_experts": 1,
    });
    let with = |change: Value| {
        let mut config = config.clone();
        for (key, value) in change.as_object().unwrap() {
            config[key] = value.clone();
        }
        config
    };
    let model = accepted(config.clone());
    let of = |blocks: &Blocks| match &blocks.attention {
        Some(Attention::Compressed(one)) => (blocks.count, one.ratio, one.indexer.map(|index| index.topk)),
        other => panic!("{other:?}"),
    };
    let layers: Vec<_> = model.blocks.iter().map(of).collect();
    assert_eq!(layers, [(1, None, None), (2, Some(4), Some(512)), (1, Some(128), None)]);
    assert!(model.blocks.iter().all(|blocks| blocks.streams == Some(4)));
    assert!(model.notes[0].starts_with("No kernel"), "{:?}", model.notes);

    let one = |change: Value| refused(&changed(with(change))).join("\n");
    assert!(one(json!({"compress_ratios": [0, 4]})).contains("`compress_ratios` has 2 entries"));
    assert!(one(json!({"compress_ratios": [0, 4, -1, 4]})).contains("`compress_ratios[2]` is -1"));
    assert!(one(json!({"compress_ratios": null})).contains("`compress_ratios` is missing"));
    assert!(one(json!({"o_groups": 5})).contains("must be a multiple of `o_groups`"));
    assert!(
        one(json!({"qk_rope_head_dim": 512, "head_dim": 256}))
            .contains("(512) is larger than `head_dim` (256)")
    );
    // Another family does not have them.
    let other = one(json!({"model_type": "qwen3", "q_lora_rank": null}));
    assert!(other.contains("sparse attention over compressed keys"), "{other}");
}

#[test]
fn chosen_blocks_of_keys_are_read() {
    let sparse = json!({
        "sparse_attention_freq": (0..36).map(|layer| u32::from(layer > 2)).collect::<Vec<u32>>(),
        "sparse_num_index_heads": 8, "sparse_index_dim": 128, "sparse_block_size": 128, "sparse_topk_blocks": 16,
    });
    let config = |sparse: Value| {
        json!({
            "model_type": "minimax_m3", "hidden_act": "swigluoai", "num_local_experts": 16, "num_experts_per_tok": 4,
            "moe_intermediate_size": 3072, "dense_intermediate_size": 12288, "sparse_attention_config": sparse,
        })
    };
    let model = accepted(config(sparse.clone()));
    let of = |blocks: &Blocks| match &blocks.attention {
        Some(Attention::Gqa(gqa)) => (blocks.count, gqa.visible()),
        other => panic!("{other:?}"),
    };
    let layers: Vec<_> = model.blocks.iter().map(of).collect();
    assert_eq!(layers, [(3, None), (33, Some(2048))]);
    let mut short = sparse.clone();
    short["sparse_attention_freq"] = json!([0, 1]);
    let text = refused(&changed(config(short))).join("\n");
    assert!(text.contains("`sparse_attention_config.sparse_attention_freq` has 2 entries"), "{text}");
    let text = refused(&changed(json!({"sparse_attention_config": sparse}))).join("\n");
    assert!(text.contains("block-sparse attention (`sparse_topk_blocks` 16)"), "{text}");
}

#[test]
fn layers_that_attend_to_images_are_read_by_number() {
    let config = |layers: Value| json!({"model_type": "mllama_text_model", "cross_attention_layers": layers});
    let crosses = |blocks: &Blocks| (blocks.count, blocks.has(GqaTrait::Cross));
    let model = accepted(config(json!([3, 8, 35])));
    assert_eq!(model.blocks.iter().map(crosses).collect::<Vec<_>>(), [(33, false), (3, true)]);
    assert!(model.encoder.is_none() && model.notes[0].ends_with("the vision encoder is left out."));
    for (layers, what) in [
        (json!(null), "`cross_attention_layers` is missing"),
        (json!([3, 36]), "does not have (36)"),
        (json!([3, 3]), "layer 3 twice"),
        (json!([1.5]), "does not have (1.5)"),
        (json!(["3"]), "`cross_attention_layers[0]` is \"3\""),
    ] {
        let text = refused(&changed(config(layers))).join("\n");
        assert!(text.contains(what), "{text}");
    }
    // No layer that reads images has a window.
    let mut windowed = config(json!([3]));
    windowed["sliding_window"] = json!(512);
    assert!(refused(&changed(windowed)).join("\n").contains("`sliding_window`"));
    let text = refused(&changed(json!({"cross_attention_layers": [3]}))).join("\n");
    assert!(text.contains("cross-attention (`cross_attention_layers`, 1 layers)"), "{text}");
}

#[test]
fn mlps_without_a_gate_are_told_apart() {
    let gates = |model: &Model| -> Vec<bool> {
        let of = |blocks: &Blocks| match blocks.ffn.as_ref()? {
            Ffn::Dense(dense) => Some(dense.gated()),
            Ffn::Moe(moe) => Some(moe.gated() && moe.shared().is_none_or(|shared| shared.gated())),
        };
        model.blocks.iter().filter_map(of).collect()
    };
    assert_eq!(gates(&accepted(json!({}))), [true]);
    let hybrid = json!({
        "model_type": "nemotron_h", "hidden_act": null, "mlp_hidden_act": "relu2", "num_hidden_layers": 3,
        "hybrid_override_pattern": "*-E", "n_routed_experts": 16, "num_experts_per_tok": 4,
        "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712,
    });
    assert_eq!(gates(&accepted(hybrid)), [false, false]);
    // An activation that the family's MLPs do not have says nothing of a gate: refused, not guessed.
    for name in ["relu2", "gelu", "gelu_pytorch_tanh"] {
        let text = refused(&changed(json!({"hidden_act": name}))).join("\n");
        assert!(text.contains(&format!("{name} activation")), "{text}");
    }
}
