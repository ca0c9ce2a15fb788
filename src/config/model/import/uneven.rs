//! Nemotron-NAS: `block_configs` says of each layer what a search left of it.

use serde_json::Value;

use super::attention;
use super::family::Family;
use super::fields::Fields;
use super::layers::Layer;
use crate::config::json;
use crate::config::model::limits::{INTERMEDIATE, KV_HEADS, LAYERS, Limit, WINDOW};
use crate::config::model::{Attention, Dense, Ffn, Gqa};
use crate::units::decimal;

const KEY: &str = "block_configs";
/// MLPs are as wide as the next multiple of this (`DeciLMConfig`).
const WIDTH_STEP: f64 = 256.0;

pub fn layers(fields: &mut Fields<'_>, family: &Family, hidden: Option<u32>) -> Option<Vec<Layer>> {
    let count = fields.count(LAYERS);
    let base = attention::heads(fields, family, hidden);
    if fields.get(KEY).is_none() {
        fields.error(format!("`{KEY}` is missing: an object a layer is right"));
    }
    let blocks = fields.per_layer(KEY, count? as usize)?;
    let (base, hidden) = (base?, hidden?);
    let mut layers = Vec::new();
    for (place, block) in blocks.iter().enumerate() {
        match layer(block, &base, hidden) {
            Ok(layer) => layers.push(layer),
            Err(text) => {
                fields.error(format!("`{KEY}[{place}].{text}"));
                return None;
            }
        }
    }
    Some(layers)
}

/// The error goes on after the name of the block: the rest of the key, a backtick and what is wrong.
fn layer(block: &Value, base: &Gqa, hidden: u32) -> Result<Layer, String> {
    if !block.is_object() {
        return Err(format!("` is {}: an object is right", json::kind(block)));
    }
    let side =
        |key: &'static str| json::inner(block, key).ok_or(format!("{key}` is missing: an object is right"));
    let (attention, ffn) = (side("attention")?, side("ffn")?);
    for (key, side) in [("attention", attention), ("ffn", ffn)] {
        for odd in ["replace_with_linear", "sparsify", "num_sink_tokens"] {
            if side.get(odd).is_some_and(|value| *value != Value::Bool(false) && !value.is_null()) {
                return Err(format!("{key}.{odd}` is set: not covered by this release"));
            }
        }
    }
    let whole = |key: &'static str, limit: Limit, value: f64| match (Limit { key, ..limit }).objection(value)
    {
        None => Ok(value as u32),
        Some(text) => Err(format!("{key}`: {text}")),
    };
    let gqa = if attention["no_op"] == true {
        None
    } else {
        const GROUP: &str = "attention.n_heads_in_group";
        let group = attention["n_heads_in_group"].as_f64().ok_or(format!("{GROUP}` is missing"))?;
        let group = whole(GROUP, KV_HEADS, group)?;
        if !base.heads.is_multiple_of(group) {
            return Err(format!(
                "{GROUP}` is {group}: it has to divide `num_attention_heads`, {}",
                base.heads
            ));
        }
        let window = attention["window_length"].as_f64();
        let window = window.map(|size| whole("attention.window_length", WINDOW, size)).transpose()?;
        Some(Attention::Gqa(Gqa { kv_heads: base.heads / group, window, ..base.clone() }))
    };
    let mlp = if ffn["no_op"] == true {
        None
    } else {
        let times = ffn["ffn_mult"].as_f64().ok_or("ffn.ffn_mult` is missing")?;
        if !(times.is_finite() && times > 0.0) {
            return Err(format!("ffn.ffn_mult` is {}: more than 0 is right", decimal(times)));
        }
        // Two thirds of the multiple, since a gated MLP has three projections.
        let width = (2.0 * times * f64::from(hidden) / 3.0).floor();
        let width = (width / WIDTH_STEP).ceil() * WIDTH_STEP;
        let intermediate = whole("ffn.ffn_mult", INTERMEDIATE, width)?;
        Some(Ffn::Dense(Dense { intermediate, ungated: None }))
    };
    Ok(Layer { attention: gqa, ffn: mlp })
}
