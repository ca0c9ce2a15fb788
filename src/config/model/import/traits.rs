//! Architectures this release does not count, recognised by what their config says.

use super::family::{Family, Window};
use crate::config::issue::excerpt;
use crate::config::json::{Json, Object};
use crate::units::decimal;

/// Every trait of `text` that a dense decoder with full attention does not have, in words. Empty for
/// one whose forward pass is counted.
///
/// `top` is the whole file and `text` the language model's part of it.
pub fn uncovered(top: &Object, text: &Object, family: Option<Family>) -> Vec<String> {
    let found = [
        not_a_decoder(top),
        experts(text),
        latent_attention(text),
        sparse_attention(text),
        state_space(text),
        linear_attention(text),
        sliding_window(text, family),
        uneven_layers(text),
        activation(text),
    ];
    found.into_iter().flatten().collect()
}

fn not_a_decoder(top: &Object) -> Option<String> {
    if top.flag("is_encoder_decoder") == Some(true) {
        return Some("encoder-decoder (`is_encoder_decoder`)".into());
    }
    let name = top.list("architectures")?.first()?.as_text()?;
    let generates = name.ends_with("ForCausalLM") || name.ends_with("ForConditionalGeneration");
    (!generates).then(|| format!("no text generation (`architectures` is {})", excerpt(name)))
}

fn experts(text: &Object) -> Option<String> {
    let keys = ["n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"];
    let count = keys.iter().filter_map(|key| text.number(key)).find(|count| *count > 1.0)?;
    Some(format!("mixture of experts ({} experts)", decimal(count)))
}

fn latent_attention(text: &Object) -> Option<String> {
    let rank = text.number("kv_lora_rank")?;
    Some(format!("multi-head latent attention (`kv_lora_rank` {})", decimal(rank)))
}

fn sparse_attention(text: &Object) -> Option<String> {
    if let Some(list) = text.list("compress_ratios") {
        let layers = list.iter().filter(|ratio| !matches!(ratio, Json::Number(0.0))).count();
        return Some(format!("sparse attention over compressed keys ({layers} of {} layers)", list.len()));
    }
    if let Some(top) = text.number("index_topk") {
        return Some(format!("sparse attention with an indexer (`index_topk` {})", decimal(top)));
    }
    let blocks = text.object("sparse_attention_config")?;
    Some(match blocks.number("sparse_topk_blocks") {
        Some(top) => format!("block-sparse attention (`sparse_topk_blocks` {})", decimal(top)),
        None => "block-sparse attention (`sparse_attention_config`)".into(),
    })
}

fn state_space(text: &Object) -> Option<String> {
    let share = if let Some(pattern) = text.text("hybrid_override_pattern") {
        Some((pattern.chars().filter(|layer| *layer == 'M').count(), pattern.chars().count()))
    } else {
        let kinds = text.list("layers_block_type");
        kinds.map(|kinds| (kinds.iter().filter(|kind| kind.as_text() == Some("mamba")).count(), kinds.len()))
    };
    match share {
        Some((0, _)) | None => {
            let state = text.number("ssm_state_size").or_else(|| text.number("mamba_d_state"))?;
            Some(format!("Mamba layers (state size {})", decimal(state)))
        }
        Some((layers, all)) => Some(format!("Mamba layers ({layers} of {all})")),
    }
}

fn linear_attention(text: &Object) -> Option<String> {
    if let Some((layers, all)) = layers_of_type(text, "linear_attention") {
        return Some(format!("linear attention ({layers} of {all} layers)"));
    }
    let config = text.object("linear_attn_config")?;
    Some(match config.list("kda_layers") {
        Some(layers) => format!("linear attention ({} layers)", layers.len()),
        None => "linear attention (`linear_attn_config`)".into(),
    })
}

fn sliding_window(text: &Object, family: Option<Family>) -> Option<String> {
    let window = text.number("sliding_window").or_else(|| text.number("sliding_window_size"));
    if let Some((layers, all)) = layers_of_type(text, "sliding_attention").or_else(|| window_pattern(text)) {
        let size = window.map(|size| format!("window {}, ", decimal(size))).unwrap_or_default();
        return Some(format!("sliding-window attention ({size}{layers} of {all} layers)"));
    }
    let size = match family.map_or(Window::Given, |family| family.window) {
        Window::Flagged if text.flag("use_sliding_window") != Some(true) => None,
        Window::Default(size) if !text.mentions("sliding_window") => Some(f64::from(size)),
        _ if text.flag("use_sliding_window") == Some(false) => None,
        _ => window,
    };
    let context = text.number("max_position_embeddings").unwrap_or(f64::INFINITY);
    if let Some(size) = size.filter(|size| *size < context) {
        return Some(format!("sliding-window attention (window {})", decimal(size)));
    }
    let chunk = text.number("attention_chunk_size")?;
    Some(format!("chunked local attention ({} tokens)", decimal(chunk)))
}

/// Layers named `kind` in `layer_types`, and all of them.
fn layers_of_type(text: &Object, kind: &str) -> Option<(usize, usize)> {
    let types = text.list("layer_types")?;
    let count = types.iter().filter(|layer| layer.as_text() == Some(kind)).count();
    (count > 0).then_some((count, types.len()))
}

/// MiMo-V2 marks the layers that slide with a one.
fn window_pattern(text: &Object) -> Option<(usize, usize)> {
    let pattern = text.list("hybrid_layer_pattern")?;
    let count = pattern.iter().filter(|layer| matches!(layer, Json::Number(1.0))).count();
    (count > 0).then_some((count, pattern.len()))
}

fn uneven_layers(text: &Object) -> Option<String> {
    let layers = text.list("block_configs")?;
    Some(format!("layers of different shapes (`block_configs`, {} layers)", layers.len()))
}

fn activation(text: &Object) -> Option<String> {
    let keys = ["hidden_act", "hidden_activation", "mlp_hidden_act"];
    let name = keys.iter().find_map(|key| text.text(key))?;
    (!matches!(name, "silu" | "swish")).then(|| format!("{} activation", excerpt(name)))
}
