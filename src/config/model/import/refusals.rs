//! Refused models: those that do not generate text, and those with parts that are not counted.

use serde_json::Value;

use super::family::{Mixers, ModelFamily};
use crate::config::excerpt;
use crate::units::decimal;

/// Every trait of `text` that is not in its family or has no kernel, in words. Empty for a model whose forward pass
/// is counted.
///
/// `top` is the whole file and `text` the language model's part of it.
pub fn uncovered(top: &Value, text: &Value, family: Option<&'static ModelFamily>) -> Vec<String> {
    // Each of these alone is reason enough.
    if let Some(reason) = encoder_decoder(top).or_else(|| sparse_attention(text, family)) {
        return vec![reason];
    }
    let mixers = family.map(|family| family.mixers);
    let found = [
        experts(text, family),
        latent_attention(text, family),
        state_space(text, mixers),
        linear_attention(text, mixers),
        local_attention(text, mixers),
        uneven_layers(text, mixers),
        cross_attention(text, mixers),
    ];
    let mut found: Vec<String> = found.into_iter().flatten().chain(shared_parts(text)).collect();
    // In an unknown family, an activation adds little to the other reasons.
    found.extend(activation(text, family).filter(|_| family.is_some() || found.is_empty()));
    found
}

fn encoder_decoder(top: &Value) -> Option<String> {
    // Multimodal decoders are `ForConditionalGeneration` too.
    const TEXT_TO_TEXT: [&str; 4] = ["T5", "MT5", "UMT5", "Bart"];
    let name = top["architectures"][0].as_str().unwrap_or_default();
    let family = name.strip_suffix("ForConditionalGeneration");
    if family.is_some_and(|family| TEXT_TO_TEXT.contains(&family)) {
        return Some(format!("encoder-decoder (`architectures` {name})"));
    }
    (top["is_encoder_decoder"] == true).then(|| "encoder-decoder (`is_encoder_decoder`)".into())
}

/// What an encoder or a classifier is refused with, whatever else its family has.
pub fn no_text(top: &Value) -> Option<String> {
    let name = top["architectures"][0].as_str()?;
    // The last is ChatGLM's.
    let generating = ["ForCausalLM", "ForConditionalGeneration", "LMHeadModel", "GLMModel"];
    let generates = generating.iter().any(|end| name.ends_with(end));
    (!generates)
        .then(|| format!("`architectures` {}: only models that generate text are supported", excerpt(name)))
}

/// Kinds of sparse attention outside the family. Latent attention with an indexer is supported.
fn sparse_attention(text: &Value, family: Option<&'static ModelFamily>) -> Option<String> {
    let mixers = family.map(|family| family.mixers);
    if let Some(list) = text["compress_ratios"].as_array()
        && mixers != Some(Mixers::Compressed)
    {
        let layers = list.iter().filter(|ratio| ratio.as_f64() != Some(0.0)).count();
        let all = list.len();
        return Some(format!(
            "sparse attention over compressed keys (`compress_ratios`, {layers} of {all} layers)"
        ));
    }
    if text["sparse_attention_config"].is_object()
        && family.is_none_or(|family| family.model_type != "minimax_m3")
    {
        return Some(match text["sparse_attention_config"]["sparse_topk_blocks"].as_f64() {
            Some(top) => format!("block-sparse attention (`sparse_topk_blocks` {})", decimal(top)),
            None => "block-sparse attention (`sparse_attention_config`)".into(),
        });
    }
    let known = text["kv_lora_rank"].as_f64().is_some() || mixers == Some(Mixers::Compressed);
    let top = text["index_topk"].as_f64().filter(|_| !known)?;
    Some(format!("sparse attention with an indexer (`index_topk` {})", decimal(top)))
}

/// Experts, if the family has none.
fn experts(text: &Value, family: Option<&'static ModelFamily>) -> Option<String> {
    if family.is_some_and(|family| family.experts.is_some()) {
        return None;
    }
    let keys = ["n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"];
    let counts = keys.iter().filter_map(|key| Some((key, text[key].as_f64()?)));
    let (key, count) = counts.into_iter().find(|(_, count)| *count > 1.0)?;
    Some(format!("mixture of experts (`{key}` {})", decimal(count)))
}

fn latent_attention(text: &Value, family: Option<&'static ModelFamily>) -> Option<String> {
    if family.is_some_and(ModelFamily::latent) {
        return None;
    }
    let rank = text["kv_lora_rank"].as_f64()?;
    Some(format!("multi-head latent attention (`kv_lora_rank` {})", decimal(rank)))
}

fn state_space(text: &Value, mixers: Option<Mixers>) -> Option<String> {
    if matches!(mixers, Some(Mixers::Single | Mixers::MambaHeads | Mixers::ParallelMamba)) {
        return None;
    }
    let sizes = ["ssm_state_size", "mamba_d_state"].into_iter();
    let (key, state) = sizes.filter_map(|key| Some((key, text[key].as_f64()?))).next()?;
    Some(format!("Mamba layers (`{key}` {})", decimal(state)))
}

fn linear_attention(text: &Value, mixers: Option<Mixers>) -> Option<String> {
    if matches!(mixers, Some(Mixers::DeltaHeads | Mixers::DeltaLatent)) {
        return None;
    }
    if let Some(types) = text["layer_types"].as_array() {
        let layers = types.iter().filter(|layer| layer.as_str() == Some("linear_attention")).count();
        if layers > 0 {
            return Some(format!("linear attention (`layer_types`, {layers} of {} layers)", types.len()));
        }
    }
    // MiniMax: 0 for a layer of lightning attention.
    if let Some(types) = text["attn_type_list"].as_array()
        && mixers != Some(Mixers::Lightning)
    {
        let layers = types.iter().filter(|kind| **kind == 0).count();
        if layers > 0 {
            return Some(format!("linear attention (`attn_type_list`, {layers} of {} layers)", types.len()));
        }
    }
    text["linear_attn_config"].as_object().map(|_| "linear attention (`linear_attn_config`)".into())
}

/// Windows and chunks that only specific families support.
fn local_attention(text: &Value, mixers: Option<Mixers>) -> Option<String> {
    if text["hybrid_layer_pattern"].as_array().is_some() && mixers != Some(Mixers::Swa) {
        return Some("sliding-window layers by a pattern (`hybrid_layer_pattern`)".into());
    }
    let chunk = text["attention_chunk_size"].as_f64()?;
    let known = matches!(mixers, Some(Mixers::Chunks | Mixers::Swa));
    (!known).then(|| format!("chunked local attention (`attention_chunk_size` {})", decimal(chunk)))
}

fn uneven_layers(text: &Value, mixers: Option<Mixers>) -> Option<String> {
    let layers = text["block_configs"].as_array().filter(|_| mixers != Some(Mixers::Listed))?;
    Some(format!("layers of different shapes (`block_configs`, {} layers)", layers.len()))
}

fn cross_attention(text: &Value, mixers: Option<Mixers>) -> Option<String> {
    let layers = text["cross_attention_layers"].as_array().filter(|layers| !layers.is_empty())?;
    if mixers == Some(Mixers::Cross) {
        return None;
    }
    Some(format!("cross-attention (`cross_attention_layers`, {} layers)", layers.len()))
}

/// What Gemma 3n and small Gemma 4 models share between layers or add to them.
fn shared_parts(text: &Value) -> Vec<String> {
    let part = |what: &str, key: &str| {
        let size = text[key].as_f64().filter(|size| *size > 0.0)?;
        Some(format!("{what} (`{key}` {})", decimal(size)))
    };
    let sparse = text["activation_sparsity_pattern"].as_array();
    let sparse =
        sparse.filter(|list| list.iter().any(|share| share.as_f64().is_some_and(|share| share > 0.0)));
    let parts = [
        part("an embedding in every layer", "hidden_size_per_layer_input"),
        part("KV caches shared by layers", "num_kv_shared_layers"),
        part("streams updated in turn", "altup_num_inputs"),
        part("low-rank residuals", "laurel_rank"),
        sparse.map(|_| "sparse activations (`activation_sparsity_pattern`)".into()),
        (text["use_double_wide_mlp"] == true).then(|| "MLPs of two widths (`use_double_wide_mlp`)".into()),
    ];
    parts.into_iter().flatten().collect()
}

fn activation(text: &Value, family: Option<&'static ModelFamily>) -> Option<String> {
    let keys = ["hidden_act", "hidden_activation", "mlp_hidden_act", "activation_function"];
    let (key, name) = keys.iter().find_map(|key| Some((key, text[key].as_str()?)))?;
    let known = &family.unwrap_or(ModelFamily::plain()).activations;
    (!known.iter().any(|activation| activation == name))
        .then(|| format!("{} activation (`{key}`)", excerpt(name)))
}
