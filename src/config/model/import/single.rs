//! Nemotron-H: each layer is exactly one of a Mamba mixer, attention, an MLP or a mixture of experts.

use serde_json::Value;

use super::family::ModelFamily;
use super::fields::Fields;
use super::layers::ImportedLayer;
use super::{attention, ffn};
use crate::config::model::limits::{
    INTERMEDIATE, LAYERS, Limit, MAMBA_DIM, MAMBA_EXPAND, MAMBA_GROUPS, MAMBA_HEADS, MAMBA_STATE, RANK, TAPS,
};
use crate::config::model::{Attention, Ffn, Mamba};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SingleLayer {
    Mamba,
    Attention,
    Mlp,
    Experts,
}

/// In the order of the variants: the letter of a kind, and its name.
const KINDS: [(char, &str, SingleLayer); 4] = [
    ('M', "mamba", SingleLayer::Mamba),
    ('*', "attention", SingleLayer::Attention),
    ('-', "mlp", SingleLayer::Mlp),
    ('E', "moe", SingleLayer::Experts),
];

pub fn layers(fields: &mut Fields<'_>, family: &'static ModelFamily, hidden: u32) -> Vec<ImportedLayer> {
    let kinds = kinds(fields);
    // Only what the layers use is required.
    let mut of = |kind: SingleLayer| {
        if !kinds.contains(&kind) {
            return ImportedLayer::default();
        }
        match kind {
            SingleLayer::Mamba => {
                ImportedLayer { attention: Some(Attention::Mamba(mamba(fields, hidden))), ffn: None }
            }
            SingleLayer::Attention => {
                let heads = attention::heads(fields, family, hidden);
                ImportedLayer { attention: Some(Attention::Gqa(heads)), ffn: None }
            }
            SingleLayer::Mlp => {
                let mlp = ffn::dense(fields, family, INTERMEDIATE.key);
                ImportedLayer { attention: None, ffn: Some(Ffn::Dense(mlp)) }
            }
            SingleLayer::Experts => {
                let moe = family.experts.as_ref().map(|experts| ffn::mixture(fields, family, experts));
                ImportedLayer { attention: None, ffn: moe.map(Ffn::Moe) }
            }
        }
    };
    let layers = KINDS.map(|(_, _, kind)| of(kind));
    kinds.iter().map(|kind| layers[*kind as usize].clone()).collect()
}

/// The kinds of layers, from a letter or a name for each.
fn kinds(fields: &mut Fields<'_>) -> Vec<SingleLayer> {
    const LETTERS: &str = "hybrid_override_pattern";
    const NAMES: &str = "layers_block_type";
    let known = |is: &dyn Fn(char, &str) -> bool| {
        KINDS.iter().find(|(letter, name, _)| is(*letter, name)).map(|(.., kind)| *kind)
    };
    let (key, kinds) = match (fields.get(LETTERS), fields.get(NAMES)) {
        (Some(Value::String(pattern)), _) => {
            let kinds: Vec<SingleLayer> =
                pattern.chars().map_while(|one| known(&|letter, _| letter == one)).collect();
            if kinds.len() < pattern.chars().count() {
                fields.error(format!("`{LETTERS}` has an unknown letter: expected M, E, * and -"));
            }
            (LETTERS, kinds)
        }
        (Some(other), _) => {
            fields.expected(LETTERS, other, "text with a letter per layer");
            return Vec::new();
        }
        (None, Some(_)) => {
            let list = fields.list(NAMES).map(Vec::as_slice).unwrap_or_default();
            (
                NAMES,
                fields.each(NAMES, list, "mamba, moe, attention or mlp", |_, kind| {
                    known(&|_, name| kind == name)
                }),
            )
        }
        (None, None) => {
            fields.error(format!("`{LETTERS}` is missing: expected a letter per layer, of M, E, * and -"));
            return Vec::new();
        }
    };
    let count = kinds.len();
    if !fields.is_sound() {
        return kinds;
    }
    if let Some(text) = LAYERS.objection(count as f64) {
        fields.error(format!("`{key}` has {count} layers: {text}"));
        return Vec::new();
    }
    if let Some(stated) = fields.optional(LAYERS).filter(|stated| *stated as usize != count) {
        fields.error(format!("`num_hidden_layers` is {stated}, but `{key}` has {count} layers"));
    }
    kinds
}

/// Mamba-2, or Mamba-1 where steps have a rank: its channels are heads of one, with one input and one output matrix for all.
pub fn mamba(fields: &mut Fields<'_>, hidden: u32) -> Mamba {
    let (state, taps) = (fields.count(MAMBA_STATE), fields.count(TAPS));
    let Some(rank) = fields.get(RANK.key) else {
        return Mamba {
            heads: fields.count(MAMBA_HEADS),
            head_dim: fields.count(MAMBA_DIM),
            groups: fields.count(MAMBA_GROUPS),
            state,
            taps,
            rank: None,
        };
    };
    let rank = if rank == "auto" { hidden.div_ceil(16) } else { fields.count(RANK) };
    let width = f64::from(hidden) * f64::from(fields.count(MAMBA_EXPAND));
    let heads = fields.derived(Limit { key: "mamba_expand × hidden_size", ..MAMBA_HEADS }, width);
    Mamba { heads, head_dim: 1, groups: 1, state, taps, rank: Some(rank) }
}
