//! Config keys that nothing reads: harmless ones, known by name, and reasons to refuse.

use serde_json::Value;

use super::fields::Fields;
use crate::config::excerpt;

/// Names that change no count; after a star, name fragments: token ids, training, numerics, generation, routing,
/// files, and what is read elsewhere.
const IDLE: &str = "model_type architectures hidden_act hidden_activation mlp_hidden_act expert_dtype quantization_config \
    compression_config attn_type_list attn_res_block_size output_gate_type activation_function \
    source auto_map id2label label2id task_specific_params _from_model_config prefix use_cache \
    cache_implementation pretraining_tp ep_size max_length num_return_sequences return_dict \
    return_dict_in_generate do_sample temperature top_k top_p typical_p output_attentions \
    output_hidden_states output_scores num_logits_to_keep n_group topk_group num_expert_group \
    use_grouped_topk seq_aux moe_renormalize swiglu_alpha swiglu_limit activation_situ_beta \
    activation_situ_linear_beta mamba_hidden_act use_mamba_kernels use_conv_bias rescale_prenorm_residual \
    hc_sinkhorn_iters original_max_position_embeddings for_llm_compressor attention_value_scale \
    scale_attn_weights clip_qkv embedding_multiplier attention_multiplier residual_multiplier logits_scaling \
    query_pre_attn_scalar use_bidirectional_attention max_window_layers \
    *_token_i *drop *_eps *rope_theta *rope_parameters *rope_interleave *original_rope *mrope *rotary *init \
    *softcap *softmax *loss *dtype *fp32 *jitter *beam *penalty *routed_scaling *router *routing *scoring \
    *topk_method *norm_topk *transformers *tokenizer *attn_impl *name_or_path *summary_ *logit_scale \
    *suppress_tokens *vision_ *audio_ *time_step *unsloth *mtp_hybrid *mtp_layers";

/// Whether a key changes no count in any family.
pub fn idle(key: &str) -> bool {
    let fits = |name: &str| match name.strip_prefix('*') {
        Some(part) => key.contains(part),
        None => name == key,
    };
    key.starts_with("rope") || key.ends_with("_id") || IDLE.split(' ').any(fits)
}

/// Whether a value is equivalent to leaving the key out.
pub fn off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(true) => false,
    }
}

/// Keys that were not read and may change a count. `extra` lists keys without effect in this family, with `=` if
/// only for one value.
pub fn unread(fields: &Fields<'_>, extra: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    within(fields, extra, "", fields.object(), &mut found);
    found
}

fn within(fields: &Fields<'_>, extra: &[&str], path: &str, object: &Value, found: &mut Vec<String>) {
    for (key, value) in object.as_object().into_iter().flatten() {
        let full = format!("{path}{key}");
        if off(value) || idle(key) || extra.iter().any(|rule| allows(rule, &full, value)) {
            continue;
        }
        let inner = format!("{full}.");
        if value.is_object() && fields.asked_within(&inner) {
            within(fields, extra, &inner, value, found);
        } else if !fields.was_read(&full) {
            found.push(format!("`{}`", excerpt(&full)));
        }
    }
}

fn allows(rule: &str, key: &str, value: &Value) -> bool {
    match rule.split_once('=') {
        None => rule == key,
        Some((name, only)) => {
            let number = value.as_f64();
            name == key && (value.as_str() == Some(only) || number.is_some() && number == only.parse().ok())
        }
    }
}
