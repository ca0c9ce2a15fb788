//! What the published model holds beyond what is counted, a sentence each.

use crate::config::json::Object;

use super::family::{Family, Mixers};
use crate::units::decimal;

pub fn of(top: &Object, text: &Object, family: &Family) -> Vec<String> {
    let mut notes = Vec::new();
    if top.object("vision_config").is_some() {
        notes.push("The vision encoder is not counted: image tokens count as prompt tokens.".to_owned());
    }
    if top.object("audio_config").is_some() {
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
    if text.object("sparse_attention_config").is_some() {
        notes.push(
            "Attention over chosen blocks of keys was never measured: it is timed as attention in a window of as \
             many keys, and the choice among them by counted work."
                .into(),
        );
    }
    if let Some(blocks) = text.number("attn_res_block_size") {
        let blocks = decimal(blocks);
        notes.push(format!(
            "Attention over earlier blocks' results (`attn_res_block_size` {blocks}) is not counted."
        ));
    }
    notes
}
