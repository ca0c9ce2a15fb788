//! Reads the sizes of attention and its alternatives.

use super::family::{Mixers, ModelFamily, Presence};
use super::fields::Fields;
use super::layers::LayerKind;
use super::{layers, single, sparse};
use crate::config::model::limits::{
    HEAD_DIM, HEADS, INDEX_DIM, INDEX_HEADS, INDEX_TOPK, KV_HEADS, LATENT, LINEAR_KEY_DIM, LINEAR_KEY_HEADS,
    LINEAR_VALUE_DIM, LINEAR_VALUE_HEADS, NOPE, QUERY_RANK, ROPE, TAPS, VALUE_DIM,
};
use crate::config::model::{Attention, Delta, Gates, Gqa, GqaTrait, Indexer, Mamba, Mla};

/// The attention of every layer. All sizes are read, so that all missing ones are reported together.
pub fn per_layer(
    fields: &mut Fields<'_>,
    family: &ModelFamily,
    hidden: u32,
    layers: usize,
) -> Vec<Attention> {
    let mut window = None;
    let (full, local) = if family.latent() {
        let full = Attention::Mla(latent(fields));
        (full.clone(), full)
    } else {
        if !matches!(family.mixers, Mixers::Strided | Mixers::Cross) {
            window = layers::window(fields, family);
        }
        let base = heads(fields, family, hidden);
        let (full, local) = match family.mixers {
            Mixers::Swa => {
                (with_sink(fields, base.clone(), "add_full_attention_sink_bias"), swa(fields, base))
            }
            Mixers::Global => (global(fields, base.clone()), base),
            Mixers::Strided => (base.clone(), with_trait(base, GqaTrait::Strided)),
            // `MllamaTextCrossAttention` normalises queries and keys.
            Mixers::Cross => (base.clone(), Gqa { qk_norm: true, ..with_trait(base, GqaTrait::Cross) }),
            // Layers without a rotary embedding do not normalise (`Llama4TextAttention`).
            Mixers::Chunks => (Gqa { qk_norm: false, ..base.clone() }, base),
            _ => (base.clone(), base),
        };
        (Attention::Gqa(full), Attention::Gqa(Gqa { window, ..local }))
    };
    let linear = match family.mixers {
        Mixers::DeltaLatent => Attention::Delta(kimi_delta(fields)),
        Mixers::DeltaHeads => Attention::Delta(gated_delta(fields, family.joined_delta)),
        Mixers::MambaHeads => Attention::Mamba(single::mamba(fields, hidden)),
        Mixers::Lightning => Attention::Mamba(lightning(&full)),
        _ => full.clone(),
    };
    let kinds = layers::kinds(fields, family, window, layers);
    let of = |kind: LayerKind| match kind {
        LayerKind::Full => full.clone(),
        LayerKind::Local => local.clone(),
        LayerKind::Linear => linear.clone(),
    };
    let mut attentions: Vec<Attention> = kinds.into_iter().map(of).collect();
    borrow(fields, &mut attentions);
    choose(fields, &mut attentions);
    attentions
}

/// Regular multi-head attention, as in most layers.
pub fn heads(fields: &mut Fields<'_>, family: &ModelFamily, hidden: u32) -> Gqa {
    let heads = fields.count(HEADS);
    let kv_heads = kv_heads(fields, family, heads);
    let head_dim = fields.head_dim(hidden, heads);
    let value_dim = if family.mixers == Mixers::Swa { fields.optional(VALUE_DIM) } else { None };
    let bias = fields.flag("attention_bias") == Some(true);
    // Qwen3-Next's class has the gate regardless of the config.
    let gated = fields.flag("attn_output_gate").unwrap_or(family.mixers == Mixers::DeltaHeads);
    let over_heads =
        family.norm_over_heads || fields.get("qk_norm_type").is_some_and(|kind| kind == "per_layer");
    let traits = [
        (family.mixers == Mixers::Sinks, GqaTrait::Sinks),
        (gated, GqaTrait::OutputGate),
        (over_heads, GqaTrait::NormOverHeads),
    ];
    Gqa {
        heads,
        kv_heads,
        head_dim,
        qk_norm: match family.qk_norm {
            Presence::Never => false,
            Presence::Always => {
                fields.skip(&["use_qk_norm"]);
                true
            }
            Presence::Key => fields.flag("use_qk_norm") == Some(true),
        },
        qkv_bias: match family.qkv_bias {
            Presence::Never => false,
            Presence::Always => true,
            Presence::Key => bias,
        },
        value_dim: value_dim.filter(|width| *width != head_dim),
        window: None,
        traits: traits.into_iter().filter(|(has, _)| *has).map(|(_, one)| one).collect(),
        blocks: None,
    }
}

/// Families of 2023 use a flag for multi-query attention; later Falcon versions give the number.
fn kv_heads(fields: &mut Fields<'_>, family: &ModelFamily, heads: u32) -> u32 {
    let grouped = fields.flag("new_decoder_architecture") == Some(true);
    if fields.flag("multi_query") == Some(true) && !grouped {
        fields.skip(&[KV_HEADS.key]);
        return 1;
    }
    if fields.flag("multi_query_attention") == Some(false) {
        fields.skip(&[KV_HEADS.key]);
        return heads;
    }
    if family.heads_without_groups { fields.count_or(KV_HEADS, heads) } else { fields.count(KV_HEADS) }
}

/// MiMo-V2's sliding-window layers have separate sizes.
fn swa(fields: &mut Fields<'_>, base: Gqa) -> Gqa {
    let base = with_sink(fields, base, "add_swa_attention_sink_bias");
    let head_dim = fields.optional_as("swa_head_dim", HEAD_DIM).unwrap_or(base.head_dim);
    let value_dim = fields.optional_as("swa_v_head_dim", VALUE_DIM).or(base.value_dim);
    Gqa {
        heads: fields.optional_as("swa_num_attention_heads", HEADS).unwrap_or(base.heads),
        kv_heads: fields.optional_as("swa_num_key_value_heads", KV_HEADS).unwrap_or(base.kv_heads),
        head_dim,
        value_dim: value_dim.filter(|width| *width != head_dim),
        ..base
    }
}

fn with_sink(fields: &mut Fields<'_>, base: Gqa, key: &str) -> Gqa {
    if fields.flag(key) == Some(true) { with_trait(base, GqaTrait::Sinks) } else { base }
}

fn with_trait(mut base: Gqa, added: GqaTrait) -> Gqa {
    base.traits.push(added);
    base
}

/// Gemma 4's global layers have wider heads, and fewer if values are the keys.
fn global(fields: &mut Fields<'_>, mut gqa: Gqa) -> Gqa {
    gqa.head_dim = fields.optional_as("global_head_dim", HEAD_DIM).unwrap_or(gqa.head_dim);
    let kv_heads = fields.optional_as("num_global_key_value_heads", KV_HEADS);
    if fields.flag("attention_k_eq_v") == Some(true) {
        gqa.kv_heads = kv_heads.unwrap_or(gqa.kv_heads);
        return with_trait(gqa, GqaTrait::ValuesFromKeys);
    }
    gqa
}

fn gated_delta(fields: &mut Fields<'_>, joined: bool) -> Delta {
    Delta {
        key_heads: fields.count(LINEAR_KEY_HEADS),
        value_heads: fields.count(LINEAR_VALUE_HEADS),
        key_dim: fields.count(LINEAR_KEY_DIM),
        value_dim: fields.count(LINEAR_VALUE_DIM),
        taps: fields.count_as("linear_conv_kernel_dim", TAPS),
        gates: Gates::PerHead,
        full_gate: None,
        joined: joined.then_some(true),
    }
}

/// A scan whose heads each have their own queries and keys (Mamba-2's matrices), without a convolution.
fn lightning(full: &Attention) -> Mamba {
    let (heads, head_dim) = match full {
        Attention::Gqa(gqa) => (gqa.heads, gqa.head_dim),
        _ => (0, 0),
    };
    Mamba { heads, head_dim, groups: heads, state: head_dim, taps: 1, rank: None }
}

/// Keys and values have as many heads and the same width.
fn kimi_delta(fields: &mut Fields<'_>) -> Delta {
    let heads = fields.count_as("linear_attn_config.num_heads", LINEAR_KEY_HEADS);
    let width = fields.count_as("linear_attn_config.head_dim", LINEAR_KEY_DIM);
    Delta {
        key_heads: heads,
        value_heads: heads,
        key_dim: width,
        value_dim: width,
        taps: fields.count_as("linear_attn_config.short_conv_kernel_size", TAPS),
        gates: Gates::PerChannel,
        full_gate: fields.flag("linear_attn_config.use_full_rank_gate").filter(|full| *full),
        joined: None,
    }
}

fn latent(fields: &mut Fields<'_>) -> Mla {
    // Implied by the other keys.
    fields.skip(&[KV_HEADS.key, HEAD_DIM.key, "qk_head_dim"]);
    Mla {
        heads: fields.count(HEADS),
        query_rank: fields.optional(QUERY_RANK),
        latent: fields.count(LATENT),
        rope: fields.count(ROPE),
        nope: fields.count(NOPE),
        value: fields.count(VALUE_DIM),
        indexer: fields.get(INDEX_TOPK.key).is_some().then(|| indexer(fields)),
        gate: fields.flag("mla_use_output_gate").filter(|gate| *gate),
    }
}

pub fn indexer(fields: &mut Fields<'_>) -> Indexer {
    Indexer {
        heads: fields.count(INDEX_HEADS),
        head_dim: fields.count(INDEX_DIM),
        topk: fields.count(INDEX_TOPK),
        borrowed: None,
    }
}

/// Selected blocks of keys, in the layers that have them.
fn choose(fields: &mut Fields<'_>, attentions: &mut [Attention]) {
    let Some((blocks, marks)) = sparse::blocks(fields, attentions.len()) else { return };
    for (attention, _) in attentions.iter_mut().zip(marks).filter(|(_, marked)| *marked) {
        match attention {
            Attention::Gqa(gqa) => gqa.blocks = Some(blocks),
            _ => {
                return fields
                    .error("`sparse_attention_config` selects keys, and latent attention has none".into());
            }
        }
    }
}

/// GLM-5.2 marks layers that reuse the selection of an earlier one.
fn borrow(fields: &mut Fields<'_>, attentions: &mut [Attention]) {
    let wanted = "full, or shared after the first layer";
    let borrowed =
        fields.per_layer("indexer_types", attentions.len(), wanted, |place, kind| match kind.as_str()? {
            "full" => Some(None),
            "shared" if place > 0 => Some(Some(true)),
            _ => None,
        });
    for (attention, borrowed) in attentions.iter_mut().zip(borrowed) {
        if let Attention::Mla(Mla { indexer: Some(indexer), .. }) = attention {
            indexer.borrowed = borrowed;
        }
    }
}
