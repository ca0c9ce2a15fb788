//! The weights of a vision encoder and of what projects its result: patches, blocks, positions, and the projection.

use serde_json::Value;

/// Parameters, by `vision_config`; none without one, or of a kind that is not known.
///
/// Biases and norms are left out: less than 0.1 % of any.
pub fn parameters(top: &Value, text_hidden: u32) -> Option<u32> {
    let (owner, vision) = [top, &top["thinker_config"]].into_iter().find_map(|owner| {
        Some((owner, Some(&owner["vision_config"]).filter(|vision| vision.is_object())?))
    })?;
    let number = |keys: &[&str]| keys.iter().find_map(|key| vision[*key].as_f64());
    let (width, layers, patch) = (
        number(&["embed_dim", "vt_hidden_size", "hidden_size"])?,
        number(&["depth", "vt_num_hidden_layers", "num_hidden_layers"])?,
        number(&["patch_size"])?,
    );
    let inner = number(&["intermediate_size", "vt_intermediate_size"]);
    let inner = inner.or_else(|| Some(number(&["mlp_ratio"])? * width))?;
    let projections = if vision["hidden_act"] == "silu" { 3.0 } else { 2.0 };
    let places = number(&["image_size"]).map(|size| (size / patch).powi(2));
    // Patches that become one token, side by side.
    let merged = |side: f64| width * side * side;
    let text = f64::from(text_hidden);
    let kind = vision["model_type"].as_str().or(owner["model_type"].as_str())?;
    let (positions, projector) = match kind {
        // A merger, and one more for each layer whose result is used besides.
        _ if kind.starts_with("qwen") => {
            let further = vision["deepstack_visual_indexes"].as_array().map_or(0, Vec::len);
            let from = merged(number(&["spatial_merge_size"])?);
            let to = number(&["out_hidden_size"]).or_else(|| number(&["hidden_size"]))?;
            (number(&["num_position_embeddings"]).unwrap_or(0.0), (1.0 + further as f64) * from * (from + to))
        }
        "kimi_k25" => {
            let grid = number(&["init_pos_emb_height"])? * number(&["init_pos_emb_width"])?;
            (grid, merged(2.0) * (merged(2.0) + text))
        }
        "siglip_vision_model" => (places?, width * text),
        "pixtral" => {
            let from = merged(owner["spatial_merge_size"].as_f64().unwrap_or(1.0));
            (0.0, from * width + width * text + text * text)
        }
        "llama4_vision_model" => {
            let (from, to) = (number(&["projector_input_dim"])?, number(&["projector_output_dim"])?);
            (places? + 1.0, merged(2.0) * from + from * to + to * text)
        }
        _ => return None,
    };
    let frames = number(&["temporal_patch_size"]).unwrap_or(1.0);
    let blocks = layers * (4.0 * width * width + projections * width * inner);
    let all = 3.0 * frames * patch * patch * width + blocks + positions * width + projector;
    (1e6..4e9).contains(&all).then_some(all as u32)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::parameters;

    #[test]
    fn encoders_have_their_published_sizes() {
        // Published parameters of the whole less those of the language model, in millions.
        let qwen3 = json!({"model_type": "qwen3_vl", "depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "num_position_embeddings": 2304,
            "out_hidden_size": 4096, "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2, "deepstack_visual_indexes": [8, 16, 24]});
        let qwen2 = json!({"model_type": "qwen2_vl", "depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "hidden_size": 3584, "patch_size": 14,
            "spatial_merge_size": 2, "temporal_patch_size": 2});
        let gemma3 = json!({"model_type": "siglip_vision_model", "hidden_size": 1152, "image_size": 896, "intermediate_size": 4304,
            "num_hidden_layers": 27, "patch_size": 14});
        let mistral3 = json!({"model_type": "pixtral", "hidden_act": "silu", "hidden_size": 1024, "image_size": 1540, "intermediate_size": 4096,
            "num_hidden_layers": 24, "patch_size": 14});
        for (vision, text, published) in
            [(qwen3, 4096, 577.0), (qwen2, 3584, 675.0), (gemma3, 5376, 423.0), (mistral3, 5120, 439.0)]
        {
            let top = json!({"vision_config": vision, "spatial_merge_size": 2});
            let found = f64::from(parameters(&top, text).expect("known")) / 1e6;
            assert!((found / published - 1.0).abs() < 0.005, "{found} of {published}: {top}");
        }
        assert_eq!(parameters(&Value::Null, 1), None);
        assert_eq!(
            parameters(
                &json!({"vision_config": {"model_type": "new", "depth": 1, "hidden_size": 1, "patch_size": 1}}),
                1
            ),
            None
        );
    }
}
