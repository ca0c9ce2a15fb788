//! Attention over compressed keys and over selected blocks of keys.

use super::attention::indexer;
use super::fields::Fields;
use crate::config::model::limits::{
    BLOCK_DIM, BLOCK_HEADS, BLOCK_SIZE, BLOCK_TOPK, HEAD_DIM, HEADS, OUTPUT_GROUPS, OUTPUT_RANK, QUERY_RANK,
    RATIO, ROPE, WINDOW,
};
use crate::config::model::{Attention, Compressed, KeyBlocks};

/// Compression ratio of layers whose entries overlap and are selected by an indexer; other layers attend to all
/// entries (`DeepseekV4Attention`: compressed sparse and heavily compressed attention).
const CHOSEN_RATIO: u32 = 4;

/// DeepSeek-V4's attention per layer, from `compress_ratios`: 0 for window-only.
pub fn compressed(fields: &mut Fields<'_>, layers: usize) -> Vec<Attention> {
    let base = Compressed {
        heads: fields.count(HEADS),
        head_dim: fields.count(HEAD_DIM),
        rope: fields.count(ROPE),
        query_rank: fields.count(QUERY_RANK),
        window: fields.count(WINDOW),
        ratio: None,
        indexer: None,
        groups: fields.count(OUTPUT_GROUPS),
        output_rank: fields.count(OUTPUT_RANK),
    };
    let indexer = indexer(fields);
    let of = |ratio: u32| {
        let indexer = (ratio == CHOSEN_RATIO).then_some(indexer);
        Attention::Compressed(Compressed { ratio: (ratio > 0).then_some(ratio), indexer, ..base.clone() })
    };
    ratios(fields, layers).into_iter().map(of).collect()
}

/// One entry per layer; those of the multi-token prediction layers come last.
fn ratios(fields: &mut Fields<'_>, layers: usize) -> Vec<u32> {
    let key = RATIO.key;
    if fields.get(key).is_none() {
        fields.error(format!(
            "`{key}` is missing: expected the tokens per compressed key, one number per layer"
        ));
    }
    let Some(list) = fields.list(key) else { return Vec::new() };
    let Some(list) = list.get(..layers) else {
        fields
            .error(format!("`{key}` has {} entries for {layers} layers: expected one per layer", list.len()));
        return Vec::new();
    };
    fields.each(key, list, "a whole number, 0 for none", |_, entry| {
        let ratio = entry.as_f64()?;
        (ratio == 0.0 || RATIO.objection(ratio).is_none()).then_some(ratio as u32)
    })
}

/// MiniMax-M3's selection of blocks, where the config has one, and which layers have it.
pub fn blocks(fields: &mut Fields<'_>, layers: usize) -> Option<(KeyBlocks, Vec<bool>)> {
    const LAYERS: &str = "sparse_attention_config.sparse_attention_freq";
    fields.get("sparse_attention_config")?;
    if fields.flag("sparse_attention_config.use_sparse_attention") == Some(false) {
        return None;
    }
    let blocks = KeyBlocks {
        heads: fields.count(BLOCK_HEADS),
        head_dim: fields.count(BLOCK_DIM),
        size: fields.count(BLOCK_SIZE),
        topk: fields.count(BLOCK_TOPK),
    };
    let marks = match fields.get(LAYERS) {
        Some(_) => fields.marks(LAYERS, layers),
        None => vec![true; layers],
    };
    Some((blocks, marks))
}
