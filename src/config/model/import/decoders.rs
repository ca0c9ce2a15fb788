//! Decoders that differ from Llama only in names, defaults and negligible details.

use super::aliases::{MAMBA_NAMES, OLDER};
use super::experts::{EXPERTS, Experts, LOCAL, Shared};
use super::family::{DEEPSEEK, Family, GROUPED, Mixers, PLAIN, QWEN2, QWEN3_MOE, QkNorm, QkvBias, Width};
use crate::config::model::Norms;

pub const LAYER_NORM: &str =
    "LayerNorm is timed as RMSNorm; biases other than those of Q, K and V are not counted.";
pub const PARALLEL: &str = "Attention and MLP that run side by side are counted one after the other, each with its norm and all-reduce.";
const AFTER: &str = "Norms after attention and MLP are timed as norms before them.";
const NO_ROPE: &str = "Layers without a rotary embedding are timed as those with one.";
const SELECTIVE: &str = "The scan of Mamba-1 was not measured: it is timed by its bytes, which is less than it takes on long prompts.";
const LIGHTNING: &str =
    "Lightning attention is counted and timed as a scan of Mamba-2 with matrices of each head's own.";
const CAPPED: &str = "Soft-capped scores are timed as plain ones.";
const ALL_KEYS: &str =
    "Every layer attends to all keys, as SGLang computes the model, not to blocks of them as published.";

pub const TIED: &str = r#"{"tie_word_embeddings":true}"#;
pub const GELU: [&str; 5] = ["gelu", "gelu_new", "gelu_fast", "gelu_tanh", "gelu_pytorch_tanh"];

pub const OLD: Family = Family { names: &OLDER, ..PLAIN };
const GEMMA: Family = Family { model_type: "gemma", activations: &GELU, defaults: TIED, ..GROUPED };
const GEMMA2: Family = Family {
    model_type: "gemma2",
    norms: Norms::Sandwich,
    names: &[
        ("sliding_window_size", "sliding_window"),
        ("_sliding_window_pattern", "sliding_window_pattern"),
    ],
    defaults: r#"{"tie_word_embeddings":true,"sliding_window":4096,"sliding_window_pattern":2}"#,
    notes: &[CAPPED],
    ..GEMMA
};
const GEMMA3: Family = Family {
    model_type: "gemma3",
    qk_norm: QkNorm::Always,
    stretched: true,
    // The defaults of `Gemma3TextConfig`, which Google's configs omit.
    defaults: r#"{"tie_word_embeddings":true,"vocab_size":262208,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,
        "max_position_embeddings":131072,"sliding_window":4096,"sliding_window_pattern":6}"#,
    notes: &[],
    ..GEMMA2
};
const OLMO2: Family =
    Family { model_type: "olmo2", qk_norm: QkNorm::Always, norm_over_heads: true, notes: &[AFTER], ..PLAIN };
const GLM4: Family = Family { model_type: "glm4", norms: Norms::Sandwich, ..GROUPED };
const GLM4_MOE: Family =
    Family { model_type: "glm4_moe", qk_norm: QkNorm::Key, mixers: Mixers::Heads, ..DEEPSEEK };
const HUNYUAN: Family = Family {
    model_type: "hunyuan_v1_dense",
    qk_norm: QkNorm::Key,
    names: &[
        ("attention_head_dim", "head_dim"),
        ("num_experts", "num_experts"),
        ("moe_topk", "num_experts_per_tok"),
        ("moe_intermediate_size", "moe_intermediate_size"),
        ("num_shared_expert", "num_shared_experts"),
    ],
    idle: &[
        "cla_share_factor",
        "dense_list",
        "norm_type",
        "pool_type",
        "org_vocab_size",
        "use_mixed_mlp_moe",
    ],
    ..GROUPED
};
const MINICPM: Family = Family {
    model_type: "minicpm",
    defaults: TIED,
    idle: &["scale_emb", "scale_depth", "dim_model_base"],
    ..PLAIN
};

pub static DECODERS: [Family; 49] = [
    GEMMA,
    GEMMA2,
    GEMMA3,
    Family { model_type: "gemma3_text", ..GEMMA3 },
    OLMO2,
    Family {
        model_type: "olmo3",
        defaults: r#"{"sliding_window":4096,"sliding_window_pattern":4}"#,
        ..OLMO2
    },
    Family { model_type: "olmo", notes: &[LAYER_NORM], ..PLAIN },
    Family {
        model_type: "olmoe",
        experts: Some(&Experts { width: "intermediate_size", ..EXPERTS }),
        notes: &[],
        ..OLMO2
    },
    Family { model_type: "exaone", ..OLD },
    Family { model_type: "exaone4", qk_norm: QkNorm::Always, notes: &[AFTER, NO_ROPE], ..GROUPED },
    Family {
        model_type: "smollm3",
        idle: &["no_rope_layers", "no_rope_layer_interval"],
        defaults: TIED,
        notes: &[NO_ROPE],
        ..GROUPED
    },
    Family {
        model_type: "seed_oss",
        defaults: r#"{"attention_bias":true}"#,
        idle: &["attention_out_bias"],
        ..GROUPED
    },
    Family {
        model_type: "chatglm",
        idle: &["post_layer_norm", "rmsnorm", "apply_query_key_layer_scaling"],
        ..OLD
    },
    Family { model_type: "glm", ..GROUPED },
    GLM4,
    Family { model_type: "glm4v", ..GLM4 },
    Family { model_type: "glm4v_text", ..GLM4 },
    GLM4_MOE,
    Family { model_type: "glm4v_moe", ..GLM4_MOE },
    Family { model_type: "glm4v_moe_text", ..GLM4_MOE },
    Family { model_type: "dots1", qk_norm: QkNorm::Always, mixers: Mixers::Heads, ..DEEPSEEK },
    HUNYUAN,
    Family {
        model_type: "hunyuan_v1_moe",
        experts: Some(&Experts {
            shared: Shared::Count("num_shared_experts"),
            modules: ("mlp.experts", "mlp.shared_mlp"),
            ..EXPERTS
        }),
        ..HUNYUAN
    },
    Family { model_type: "ernie4_5", defaults: TIED, ..OLD },
    Family {
        model_type: "ernie4_5_moe",
        experts: Some(&Experts {
            count: "moe_num_experts",
            topk: "moe_k",
            shared: Shared::Count("moe_num_shared_experts"),
            ..EXPERTS
        }),
        defaults: TIED,
        names: &[
            ("moe_layer_start_index", "first_k_dense_replace"),
            ("moe_layer_interval", "decoder_sparse_step"),
            ("use_bias", "attention_bias"),
        ],
        idle: &["moe_capacity", "moe_norm_min", "moe_gate_act", "moe_use_aux_free"],
        ..PLAIN
    },
    MINICPM,
    Family {
        model_type: "minicpm3",
        mixers: Mixers::Latent,
        defaults: r#"{"tie_word_embeddings":true,"v_head_dim":64}"#,
        ..MINICPM
    },
    Family { model_type: "ministral3", qkv_bias: QkvBias::Never, ..GROUPED },
    Family { model_type: "qwen2_5_omni_text", ..QWEN2 },
    Family { model_type: "qwen3_omni_moe_text", ..QWEN3_MOE },
    Family {
        model_type: "qwen",
        qkv_bias: QkvBias::Always,
        width: Width::Both,
        names: &[("kv_channels", "head_dim")],
        idle: &[
            "seq_length",
            "no_bias",
            "bf16",
            "fp16",
            "use_flash_attn",
            "use_logn_attn",
            "use_dynamic_ntk",
        ],
        ..PLAIN
    },
    Family { model_type: "internlm", ..OLD },
    Family { model_type: "internlm2", ..OLD },
    Family { model_type: "internlm3", names: &[("qkv_bias", "attention_bias")], ..PLAIN },
    Family { model_type: "baichuan", ..OLD },
    Family {
        model_type: "apertus",
        qk_norm: QkNorm::Always,
        gated: false,
        activations: &["xielu"],
        ..GROUPED
    },
    Family { model_type: "arcee", gated: false, activations: &["relu2"], ..GROUPED },
    Family { model_type: "nemotron", gated: false, activations: &["relu2"], notes: &[LAYER_NORM], ..GROUPED },
    Family { model_type: "stablelm", notes: &[LAYER_NORM], ..OLD },
    Family {
        model_type: "cohere",
        qk_norm: QkNorm::Key,
        defaults: TIED,
        notes: &[LAYER_NORM, PARALLEL],
        ..PLAIN
    },
    Family {
        model_type: "cohere2",
        names: &[("layer_switch", "sliding_window_pattern")],
        defaults: r#"{"tie_word_embeddings":true,"sliding_window":4096,"sliding_window_pattern":4}"#,
        idle: &[
            "order_of_interleaved_layers",
            "position_embedding_type",
            "use_embedding_sharing",
            "use_gated_activation",
            "use_parallel_block",
            "use_parallel_embedding",
        ],
        notes: &[LAYER_NORM, PARALLEL, NO_ROPE],
        ..PLAIN
    },
    Family {
        model_type: "phi3small",
        mixers: Mixers::Strided,
        qkv_bias: QkvBias::Always,
        activations: &["gegelu"],
        names: &[("ff_intermediate_size", "intermediate_size")],
        // Those of `Phi3SmallConfig`.
        defaults: r#"{"tie_word_embeddings":true,"hidden_act":"gegelu","dense_attention_every_n_layers":2}"#,
        idle: &[
            "blocksparse_block_size",
            "blocksparse_homo_head_pattern",
            "blocksparse_num_local_blocks",
            "blocksparse_triton_kernel_block_size",
            "blocksparse_vert_stride",
            "gegelu_limit",
            "gegelu_pad_to_256",
            "mup_attn_multiplier",
            "mup_embedding_multiplier",
            "mup_use_scaling",
            "mup_width_multiplier",
            "pad_sequence_to_multiple_of_64",
            "reorder_and_upcast_attn",
        ],
        notes: &[LAYER_NORM, ALL_KEYS],
        ..GROUPED
    },
    Family {
        model_type: "phimoe",
        experts: Some(&LOCAL),
        idle: &["lm_head_bias"],
        notes: &[LAYER_NORM],
        ..GROUPED
    },
    Family { model_type: "granitemoe", experts: Some(&LOCAL), ..GROUPED },
    Family {
        model_type: "jamba",
        mixers: Mixers::MambaHeads,
        experts: Some(&Experts {
            width: "intermediate_size",
            modules: ("feed_forward.experts", ""),
            ..EXPERTS
        }),
        names: &[
            ("mamba_d_state", "ssm_state_size"),
            ("mamba_d_conv", "conv_kernel"),
            ("expert_layer_period", "decoder_sparse_step"),
        ],
        // Those of `JambaConfig`.
        defaults: r#"{"decoder_sparse_step":2,"mamba_dt_rank":"auto","attn_layer_period":8,"attn_layer_offset":4}"#,
        idle: &[
            "expert_layer_offset=1",
            "mamba_conv_bias",
            "mamba_inner_layernorms",
            "calc_logits_for_entire_prompt",
            "n_ctx",
        ],
        notes: &[NO_ROPE, SELECTIVE],
        ..GROUPED
    },
    Family {
        model_type: "falcon_h1",
        mixers: Mixers::MambaBeside,
        names: &MAMBA_NAMES,
        idle: &[
            "mamba_d_ssm",
            "mamba_expand",
            "mamba_chunk_size",
            "mamba_conv_bias",
            "mamba_norm_before_gate",
            "mamba_rms_norm",
            "mamba_use_mlp",
            "mlp_expansion_factor",
            "attention_in_multiplier",
            "attention_out_multiplier",
            "key_multiplier",
            "lm_head_multiplier",
            "mlp_multipliers",
            "ssm_in_multiplier",
            "ssm_out_multiplier",
            "ssm_multipliers",
        ],
        notes: &[
            "Parallel Mamba and attention blocks are counted as two layers, each with its own norm and all-reduce.",
        ],
        ..GROUPED
    },
    Family {
        model_type: "minimax_m1",
        mixers: Mixers::Lightning,
        experts: Some(&LOCAL),
        idle: &[
            "layernorm_full_attention_alpha",
            "layernorm_full_attention_beta",
            "layernorm_linear_attention_alpha",
            "layernorm_linear_attention_beta",
            "layernorm_mlp_alpha",
            "layernorm_mlp_beta",
            "postnorm",
            "shared_moe_mode",
        ],
        notes: &[LIGHTNING],
        ..GROUPED
    },
    Family {
        model_type: "granitemoehybrid",
        mixers: Mixers::MambaHeads,
        experts: Some(&Experts {
            shared: Shared::Width("shared_intermediate_size"),
            dense: "shared_intermediate_size",
            ..LOCAL
        }),
        names: &MAMBA_NAMES,
        idle: &[
            "mamba_expand",
            "mamba_chunk_size",
            "mamba_conv_bias",
            "position_embedding_type",
            "normalization_function",
        ],
        notes: &[NO_ROPE],
        ..GROUPED
    },
    Family {
        model_type: "dbrx",
        qkv_bias: QkvBias::Never,
        experts: Some(&Experts {
            count: "ffn_config.moe_num_experts",
            topk: "ffn_config.moe_top_k",
            width: "ffn_config.ffn_hidden_size",
            dense: "ffn_config.ffn_hidden_size",
            ..EXPERTS
        }),
        idle: &["attn_config.clip_qkv", "ffn_config.ffn_act_fn"],
        notes: &[LAYER_NORM],
        ..OLD
    },
];
