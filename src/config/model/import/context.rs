//! The longest context a model supports.

use super::family::ModelFamily;
use super::fields::Fields;
use crate::config::model::limits::{CONTEXT, Limit};

/// Tokens of context: `max_position_embeddings`, scaled by `rope_scaling` if that key does not already include it.
///
/// The rule is vLLM's (`_get_and_verify_max_len`): YaRN multiplies the original context by its factor,
/// linear and dynamic scaling multiply the stated one; Llama 3's, LongRoPE's and Gemma 3's are already stated.
pub fn longest(fields: &mut Fields<'_>, family: &ModelFamily) -> u32 {
    // Command R and Kimi Linear: takes precedence over the other, as in vLLM.
    let stated = match fields.optional_as("model_max_length", CONTEXT) {
        Some(stated) => {
            fields.skip(&[CONTEXT.key]);
            stated
        }
        None => fields.count(CONTEXT),
    };
    if family.stretched {
        return stated;
    }
    let object = fields.object();
    let ropes = ["rope_scaling", "rope_parameters"].map(|key| &object[key]);
    let Some(rope) = ropes.into_iter().find(|rope| rope.is_object()) else { return stated };
    let kind = rope["rope_type"].as_str().or(rope["type"].as_str()).unwrap_or("default");
    let base = match kind {
        "yarn" => rope["original_max_position_embeddings"].as_f64().unwrap_or(f64::from(stated)),
        "linear" | "dynamic" => f64::from(stated),
        _ => return stated,
    };
    let Some(factor) = rope["factor"].as_f64() else { return stated };
    if stated == 0 {
        return 0;
    }
    fields.derived(Limit { key: "rope_scaling.factor × context", ..CONTEXT }, (base * factor).floor())
}
