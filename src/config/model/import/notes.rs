//! What the published model holds beyond what is counted, a sentence each.

use serde_json::Value;

use super::family::{Family, Mixers};
use crate::units::decimal;

pub fn of(top: &Value, text: &Value, family: &Family) -> Vec<String> {
    let mut notes = Vec::new();
    if top["vision_config"].is_object() {
        notes.push("The vision encoder is not counted: image tokens count as prompt tokens.".to_owned());
    }
    if top["audio_config"].is_object() {
        notes.push("The audio encoder is not counted: audio tokens count as prompt tokens.".to_owned());
    }
    if family.mixers == Mixers::Chunks {
        notes.push("Attention in chunks is counted as a sliding window of a chunk's length.".into());
    }
    if family.mixers == Mixers::Compressed {
        notes.push(
            "Attention over compressed keys was never measured: it is timed as latent attention over as many keys, \
             and the choice among them by counted work."
                .into(),
        );
    }
    if text["sparse_attention_config"].is_object() {
        notes.push(
            "Attention over chosen blocks of keys was never measured: it is timed as attention in a window of as \
             many keys, and the choice among them by counted work."
                .into(),
        );
    }
    if let Some(blocks) = text["attn_res_block_size"].as_f64() {
        let blocks = decimal(blocks);
        notes.push(format!(
            "Attention over earlier blocks' results (`attn_res_block_size` {blocks}) is not counted."
        ));
    }
    notes
}
