//! Nemotron-NAS: `block_configs` describes what the architecture search kept of each layer.

use serde_json::Value;

use super::attention;
use super::family::ModelFamily;
use super::fields::Fields;
use super::layers::ImportedLayer;
use crate::config::model::limits::{INTERMEDIATE, KV_HEADS, LAYERS, Limit, WINDOW};
use crate::config::model::{Attention, Dense, Ffn, Gqa};

const KEY: &str = "block_configs";
/// MLP widths are rounded up to a multiple of this (`DeciLMConfig`).
const WIDTH_STEP: f64 = 256.0;

pub fn layers(fields: &mut Fields<'_>, family: &ModelFamily, hidden: u32) -> Vec<ImportedLayer> {
    let count = fields.count(LAYERS) as usize;
    let base = attention::heads(fields, family, hidden);
    if fields.get(KEY).is_none() {
        fields.error(format!("`{KEY}` is missing: expected an object per layer"));
    }
    let blocks = fields.per_layer(KEY, count, "an object", |_, block| block.is_object().then_some(block));
    let mut layers = Vec::new();
    for (place, block) in blocks.into_iter().enumerate() {
        let mut block = Fields::within(block, format!("{KEY}[{place}]."));
        let layer =
            ImportedLayer { attention: attention_of(&mut block, &base), ffn: mlp_of(&mut block, hidden) };
        for odd in ["replace_with_linear", "sparsify", "num_sink_tokens"] {
            for key in [format!("attention.{odd}"), format!("ffn.{odd}")] {
                if block.get(&key).is_some_and(|value| *value != false) {
                    block.error(format!("`{KEY}[{place}].{key}` is set: not covered by this release"));
                }
            }
        }
        layers.push(layer);
        if !block.is_sound() {
            fields.take(block);
            break;
        }
    }
    layers
}

fn attention_of(block: &mut Fields<'_>, base: &Gqa) -> Option<Attention> {
    const GROUP: &str = "attention.n_heads_in_group";
    if block.flag("attention.no_op") == Some(true) {
        return None;
    }
    let group = block.count_as(GROUP, KV_HEADS);
    if !base.heads.is_multiple_of(group) {
        let heads = base.heads;
        block.error(format!(
            "`{GROUP}` of a layer is {group}, which does not divide `num_attention_heads` ({heads})"
        ));
    }
    let window = block.optional_as("attention.window_length", WINDOW);
    let kv_heads = base.heads.checked_div(group).unwrap_or(0);
    Some(Attention::Gqa(Gqa { kv_heads, window, ..base.clone() }))
}

fn mlp_of(block: &mut Fields<'_>, hidden: u32) -> Option<Ffn> {
    const TIMES: &str = "ffn.ffn_mult";
    if block.flag("ffn.no_op") == Some(true) {
        return None;
    }
    let given = block.get(TIMES).unwrap_or(&Value::Null);
    let Some(times) = given.as_f64().filter(|times| *times > 0.0) else {
        block.expected(TIMES, given, "a number above 0");
        return None;
    };
    // Two thirds of the multiple, since a gated MLP has three projections.
    let width = (2.0 * times * f64::from(hidden) / 3.0).floor();
    let width = (width / WIDTH_STEP).ceil() * WIDTH_STEP;
    let limit = Limit { key: "intermediate size by ffn.ffn_mult", ..INTERMEDIATE };
    Some(Ffn::Dense(Dense { intermediate: block.derived(limit, width), ungated: None }))
}
