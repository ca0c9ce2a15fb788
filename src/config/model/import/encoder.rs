//! The vision encoder and its projector: patches, blocks, positions, and the projection.

use serde_json::Value;

use crate::config::model::Vision;

/// Parameters according to `vision_config`, and the shape if it is given there too; `None` without that config, or if
/// the kind of encoder is unknown.
///
/// Biases and norms are left out: less than 0.1 % of any encoder.
pub fn read(top: &Value, text_hidden: u32) -> Option<(u32, Option<Vision>)> {
    let (owner, vision) = [top, &top["thinker_config"]].into_iter().find_map(|owner| {
        Some((owner, Some(&owner["vision_config"]).filter(|vision| vision.is_object())?))
    })?;
    let number = |keys: &[&str]| keys.iter().find_map(|key| vision[*key].as_f64());
    let (width, layers, patch) = (
        number(&["embed_dim", "vt_hidden_size", "hidden_size"])?,
        number(&["depth", "vt_num_hidden_layers", "num_hidden_layers"])?
            // Llama 3.2 has further layers over all tiles of an image.
            + number(&["num_global_layers"]).unwrap_or(0.0),
        number(&["patch_size"])?,
    );
    let inner = number(&["intermediate_size", "vt_intermediate_size"]);
    let inner = inner.or_else(|| Some(number(&["mlp_ratio"])? * width))?;
    let places = number(&["image_size"]).map(|size| (size / patch).powi(2));
    let text = f64::from(text_hidden);
    let kind = vision["model_type"].as_str().or(owner["model_type"].as_str())?;
    let mut shape = Vision {
        layers: layers as u32,
        hidden: width as u32,
        heads: number(&["num_heads", "vt_num_attention_heads", "num_attention_heads"]).unwrap_or(0.0) as u32,
        intermediate: inner as u32,
        ungated: (vision["hidden_act"] != "silu").then_some(true),
        patch: patch as u32,
        frames: number(&["temporal_patch_size"]).unwrap_or(1.0) as u32,
        projectors: 1,
        ..Vision::default()
    };
    // Patches per side that become one token, and the widths through the projector.
    let (side, widths) = match kind {
        // A merger, and another one for each further layer whose result is used.
        _ if kind.starts_with("qwen") => {
            shape.projectors += vision["deepstack_visual_indexes"].as_array().map_or(0, Vec::len) as u32;
            let side = number(&["spatial_merge_size"])?;
            let to = number(&["out_hidden_size"]).or_else(|| number(&["hidden_size"]))?;
            (side, vec![width * side * side, width * side * side, to])
        }
        "kimi_k25" => (2.0, vec![width * 4.0, width * 4.0, text]),
        // Averages over as many patches as leave this number of tokens.
        "siglip_vision_model" => {
            let tokens = owner["mm_tokens_per_image"].as_f64();
            shape.tokens = tokens.map(|tokens| tokens as u32);
            (tokens.map_or(0.0, |tokens| (places.unwrap_or(0.0) / tokens).sqrt()), vec![width, text])
        }
        "pixtral" => {
            let side = owner["spatial_merge_size"].as_f64().unwrap_or(1.0);
            (side, vec![width * side * side, width, text, text])
        }
        "llama4_vision_model" => {
            let (from, to) = (number(&["projector_input_dim"])?, number(&["projector_output_dim"])?);
            (2.0, vec![width * 4.0, from, to, text])
        }
        // Cross-attention reads the result, which makes no tokens: without a shape, images have no time.
        "mllama_vision_model" => (0.0, vec![number(&["vision_output_dim"])?, text]),
        _ => return None,
    };
    shape.merge = (side * side).round() as u32;
    shape.projector = widths.into_iter().map(|width| width as u32).collect();
    let positions = positions(kind, vision, places)?;
    // Images and tiles of a fixed size are encoded separately; Qwen2.5-VL uses windows in all but some layers.
    let all = vision["fullatt_block_indexes"].as_array().map(|whole| layers - whole.len() as f64);
    let (window, windowed) = match kind {
        "siglip_vision_model" | "llama4_vision_model" => (places, Some(layers)),
        _ => (all.and(number(&["window_size"])).map(|side| (side / patch).powi(2)), all),
    };
    shape.window = window.map(|patches| patches as u32);
    shape.windowed = shape.window.and(windowed).map(|layers| layers as u32);
    let all = shape.per_patch() + shape.per_token() + positions * width;
    let is_whole = shape.heads > 0 && shape.merge > 0;
    (1e6..4e9).contains(&all).then_some((all as u32, Some(shape).filter(|_| is_whole)))
}

/// Learned position vectors of a kind of encoder; `places` are the patches of an image of a fixed size.
fn positions(kind: &str, vision: &Value, places: Option<f64>) -> Option<f64> {
    let number = |key: &str| vision[key].as_f64();
    Some(match kind {
        "kimi_k25" => number("init_pos_emb_height")? * number("init_pos_emb_width")?,
        "siglip_vision_model" => places?,
        "pixtral" => 0.0,
        "llama4_vision_model" => places? + 1.0,
        // Positions within a tile, and of all tiles for each aspect ratio of an image, or none.
        "mllama_vision_model" => {
            let ratios = vision["supported_aspect_ratios"].as_array()?.len() as f64 + 1.0;
            (places? + 1.0) * (1.0 + number("max_num_tiles")? * ratios)
        }
        _ => number("num_position_embeddings").unwrap_or(0.0),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read;

    #[test]
    fn encoders_have_their_published_sizes() {
        // Published parameters of the whole model minus those of the language model, in millions.
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
            let found = f64::from(read(&top, text).expect("known").0) / 1e6;
            assert!((found / published - 1.0).abs() < 0.005, "{found} of {published}: {top}");
        }
        assert_eq!(read(&Value::Null, 1), None);
        assert_eq!(
            read(
                &json!({"vision_config": {"model_type": "new", "depth": 1, "hidden_size": 1, "patch_size": 1}}),
                1
            ),
            None
        );
    }

    #[test]
    fn the_shape_is_read_where_all_of_it_is_given() {
        let text = "{\"vision_config\": {\"model_type\": \"qwen2_5_vl\", \"depth\": 32, \"hidden_act\": \"silu\", \"hidden_size\": 1280, \
            \"intermediate_size\": 3420, \"num_heads\": 16, \"out_hidden_size\": 3584, \"patch_size\": 14, \"spatial_merge_size\": 2, \
            \"temporal_patch_size\": 2, \"window_size\": 112, \"fullatt_block_indexes\": [7, 15, 23, 31]}}";
        let mut top: Value = serde_json::from_str(text).expect("JSON");
        let (all, vision) = read(&top, 3584).expect("known");
        let vision = vision.expect("a shape");
        // Windows of 8 x 8 patches in all layers but four.
        assert_eq!(
            (vision.window, vision.windowed, vision.merge, vision.tokens),
            (Some(64), Some(28), 4, None)
        );
        assert_eq!(vision.projector, [5120, 5120, 3584]);
        assert_eq!(f64::from(all), vision.per_patch() + vision.per_token());
        top["vision_config"]["num_heads"] = Value::Null;
        assert_eq!(read(&top, 3584), Some((all, None)));

        let tower = json!({"model_type": "siglip_vision_model", "hidden_size": 1152, "image_size": 896, "intermediate_size": 4304,
            "num_hidden_layers": 27, "patch_size": 14, "num_attention_heads": 16});
        let gemma3 = json!({"vision_config": tower, "mm_tokens_per_image": 256});
        let vision = read(&gemma3, 5376).and_then(|(_, vision)| vision).expect("a shape");
        assert_eq!((vision.window, vision.merge, vision.tokens), (Some(4096), 16, Some(256)));
        assert_eq!(read(&json!({"vision_config": tower}), 5376).map(|(_, vision)| vision), Some(None));
    }
}
