//! The supported decoder families, by `model_type`.

use super::classic::CLASSICS;
use super::decoders::DECODERS;
use super::experts::{EXPERTS, Experts, GATED_SHARE, LOCAL, ROUTED, Shared};
use crate::config::model::Norms;

/// Where the QKV projection gets its bias from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QkvBias {
    Never,
    Always,
    /// `attention_bias`, off by default.
    Key,
}

/// Whether Q and K are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QkNorm {
    Never,
    Always,
    /// `use_qk_norm`, off by default.
    Key,
}

/// When `sliding_window` takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Whenever it is given.
    Given,
    /// Only with `use_sliding_window`, and from layer `max_window_layers` on.
    Flagged,
    /// Whenever it is given; this size if the key is absent.
    Default(u32),
}

/// What mixes tokens, and how the config assigns mixers to layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mixers {
    /// Regular attention; `layer_types` or a window distinguish layers.
    Heads,
    /// The same with sinks, and a window in every second layer (gpt-oss).
    Sinks,
    /// The same without rotary embedding and window in every fourth layer (Llama 4).
    Chunks,
    /// The same with `hybrid_layer_pattern` and separate sizes for sliding layers (MiMo-V2).
    Swa,
    /// The same with separate sizes for global layers (Gemma 4).
    Global,
    /// The same with block-sparse attention in all but every n-th layer (Phi-3-small).
    Strided,
    /// The same with attention to images in some layers (Llama 3.2 Vision).
    Cross,
    /// The same with gated delta rules (Qwen3-Next, Qwen3.5).
    DeltaHeads,
    /// The same with Mamba mixers (Granite 4, Jamba).
    MambaHeads,
    /// A Mamba mixer beside attention in every layer (Falcon-H1).
    MambaBeside,
    /// The same with lightning attention, a scan in which every head has its own matrices (MiniMax-M1).
    Lightning,
    /// Latent attention, sparse where it has an indexer.
    Latent,
    /// Latent attention with Kimi delta attention.
    DeltaLatent,
    /// A window, and compressed keys before it (DeepSeek-V4).
    Compressed,
    /// One mixer, MLP or mixture of experts per layer (Nemotron-H).
    Single,
    /// `block_configs` (Nemotron-NAS).
    Listed,
}

/// How an MLP's width is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    Stated,
    /// `expansion_ratio` times the hidden size if absent; four times if that is absent too.
    Multiple,
    /// Of gate and up together (Qwen).
    Both,
}

/// What a `model_type` implies beyond its `config.json`. Facts follow the model's class in Hugging Face
/// transformers and the layer in vLLM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    pub model_type: &'static str,
    pub qk_norm: QkNorm,
    /// The QK norm is over all heads together.
    pub norm_over_heads: bool,
    pub qkv_bias: QkvBias,
    pub window: Window,
    /// `num_key_value_heads` defaults to the number of heads.
    pub heads_without_groups: bool,
    pub mixers: Mixers,
    /// Checkpoints join the projections of a delta rule.
    pub joined_delta: bool,
    pub norms: Norms,
    pub experts: Option<&'static Experts>,
    /// Whether MLPs have a gate projection.
    pub gated: bool,
    /// Supported activations of its MLPs.
    pub activations: &'static [&'static str],
    pub width: Width,
    /// Renamed keys: the family's name, and the one used here. If both are given, they have to agree.
    pub names: &'static [(&'static str, &'static str)],
    /// JSON object with class defaults for keys that published configs omit.
    pub defaults: &'static str,
    /// Further keys that change no count, with `=` if only for one value.
    pub idle: &'static [&'static str],
    /// Extra entries of a learned position table beyond the context.
    pub positions: Option<u32>,
    /// `max_position_embeddings` already includes `rope_scaling`.
    pub stretched: bool,
    /// Approximations in how it is counted.
    pub notes: &'static [&'static str],
}

/// A pre-norm decoder with RoPE, RMSNorm and a gated SiLU MLP.
pub const PLAIN: Family = Family {
    model_type: "llama",
    qk_norm: QkNorm::Never,
    norm_over_heads: false,
    qkv_bias: QkvBias::Key,
    window: Window::Given,
    heads_without_groups: true,
    mixers: Mixers::Heads,
    joined_delta: false,
    norms: Norms::Pre,
    experts: None,
    gated: true,
    activations: &["silu", "swish"],
    width: Width::Stated,
    names: &[],
    defaults: "{}",
    idle: &[],
    positions: None,
    stretched: false,
    notes: &[],
};
pub const GROUPED: Family = Family { heads_without_groups: false, ..PLAIN };
pub const QWEN2: Family =
    Family { model_type: "qwen2", qkv_bias: QkvBias::Always, window: Window::Flagged, ..GROUPED };
pub const QWEN3: Family =
    Family { model_type: "qwen3", qk_norm: QkNorm::Always, window: Window::Flagged, ..GROUPED };
pub const QWEN3_MOE: Family = Family { model_type: "qwen3_moe", experts: Some(&EXPERTS), ..QWEN3 };
const QWEN3_5: Family = Family { model_type: "qwen3_5", mixers: Mixers::DeltaHeads, ..QWEN3 };
const QWEN3_5_MOE: Family =
    Family { model_type: "qwen3_5_moe", mixers: Mixers::DeltaHeads, experts: Some(&GATED_SHARE), ..QWEN3 };
/// `MistralConfig` slides over 4096 tokens unless `sliding_window` is null.
const MISTRAL: Family =
    Family { model_type: "mistral", qkv_bias: QkvBias::Never, window: Window::Default(4096), ..GROUPED };
pub const DEEPSEEK: Family =
    Family { model_type: "deepseek_v3", mixers: Mixers::Latent, experts: Some(&ROUTED), ..GROUPED };
const DEEPSEEK_V4: Family = Family {
    model_type: "deepseek_v4",
    mixers: Mixers::Compressed,
    experts: Some(&Experts { modules: ("ffn.experts", "ffn.shared_experts"), ..ROUTED }),
    idle: &["num_hash_layers", "num_key_value_heads", "qk_nope_head_dim"],
    ..GROUPED
};
const GEMMA4: Family = Family {
    model_type: "gemma4",
    qk_norm: QkNorm::Always,
    mixers: Mixers::Global,
    norms: Norms::Sandwich,
    experts: Some(&Experts {
        topk: "top_k_experts",
        beside: true,
        modules: ("experts", "shared_experts"),
        ..EXPERTS
    }),
    activations: &["gelu_pytorch_tanh"],
    // For an embedding in every layer, which larger models lack.
    idle: &["vocab_size_per_layer_input"],
    ..GROUPED
};
const LLAMA4: Family = Family {
    model_type: "llama4",
    qk_norm: QkNorm::Key,
    mixers: Mixers::Chunks,
    experts: Some(&Experts {
        width: "intermediate_size",
        dense: "intermediate_size_mlp",
        shared: Shared::One,
        modules: ("feed_forward.experts", "feed_forward.shared_expert"),
        ..LOCAL
    }),
    idle: &["nope_layer_interval=4", "no_rope_layer_interval=4"],
    ..GROUPED
};
const KIMI_LINEAR: Family = Family {
    model_type: "kimi_linear",
    mixers: Mixers::DeltaLatent,
    experts: Some(&Experts {
        topk: "num_experts_per_token",
        shared: Shared::Count("num_shared_experts"),
        latent: Some("routed_expert_hidden_size"),
        modules: ("block_sparse_moe.experts", "block_sparse_moe.shared_experts"),
        ..EXPERTS
    }),
    activations: &["silu", "situ"],
    idle: &["latent_moe_use_norm", "mla_use_nope", "linear_attn_config.gate_lower_bound"],
    ..GROUPED
};
const NEMOTRON_H: Family = Family {
    model_type: "nemotron_h",
    mixers: Mixers::Single,
    gated: false,
    experts: Some(&Experts {
        count: "n_routed_experts",
        shared: Shared::Width("moe_shared_expert_intermediate_size"),
        latent: Some("moe_latent_size"),
        modules: ("mixer.experts", "mixer.shared_experts"),
        ..EXPERTS
    }),
    activations: &["relu2"],
    idle: &["intermediate_size", "n_shared_experts=1", "expand", "chunk_size", "moe_shared_expert_overlap"],
    ..GROUPED
};

static FAMILIES: [Family; 45] = [
    PLAIN,
    Family { model_type: "granite", ..PLAIN },
    MISTRAL,
    Family { model_type: "mixtral", qkv_bias: QkvBias::Never, experts: Some(&LOCAL), ..GROUPED },
    Family { model_type: "phi3", qkv_bias: QkvBias::Never, ..PLAIN },
    QWEN2,
    Family { model_type: "qwen2_vl", ..QWEN2 },
    Family { model_type: "qwen2_vl_text", ..QWEN2 },
    Family { model_type: "qwen2_5_vl", ..QWEN2 },
    Family { model_type: "qwen2_5_vl_text", ..QWEN2 },
    Family { model_type: "qwen2_moe", experts: Some(&GATED_SHARE), ..QWEN2 },
    // MiMo-7B's attention is Qwen2's, bias included.
    Family { model_type: "mimo", ..QWEN2 },
    Family {
        model_type: "mimo_v2_flash",
        mixers: Mixers::Swa,
        experts: Some(&ROUTED),
        names: &[("sliding_window_size", "sliding_window")],
        idle: &["attention_chunk_size"],
        ..GROUPED
    },
    QWEN3,
    Family { model_type: "qwen3_vl", ..QWEN3 },
    Family { model_type: "qwen3_vl_text", ..QWEN3 },
    QWEN3_MOE,
    Family { model_type: "qwen3_vl_moe", ..QWEN3_MOE },
    Family { model_type: "qwen3_vl_moe_text", ..QWEN3_MOE },
    QWEN3_5,
    Family { model_type: "qwen3_5_text", ..QWEN3_5 },
    QWEN3_5_MOE,
    Family { model_type: "qwen3_5_moe_text", ..QWEN3_5_MOE },
    Family { model_type: "qwen3_next", joined_delta: true, ..QWEN3_5_MOE },
    Family {
        model_type: "minimax_m2",
        qk_norm: QkNorm::Key,
        qkv_bias: QkvBias::Never,
        experts: Some(&Experts { shared: Shared::Width("shared_intermediate_size"), ..LOCAL }),
        idle: &["mtp_transformer_layers=1"],
        ..GROUPED
    },
    Family {
        model_type: "minimax_m3",
        qk_norm: QkNorm::Key,
        qkv_bias: QkvBias::Never,
        experts: Some(&Experts {
            width: "moe_intermediate_size",
            dense: "dense_intermediate_size",
            shared: Shared::Width("shared_intermediate_size"),
            ..LOCAL
        }),
        // A gated SiLU with a steeper slope, clamped.
        activations: &["swigluoai"],
        idle: &[
            "intermediate_size",
            "n_shared_experts=1",
            "use_gemma_norm",
            "sparse_attention_config.sparse_disable_index_value",
            "sparse_attention_config.sparse_local_block",
            "sparse_attention_config.sparse_score_type",
        ],
        ..GROUPED
    },
    DEEPSEEK_V4,
    // Its name in checkpoints converted to FP8 for SGLang.
    Family { model_type: "deepseek_ref", ..DEEPSEEK_V4 },
    Family { model_type: "deepseek_v2", ..DEEPSEEK },
    DEEPSEEK,
    Family { model_type: "deepseek_v32", ..DEEPSEEK },
    Family { model_type: "kimi_k2", ..DEEPSEEK },
    Family {
        model_type: "glm_moe_dsa",
        names: &[("num_experts", "n_routed_experts")],
        idle: &["index_topk_freq", "index_skip_topk_offset", "index_share_for_mtp_iteration"],
        ..DEEPSEEK
    },
    Family { model_type: "glm4_moe_lite", ..DEEPSEEK },
    KIMI_LINEAR,
    GEMMA4,
    Family { model_type: "gemma4_text", ..GEMMA4 },
    Family { model_type: "mllama", mixers: Mixers::Cross, ..GROUPED },
    Family { model_type: "mllama_text_model", mixers: Mixers::Cross, ..GROUPED },
    LLAMA4,
    Family { model_type: "llama4_text", ..LLAMA4 },
    Family {
        model_type: "gpt_oss",
        mixers: Mixers::Sinks,
        experts: Some(&Experts { bias: true, modules: ("mlp.experts", "mlp.shared_experts"), ..LOCAL }),
        names: &[("experts_per_token", "num_experts_per_tok")],
        ..GROUPED
    },
    Family {
        model_type: "step3p7",
        qk_norm: QkNorm::Always,
        experts: Some(&Experts {
            shared: Shared::Width("share_expert_dim"),
            modules: ("moe.experts", "share_expert"),
            ..EXPERTS
        }),
        idle: &["n_shared_experts=1"],
        ..GROUPED
    },
    NEMOTRON_H,
    Family { model_type: "nemotron-nas", mixers: Mixers::Listed, ..PLAIN },
];

impl Family {
    pub fn all() -> impl Iterator<Item = &'static Self> {
        FAMILIES.iter().chain(&DECODERS).chain(&CLASSICS)
    }

    pub fn of(model_type: &str) -> Option<Self> {
        Self::all().find(|family| family.model_type == model_type).copied()
    }

    pub fn latent(&self) -> bool {
        matches!(self.mixers, Mixers::Latent | Mixers::DeltaLatent)
    }
}
