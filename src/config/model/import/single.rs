//! Nemotron-H: every layer is a Mamba mixer, an attention, an MLP or a mixture of experts, and nothing else.

use serde_json::Value;

use super::family::Family;
use super::fields::Fields;
use super::layers::Layer;
use super::{attention, ffn};
use crate::config::json;
use crate::config::model::limits::{
    INTERMEDIATE, LAYERS, MAMBA_DIM, MAMBA_GROUPS, MAMBA_HEADS, MAMBA_STATE, TAPS,
};
use crate::config::model::{Attention, Ffn, Mamba};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Mamba,
    Attention,
    Mlp,
    Experts,
}

pub fn layers(fields: &mut Fields<'_>, family: &Family, hidden: Option<u32>) -> Option<Vec<Layer>> {
    let kinds = kinds(fields)?;
    // Only what a layer needs has to be there.
    let has = |kind: Kind| kinds.contains(&kind);
    let mamba = if has(Kind::Mamba) { mamba(fields) } else { None };
    let heads = if has(Kind::Attention) { attention::heads(fields, family, hidden) } else { None };
    let mlp = if has(Kind::Mlp) { ffn::dense(fields, family, INTERMEDIATE.key) } else { None };
    let experts = if has(Kind::Experts) { family.experts } else { None };
    let moe = experts.and_then(|experts| ffn::mixture(fields, family, &experts));
    let mixer = |attention: Option<Attention>| Some(Layer { attention: Some(attention?), ffn: None });
    let of = |kind: &Kind| match kind {
        Kind::Mamba => mixer(mamba.clone().map(Attention::Mamba)),
        Kind::Attention => mixer(heads.clone().map(Attention::Gqa)),
        Kind::Mlp => Some(Layer { attention: None, ffn: Some(Ffn::Dense(mlp.clone()?)) }),
        Kind::Experts => Some(Layer { attention: None, ffn: Some(Ffn::Moe(moe.clone()?)) }),
    };
    kinds.iter().map(of).collect()
}

/// From a letter or a name a layer.
fn kinds(fields: &mut Fields<'_>) -> Option<Vec<Kind>> {
    const LETTERS: &str = "hybrid_override_pattern";
    const NAMES: &str = "layers_block_type";
    let (key, kinds) = match (fields.get(LETTERS), fields.get(NAMES)) {
        (Some(Value::String(pattern)), _) => (LETTERS, pattern.chars().map(letter).collect::<Vec<_>>()),
        (None, Some(Value::Array(names))) => (NAMES, names.iter().map(name).collect()),
        (Some(other), _) => {
            fields.error(format!("`{LETTERS}` is {}: a letter a layer is right", json::kind(other)));
            return None;
        }
        (None, Some(other)) => {
            fields.error(format!("`{NAMES}` is {}: a list is right", json::kind(other)));
            return None;
        }
        (None, None) => {
            fields.error(format!("`{LETTERS}` is missing: a letter a layer, of M, E, * and -"));
            return None;
        }
    };
    let count = kinds.len();
    if let Some(text) = LAYERS.objection(count as f64) {
        fields.error(format!("`{key}` has {count} layers: {text}"));
        return None;
    }
    let stated = fields.optional(LAYERS);
    if let Some(stated) = stated.filter(|stated| *stated as usize != count) {
        fields.error(format!(
            "`num_hidden_layers` is {stated} and `{key}` has {count} layers: both have to agree"
        ));
    }
    let known: Option<Vec<Kind>> = kinds.into_iter().collect();
    if known.is_none() {
        let right = match key {
            LETTERS => "M, E, * and - are right",
            _ => "mamba, moe, attention and mlp are right",
        };
        fields.error(format!("`{key}` has a layer of another kind: {right}"));
    }
    known
}

fn letter(letter: char) -> Option<Kind> {
    match letter {
        'M' => Some(Kind::Mamba),
        '*' => Some(Kind::Attention),
        '-' => Some(Kind::Mlp),
        'E' => Some(Kind::Experts),
        _ => None,
    }
}

fn name(name: &Value) -> Option<Kind> {
    match name.as_str()? {
        "mamba" => Some(Kind::Mamba),
        "attention" => Some(Kind::Attention),
        "mlp" => Some(Kind::Mlp),
        "moe" => Some(Kind::Experts),
        _ => None,
    }
}

fn mamba(fields: &mut Fields<'_>) -> Option<Mamba> {
    let heads = fields.count(MAMBA_HEADS);
    let head_dim = fields.count(MAMBA_DIM);
    let groups = fields.count(MAMBA_GROUPS);
    let state = fields.count(MAMBA_STATE);
    let taps = fields.count(TAPS);
    Some(Mamba { heads: heads?, head_dim: head_dim?, groups: groups?, state: state?, taps: taps? })
}
