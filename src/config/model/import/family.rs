//! The decoder families whose forward pass this release counts, by `model_type`.

/// Where the QKV projection gets its bias from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QkvBias {
    Never,
    Always,
    /// `attention_bias`, off where it is left out.
    Key,
}

/// When a `sliding_window` takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Whenever it is given.
    Given,
    /// Only with `use_sliding_window`.
    Flagged,
    /// Whenever it is given, and with this size where it is left out altogether.
    Default(u32),
}

/// What a `model_type` implies that its `config.json` does not say. Facts are those of the model's
/// class in Hugging Face transformers and of the layer in vLLM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    pub model_type: &'static str,
    /// RMSNorm on each head of Q and K.
    pub qk_norm: bool,
    pub qkv_bias: QkvBias,
    pub window: Window,
    /// `num_key_value_heads` may be left out and is then the number of heads.
    pub heads_without_groups: bool,
}

/// A pre-norm decoder with RoPE, RMSNorm and a gated SiLU MLP, which all families here are.
const PLAIN: Family = Family {
    model_type: "llama",
    qk_norm: false,
    qkv_bias: QkvBias::Key,
    window: Window::Given,
    heads_without_groups: true,
};
const QWEN2: Family = Family {
    model_type: "qwen2",
    qkv_bias: QkvBias::Always,
    window: Window::Flagged,
    heads_without_groups: false,
    ..PLAIN
};
const QWEN3: Family = Family {
    model_type: "qwen3",
    qk_norm: true,
    window: Window::Flagged,
    heads_without_groups: false,
    ..PLAIN
};
/// `MistralConfig` slides over 4096 tokens unless `sliding_window` is null.
const MISTRAL: Family = Family {
    model_type: "mistral",
    qkv_bias: QkvBias::Never,
    window: Window::Default(4096),
    heads_without_groups: false,
    ..PLAIN
};

pub const FAMILIES: [Family; 13] = [
    PLAIN,
    Family { model_type: "granite", ..PLAIN },
    MISTRAL,
    Family { model_type: "phi3", qkv_bias: QkvBias::Never, ..PLAIN },
    QWEN2,
    Family { model_type: "qwen2_vl", ..QWEN2 },
    Family { model_type: "qwen2_vl_text", ..QWEN2 },
    Family { model_type: "qwen2_5_vl", ..QWEN2 },
    Family { model_type: "qwen2_5_vl_text", ..QWEN2 },
    // MiMo-7B's attention is Qwen2's, bias included.
    Family { model_type: "mimo", ..QWEN2 },
    QWEN3,
    Family { model_type: "qwen3_vl", ..QWEN3 },
    Family { model_type: "qwen3_vl_text", ..QWEN3 },
];

impl Family {
    pub fn of(model_type: &str) -> Option<Self> {
        FAMILIES.into_iter().find(|family| family.model_type == model_type)
    }
}
