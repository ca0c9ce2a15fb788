//! Decoders like GPT-2: LayerNorm, biases, a two-projection MLP, multi-head attention without groups.

use super::decoders::{GELU, LAYER_NORM, OLD, PARALLEL, TIED};
use super::family::{Family, QkvBias, Width};

const CLASSIC: Family = Family {
    qkv_bias: QkvBias::Always,
    gated: false,
    activations: &GELU,
    width: Width::Multiple,
    defaults: TIED,
    notes: &[LAYER_NORM],
    ..OLD
};
pub static CLASSICS: [Family; 10] = [
    Family { model_type: "phi", defaults: "{}", notes: &[LAYER_NORM, PARALLEL], ..CLASSIC },
    Family {
        model_type: "gptj",
        qkv_bias: QkvBias::Never,
        defaults: "{}",
        notes: &[LAYER_NORM, PARALLEL],
        ..CLASSIC
    },
    Family {
        model_type: "gpt_neox",
        defaults: "{}",
        idle: &["use_parallel_residual"],
        notes: &[LAYER_NORM, PARALLEL],
        ..CLASSIC
    },
    Family {
        model_type: "falcon",
        qkv_bias: QkvBias::Key,
        // The defaults of `FalconConfig`.
        defaults: r#"{"tie_word_embeddings":true,"multi_query":true,"max_position_embeddings":2048}"#,
        idle: &["parallel_attn", "alibi", "num_ln_in_parallel_attn"],
        notes: &[LAYER_NORM, PARALLEL],
        ..CLASSIC
    },
    Family {
        model_type: "bloom",
        // Positions are biases, so no table limits the context: engines use the training length.
        defaults: r#"{"tie_word_embeddings":true,"max_position_embeddings":2048}"#,
        idle: &[
            "offset_alibi",
            "bias_dropout_fusion",
            "skip_bias_add",
            "skip_bias_add_qkv",
            "slow_but_exact",
        ],
        ..CLASSIC
    },
    Family {
        model_type: "mpt",
        qkv_bias: QkvBias::Never,
        idle: &[
            "attn_config.alibi",
            "attn_config.alibi_bias_max",
            "attn_config.attn_impl",
            "attn_config.attn_type=multihead_attention",
            "attn_config.clip_qkv",
            "embedding_fraction",
            "learned_pos_emb",
            "no_bias",
            "norm_type",
        ],
        ..CLASSIC
    },
    Family {
        model_type: "opt",
        activations: &["relu"],
        positions: Some(2),
        idle: &["do_layer_norm_before", "enable_bias"],
        ..CLASSIC
    },
    Family { model_type: "gpt2", positions: Some(0), ..CLASSIC },
    Family {
        model_type: "gpt_bigcode",
        positions: Some(0),
        defaults: r#"{"tie_word_embeddings":true,"multi_query":true}"#,
        idle: &["pad_key_length", "validate_runner_input"],
        ..CLASSIC
    },
    Family {
        model_type: "starcoder2",
        defaults: r#"{"tie_word_embeddings":true,"attention_bias":true}"#,
        qkv_bias: QkvBias::Key,
        idle: &["mlp_type=default", "norm_type"],
        ..CLASSIC
    },
];
