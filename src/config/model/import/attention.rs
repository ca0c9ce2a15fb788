//! The sizes of attention and of what stands in its place.

use super::family::{Family, Mixers, QkNorm, QkvBias};
use super::fields::Fields;
use super::layers::{Kind, kinds, window};
use super::sparse;
use crate::config::model::limits::HEAD_DIM;
use crate::config::model::limits::{
    HEADS, INDEX_DIM, INDEX_HEADS, INDEX_TOPK, KV_HEADS, LATENT, LINEAR_KEY_DIM, LINEAR_KEY_HEADS,
    LINEAR_VALUE_DIM, LINEAR_VALUE_HEADS, Limit, NOPE, QUERY_RANK, ROPE, TAPS, VALUE_DIM,
};
use crate::config::model::{Attention, Delta, Gates, Gqa, GqaTrait, Indexer, Mla};

/// What the layers of each kind hold; a kind that the family does not have is as the full one.
pub struct Sizes {
    full: Option<Attention>,
    local: Option<Attention>,
    linear: Option<Attention>,
    window: Option<u32>,
}

impl Sizes {
    /// Reads every size at once, whichever are missing.
    pub fn read(fields: &mut Fields<'_>, family: &Family, hidden: Option<u32>) -> Self {
        if family.latent() {
            let linear = match family.mixers {
                Mixers::DeltaLatent => kimi_delta(fields),
                _ => None,
            };
            let full = latent(fields).map(Attention::Mla);
            return Self { local: full.clone(), full, linear: linear.map(Attention::Delta), window: None };
        }
        let window = window(fields, family);
        let base = heads(fields, family, hidden);
        let linear = match family.mixers {
            Mixers::DeltaHeads => gated_delta(fields).map(Attention::Delta),
            _ => None,
        };
        let (full, local) = match family.mixers {
            Mixers::Swa => {
                (with_sink(fields, base.clone(), "add_full_attention_sink_bias"), swa(fields, base))
            }
            Mixers::Global => (global(fields, base.clone()), base),
            // Layers without a rotary embedding do not normalise (`Llama4TextAttention`).
            Mixers::Chunks => (base.clone().map(|gqa| Gqa { qk_norm: false, ..gqa }), base),
            _ => (base.clone(), base),
        };
        let local = local.map(|gqa| Gqa { window, ..gqa });
        Self { full: full.map(Attention::Gqa), local: local.map(Attention::Gqa), linear, window }
    }
}

/// The attention of every layer.
pub fn per_layer(
    fields: &mut Fields<'_>,
    family: &Family,
    sizes: Sizes,
    layers: u32,
) -> Option<Vec<Attention>> {
    let kinds = kinds(fields, family, sizes.window, layers)?;
    let (full, local, linear) = (sizes.full?, sizes.local?, sizes.linear);
    let of = |kind: &Kind| match kind {
        Kind::Full => Some(full.clone()),
        Kind::Local => Some(local.clone()),
        Kind::Linear => linear.clone(),
    };
    let mut attentions = kinds.iter().map(of).collect::<Option<Vec<Attention>>>()?;
    borrow(fields, &mut attentions)?;
    choose(fields, &mut attentions)?;
    Some(attentions)
}

/// Attention by heads, as most layers have it.
pub fn heads(fields: &mut Fields<'_>, family: &Family, hidden: Option<u32>) -> Option<Gqa> {
    let heads = fields.count(HEADS);
    let kv_heads = if family.heads_without_groups {
        fields.count_or(KV_HEADS, heads.unwrap_or(KV_HEADS.min))
    } else {
        fields.count(KV_HEADS)
    };
    let head_dim = fields.head_dim(hidden, heads);
    let value_dim = match family.mixers {
        Mixers::Swa => fields.optional(VALUE_DIM),
        _ => None,
    };
    let bias = fields.flag("attention_bias");
    let normalised = fields.flag("use_qk_norm");
    // Qwen3-Next's class has the gate whatever the config says.
    let gated = fields.flag("attn_output_gate").unwrap_or(family.mixers == Mixers::DeltaHeads);
    let mut traits = Vec::new();
    if family.mixers == Mixers::Sinks {
        traits.push(GqaTrait::Sinks);
    }
    if gated {
        traits.push(GqaTrait::OutputGate);
    }
    if fields.object()["qk_norm_type"].as_str() == Some("per_layer") {
        traits.push(GqaTrait::NormOverHeads);
    }
    let head_dim = head_dim?;
    Some(Gqa {
        heads: heads?,
        kv_heads: kv_heads?,
        head_dim,
        qk_norm: match family.qk_norm {
            QkNorm::Never => false,
            QkNorm::Always => true,
            QkNorm::Key => normalised.unwrap_or(false),
        },
        qkv_bias: match family.qkv_bias {
            QkvBias::Never => false,
            QkvBias::Always => true,
            QkvBias::Key => bias.unwrap_or(false),
        },
        value_dim: value_dim.filter(|width| *width != head_dim),
        window: None,
        traits,
        blocks: None,
    })
}

/// MiMo-V2's layers that slide have sizes of their own.
fn swa(fields: &mut Fields<'_>, base: Option<Gqa>) -> Option<Gqa> {
    let heads = fields.optional(Limit { key: "swa_num_attention_heads", ..HEADS });
    let kv_heads = fields.optional(Limit { key: "swa_num_key_value_heads", ..KV_HEADS });
    let head_dim = fields.optional(Limit { key: "swa_head_dim", ..HEAD_DIM });
    let value_dim = fields.optional(Limit { key: "swa_v_head_dim", ..VALUE_DIM });
    let base = with_sink(fields, base, "add_swa_attention_sink_bias")?;
    let head_dim = head_dim.unwrap_or(base.head_dim);
    Some(Gqa {
        heads: heads.unwrap_or(base.heads),
        kv_heads: kv_heads.unwrap_or(base.kv_heads),
        head_dim,
        value_dim: value_dim.or(base.value_dim).filter(|width| *width != head_dim),
        ..base
    })
}

fn with_sink(fields: &mut Fields<'_>, base: Option<Gqa>, key: &str) -> Option<Gqa> {
    let sink = fields.flag(key) == Some(true);
    let mut base = base?;
    if sink {
        base.traits.push(GqaTrait::Sinks);
    }
    Some(base)
}

/// Gemma 4's layers that see all have wider heads, and fewer where values are the keys.
fn global(fields: &mut Fields<'_>, base: Option<Gqa>) -> Option<Gqa> {
    let head_dim = fields.optional(Limit { key: "global_head_dim", ..HEAD_DIM });
    let kv_heads = fields.optional(Limit { key: "num_global_key_value_heads", ..KV_HEADS });
    let shared = fields.flag("attention_k_eq_v") == Some(true);
    let mut gqa = base?;
    gqa.head_dim = head_dim.unwrap_or(gqa.head_dim);
    if shared {
        gqa.kv_heads = kv_heads.unwrap_or(gqa.kv_heads);
        gqa.traits.push(GqaTrait::ValuesFromKeys);
    }
    Some(gqa)
}

fn gated_delta(fields: &mut Fields<'_>) -> Option<Delta> {
    let key_heads = fields.count(LINEAR_KEY_HEADS);
    let value_heads = fields.count(LINEAR_VALUE_HEADS);
    let key_dim = fields.count(LINEAR_KEY_DIM);
    let value_dim = fields.count(LINEAR_VALUE_DIM);
    let taps = fields.count_as("linear_conv_kernel_dim", TAPS);
    Some(Delta {
        key_heads: key_heads?,
        value_heads: value_heads?,
        key_dim: key_dim?,
        value_dim: value_dim?,
        taps: taps?,
        gates: Gates::PerHead,
        full_gate: None,
    })
}

/// Keys and values have as many heads and the same width.
fn kimi_delta(fields: &mut Fields<'_>) -> Option<Delta> {
    let heads = fields.count_as("linear_attn_config.num_heads", LINEAR_KEY_HEADS);
    let width = fields.count_as("linear_attn_config.head_dim", LINEAR_KEY_DIM);
    let taps = fields.count_as("linear_attn_config.short_conv_kernel_size", TAPS);
    let full_gate = fields.flag("linear_attn_config.use_full_rank_gate");
    Some(Delta {
        key_heads: heads?,
        value_heads: heads?,
        key_dim: width?,
        value_dim: width?,
        taps: taps?,
        gates: Gates::PerChannel,
        full_gate: full_gate.filter(|full| *full),
    })
}

fn latent(fields: &mut Fields<'_>) -> Option<Mla> {
    let heads = fields.count(HEADS);
    let query_rank = fields.optional(QUERY_RANK);
    let latent = fields.count(LATENT);
    let rope = fields.count(ROPE);
    let nope = fields.count(NOPE);
    let value = fields.count(VALUE_DIM);
    let gate = fields.flag("mla_use_output_gate").filter(|gate| *gate);
    let sparse = fields.get(INDEX_TOPK.key).is_some();
    let indexer = if sparse { indexer(fields) } else { None };
    Some(Mla {
        heads: heads?,
        query_rank,
        latent: latent?,
        rope: rope?,
        nope: nope?,
        value: value?,
        indexer,
        gate,
    })
}

pub fn indexer(fields: &mut Fields<'_>) -> Option<Indexer> {
    let heads = fields.count(INDEX_HEADS);
    let head_dim = fields.count(INDEX_DIM);
    let topk = fields.count(INDEX_TOPK);
    Some(Indexer { heads: heads?, head_dim: head_dim?, topk: topk?, borrowed: None })
}

/// Chosen blocks of keys, in the layers that have them.
fn choose(fields: &mut Fields<'_>, attentions: &mut [Attention]) -> Option<()> {
    let Some((blocks, marks)) = sparse::blocks(fields, attentions.len())? else { return Some(()) };
    for (attention, _) in attentions.iter_mut().zip(marks).filter(|(_, marked)| *marked) {
        match attention {
            Attention::Gqa(gqa) => gqa.blocks = Some(blocks),
            _ => {
                fields.error("`sparse_attention_config` chooses keys, and this attention has latents".into());
                return None;
            }
        }
    }
    Some(())
}

/// GLM-5.2 says which layers take the choice of an earlier one.
fn borrow(fields: &mut Fields<'_>, attentions: &mut [Attention]) -> Option<()> {
    const KEY: &str = "indexer_types";
    if fields.get(KEY).is_none() {
        return Some(());
    }
    let types = fields.per_layer(KEY, attentions.len())?;
    for (place, (kind, attention)) in types.iter().zip(attentions).enumerate() {
        let borrowed = match kind.as_str() {
            Some("full") => None,
            Some("shared") if place > 0 => Some(true),
            _ => {
                fields.stranger(KEY, place, kind, "full, or shared after the first layer,");
                return None;
            }
        };
        if let Attention::Mla(Mla { indexer: Some(indexer), .. }) = attention {
            indexer.borrowed = borrowed;
        }
    }
    Some(())
}
