//! Attention over compressed keys and over chosen blocks of keys.

use super::attention::indexer;
use super::fields::Fields;
use super::layers::marks;
use crate::config::model::limits::{
    BLOCK_DIM, BLOCK_HEADS, BLOCK_SIZE, BLOCK_TOPK, HEAD_DIM, HEADS, OUTPUT_GROUPS, OUTPUT_RANK, QUERY_RANK,
    RATIO, ROPE, WINDOW,
};
use crate::config::model::{Attention, Compressed, KeyBlocks};

/// Tokens of an entry in layers whose entries overlap and are chosen by an indexer; the others see all of
/// theirs (`DeepseekV4Attention`: compressed sparse and heavily compressed attention).
const CHOSEN_RATIO: u32 = 4;

/// DeepSeek-V4's attention of every layer, by `compress_ratios`: nought for the window alone.
pub fn compressed(fields: &mut Fields<'_>, layers: Option<u32>) -> Option<Vec<Attention>> {
    let heads = fields.count(HEADS);
    let head_dim = fields.count(HEAD_DIM);
    let rope = fields.count(ROPE);
    let query_rank = fields.count(QUERY_RANK);
    let window = fields.count(WINDOW);
    let groups = fields.count(OUTPUT_GROUPS);
    let output_rank = fields.count(OUTPUT_RANK);
    let indexer = indexer(fields);
    let ratios = ratios(fields, layers? as usize);
    let base = Compressed {
        heads: heads?,
        head_dim: head_dim?,
        rope: rope?,
        query_rank: query_rank?,
        window: window?,
        ratio: None,
        indexer: None,
        groups: groups?,
        output_rank: output_rank?,
    };
    let indexer = indexer?;
    let of = |ratio: u32| {
        let chosen = (ratio == CHOSEN_RATIO).then_some(indexer);
        Attention::Compressed(Compressed {
            ratio: (ratio > 0).then_some(ratio),
            indexer: chosen,
            ..base.clone()
        })
    };
    Some(ratios?.into_iter().map(of).collect())
}

/// An entry a layer; those of the layers that predict further tokens stand at the end.
fn ratios(fields: &mut Fields<'_>, layers: usize) -> Option<Vec<u32>> {
    let key = RATIO.key;
    let Some(list) = fields.list(key) else {
        if fields.get(key).is_none() {
            fields.error(format!("`{key}` is missing: the tokens of a compressed key, one number a layer"));
        }
        return None;
    };
    if list.len() < layers {
        let given = list.len();
        fields.error(format!(
            "`{key}` has {given} entries and the model {layers} layers: one a layer is right"
        ));
        return None;
    }
    let mut ratios = Vec::new();
    for (place, entry) in list.iter().take(layers).enumerate() {
        match entry.as_f64() {
            Some(value) if value == 0.0 || RATIO.objection(value).is_none() => ratios.push(value as u32),
            _ => {
                fields.stranger(key, place, entry, "a whole number, 0 for none,");
                return None;
            }
        }
    }
    Some(ratios)
}

/// MiniMax-M3's choice of blocks, where the config has one, and the layers with it. The outer option is for
/// what cannot be read.
#[expect(clippy::option_option, reason = "left out is not the same as wrong")]
pub fn blocks(fields: &mut Fields<'_>, layers: usize) -> Option<Option<(KeyBlocks, Vec<bool>)>> {
    const LAYERS: &str = "sparse_attention_config.sparse_attention_freq";
    if fields.get("sparse_attention_config").is_none()
        || fields.flag("sparse_attention_config.use_sparse_attention") == Some(false)
    {
        return Some(None);
    }
    let heads = fields.count(BLOCK_HEADS);
    let head_dim = fields.count(BLOCK_DIM);
    let size = fields.count(BLOCK_SIZE);
    let topk = fields.count(BLOCK_TOPK);
    let marks = match fields.get(LAYERS) {
        Some(_) => marks(fields, LAYERS, layers)?,
        None => vec![true; layers],
    };
    Some(Some((KeyBlocks { heads: heads?, head_dim: head_dim?, size: size?, topk: topk? }, marks)))
}
