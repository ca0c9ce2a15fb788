//! Notes on parts of the published model that are not modelled or approximated, one sentence each.

use serde_json::Value;

use super::family::{Mixers, ModelFamily};
use crate::units::{decimal, fixed};

pub fn of(
    top: &Value,
    text: &Value,
    family: &ModelFamily,
    encoder: Option<u32>,
    shaped: bool,
) -> Vec<String> {
    const COMPRESSED: &str = "No kernel for attention over compressed keys was measured: it is timed as latent attention \
         over the same number of keys, and key selection by counted work.";
    const BLOCKS: &str = "No kernel for block-sparse attention was measured: it is timed as sliding-window attention over \
         the same number of keys, and block selection by counted work.";
    let unknown = |of: &str, tokens: &str| {
        format!("The {of} encoder is not modelled; count {tokens} tokens as prompt tokens.")
    };
    let vision = encoder.map_or_else(
        || unknown("vision", "image"),
        |parameters| {
            let counted = format!("weights are counted ({} B parameters in 16 bits)", fixed(f64::from(parameters) / 1e9, 2));
            if shaped {
                format!("Image tokens are counted in the prompt; the vision encoder's {counted}, and its time for the images you state; \
                     the memory reserved at start-up for the largest images is not counted.")
            } else {
                format!("The vision encoder's {counted}, its time is not; count image tokens as prompt tokens.")
            }
        },
    );
    let crosses = family.mixers == Mixers::Cross;
    let vision = if crosses {
        let tower = if encoder.is_some() {
            ", as the vision encoder does"
        } else {
            "; the vision encoder is left out"
        };
        format!(
            "Only requests without images are counted: they skip the cross-attention layers, which take memory{tower}."
        )
    } else {
        vision
    };
    let chunks = "Chunked attention is modelled as a sliding window of one chunk.";
    let blocks = text["attn_res_block_size"].as_f64().map(decimal);
    let results = |size| {
        format!(
            "Attention over the results of earlier blocks (`attn_res_block_size` {size}) is not modelled."
        )
    };
    // For models that also speak (Qwen Omni).
    let thinker = &top["thinker_config"];
    let has = |key: &str| top[key].is_object() || thinker[key].is_object();
    let notes = [
        (crosses || has("vision_config")).then_some(vision),
        has("audio_config").then(|| unknown("audio", "audio")),
        (family.mixers == Mixers::Chunks).then(|| chunks.to_owned()),
        (family.mixers == Mixers::Compressed).then(|| COMPRESSED.to_owned()),
        text["sparse_attention_config"].is_object().then(|| BLOCKS.to_owned()),
        blocks.map(results),
    ];
    notes.into_iter().flatten().chain(family.notes.iter().cloned()).collect()
}
