//! The supported decoder families, by `model_type`: `static/catalog/families.json`.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::config::json;
use crate::config::model::Norms;

/// Whether attention has some part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    Never,
    Always,
    /// If its key says so, which is off by default.
    Key,
}

/// When `sliding_window` takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// Whenever it is given.
    Given,
    /// Only with `use_sliding_window`, and from layer `max_window_layers` on.
    Flagged,
    /// Whenever it is given; this size if the key is absent.
    Default(u32),
}

/// What mixes tokens, and how the config assigns mixers to layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mixers {
    /// Regular attention; `layer_types` or a window distinguish layers.
    Heads,
    /// Attention with sinks, and a window in every second layer (gpt-oss).
    Sinks,
    /// Attention without rotary embedding and window in every fourth layer (Llama 4).
    Chunks,
    /// Attention with `hybrid_layer_pattern` and separate sizes for sliding layers (MiMo-V2).
    Swa,
    /// Attention with separate sizes for global layers (Gemma 4).
    Global,
    /// Attention that is block-sparse in all but every n-th layer (Phi-3-small).
    Strided,
    /// Attention, to images in some layers (Llama 3.2 Vision).
    Cross,
    /// Attention in some layers, gated delta rules in the others (Qwen3-Next, Qwen3.5).
    DeltaHeads,
    /// Attention in some layers, Mamba mixers in the others (Granite 4, Jamba).
    MambaHeads,
    /// A Mamba mixer beside attention in every layer (Falcon-H1).
    ParallelMamba,
    /// Attention in some layers, lightning attention in the others: a scan with each head's own matrices (MiniMax-M1).
    Lightning,
    /// Latent attention, sparse where it has an indexer.
    Latent,
    /// Latent attention in some layers, Kimi delta attention in the others.
    DeltaLatent,
    /// A window, and compressed keys before it (DeepSeek-V4).
    Compressed,
    /// One mixer, MLP or mixture of experts per layer (Nemotron-H).
    Single,
    /// `block_configs` (Nemotron-NAS).
    Listed,
}

/// How an MLP's width is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Width {
    Stated,
    /// `expansion_ratio` times the hidden size if absent; four times if that is absent too.
    Multiple,
    /// The width is that of gate and up together (Qwen).
    Both,
}

/// What a `model_type` implies beyond its `config.json`. Facts follow the model's class in Hugging Face
/// transformers and the layer in vLLM.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFamily {
    pub model_type: String,
    /// Norms of Q and K; the key is `use_qk_norm`.
    pub qk_norm: Presence,
    /// The QK norm is over all heads together.
    pub norm_over_heads: bool,
    /// A bias of the QKV projection; the key is `attention_bias`.
    pub qkv_bias: Presence,
    pub window: Window,
    /// `num_key_value_heads` defaults to the number of heads.
    pub heads_without_groups: bool,
    pub mixers: Mixers,
    /// Checkpoints join the projections of a delta rule.
    pub joined_delta: bool,
    pub norms: Norms,
    pub experts: Option<Experts>,
    /// Whether MLPs have a gate projection.
    pub gated: bool,
    /// Supported activations of its MLPs.
    pub activations: Vec<String>,
    pub width: Width,
    /// Renamed keys: the name used here, and a list of the family's. If several are given, they have to agree.
    pub names: Map<String, Value>,
    /// Class defaults for keys that published configs omit.
    pub defaults: Map<String, Value>,
    /// Further keys that change no count, with `=` if only for one value.
    pub idle: Vec<String>,
    /// Extra entries of a learned position table beyond the context.
    pub positions: Option<u32>,
    /// `max_position_embeddings` already includes `rope_scaling`.
    pub stretched: bool,
    /// Approximations in how it is counted.
    pub notes: Vec<String>,
}

/// Where the sizes of shared experts come from.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    None,
    /// This key holds their total width.
    Width(String),
    /// This key holds their total width, and a gate weights their output.
    Gated(String),
    /// This key holds their number; each is as wide as a routed one.
    Count(String),
    /// One, as wide as a routed expert.
    One,
}

/// A family's keys for its experts.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experts {
    pub count: String,
    pub topk: String,
    pub width: String,
    /// Width of the MLP in layers without experts.
    pub dense: String,
    pub shared: Shared,
    /// Width that tokens are projected to before the experts.
    pub latent: Option<String>,
    pub bias: bool,
    /// The router is computed in FP32.
    pub exact_router: bool,
    /// The MLP of `dense` runs parallel to the experts in every layer.
    pub beside: bool,
    /// Module names of a layer: of the routed experts, and of the shared ones.
    pub modules: (String, String),
}

static FILE: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/families.json"))).unwrap_or_default()
});
static FAMILIES: LazyLock<Vec<ModelFamily>> = LazyLock::new(|| {
    let read = |name: &String| match json::of(&record(name)) {
        Ok(family) => family,
        Err(fault) => panic!("static/catalog/families.json: {name}: {fault}: a test reads it"),
    };
    FILE["families"].as_object().into_iter().flat_map(Map::keys).map(read).collect()
});

/// A family's record, with its experts and notes in place of their names.
fn record(model_type: &str) -> Value {
    let mut record = whole("families", model_type);
    record["model_type"] = json!(model_type);
    record["experts"] = record["experts"].as_str().map(|name| whole("experts", name)).into();
    for note in record["notes"].as_array_mut().into_iter().flatten() {
        *note = FILE["notes"][note.as_str().unwrap_or_default()].clone();
    }
    record
}

/// A record with everything it does not state from the one that it is like.
fn whole(table: &str, name: &str) -> Value {
    let own = &FILE[table][name];
    let mut whole = own["like"].as_str().map_or_else(|| json!({}), |like| whole(table, like));
    for (key, value) in own.as_object().into_iter().flatten() {
        if key != "like" {
            whole[key] = value.clone();
        }
    }
    whole
}

/// Names of keys that change no count in any family; after a star, fragments of names.
pub fn idle() -> impl Iterator<Item = &'static str> {
    FILE["idle"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

impl ModelFamily {
    /// The family's name of each renamed key, and the one used here.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self
            .names
            .iter()
            .flat_map(|(ours, all)| all.as_array().into_iter().flatten().map(move |one| (one, ours)));
        pairs.filter_map(|(theirs, ours)| Some((theirs.as_str()?, ours.as_str())))
    }

    pub fn of(model_type: &str) -> Option<&'static Self> {
        FAMILIES.iter().find(|family| family.model_type == model_type)
    }

    /// A pre-norm decoder with RoPE, RMSNorm and a gated SiLU MLP.
    pub fn plain() -> &'static Self {
        Self::of("llama").unwrap_or_else(|| panic!("static/catalog/families.json: no llama: a test reads it"))
    }

    pub fn latent(&self) -> bool {
        matches!(self.mixers, Mixers::Latent | Mixers::DeltaLatent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_read_and_listed_once() {
        let text = include_str!("../../../../static/catalog/families.json");
        let (_, families) = text.split_once("\"families\": {").expect("the last table");
        let listed = families.lines().filter(|line| line.starts_with('"')).count();
        assert_eq!((FAMILIES.len(), idle().any(|key| key == "model_type")), (listed, true));
    }
}
