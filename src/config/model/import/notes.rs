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
    // MiniMax counts modules and says elsewhere whether there are any.
    let heads = ["num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"];
    let predicts = heads.iter().any(|key| text.number(key).is_some_and(|layers| layers > 0.0));
    if predicts && text.flag("use_mtp") != Some(false) {
        notes.push(
            "The multi-token-prediction layers are not counted: they serve speculative decoding.".into(),
        );
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
