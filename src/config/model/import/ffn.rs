//! MLPs, mixtures of experts, and which layer has which.

use serde_json::Value;

use super::experts::{Experts, Shared};
use super::family::Family;
use super::fields::Fields;
use super::layers::marks;
use crate::config::model::limits::{EXPERT_WIDTH, EXPERTS, INTERMEDIATE, LAYERS, Limit, TOPK};
use crate::config::model::{Dense, Ffn, Moe};

/// The MLP or the experts of every layer.
pub fn per_layer(fields: &mut Fields<'_>, family: &Family, layers: Option<u32>) -> Option<Vec<Ffn>> {
    let Some(experts) = experts_of(fields, family) else {
        let dense = Ffn::Dense(dense(fields, family, INTERMEDIATE.key)?);
        return Some(vec![dense; layers? as usize]);
    };
    let moe = mixture(fields, family, &experts).map(Ffn::Moe);
    let sparse = sparse(fields, layers?)?;
    let dense = match sparse.contains(&false) {
        true => Some(Ffn::Dense(dense(fields, family, experts.dense)?)),
        false => None,
    };
    let moe = moe?;
    sparse.iter().map(|sparse| if *sparse { Some(moe.clone()) } else { dense.clone() }).collect()
}

/// The family's experts, unless this model of it has none (Gemma 4).
fn experts_of(fields: &mut Fields<'_>, family: &Family) -> Option<Experts> {
    let without = fields.flag("enable_moe_block") == Some(false);
    family.experts.filter(|_| !without)
}

pub fn dense(fields: &mut Fields<'_>, family: &Family, key: &'static str) -> Option<Dense> {
    let intermediate = fields.count_as(key, INTERMEDIATE)?;
    Some(Dense { intermediate, ungated: (!family.gated).then_some(true) })
}

pub fn mixture(fields: &mut Fields<'_>, family: &Family, experts: &Experts) -> Option<Moe> {
    let count = fields.count_as(experts.count, EXPERTS);
    let topk = fields.count_as(experts.topk, TOPK);
    let width = fields.count_as(experts.width, EXPERT_WIDTH);
    let latent = experts.latent.and_then(|key| fields.optional(Limit { key, ..INTERMEDIATE }));
    let (shared, gate) = match experts.shared {
        Shared::None => (0, None),
        Shared::Width(key) => (fields.some_of(key, INTERMEDIATE), None),
        Shared::Gated(key) => (fields.some_of(key, INTERMEDIATE), Some(true)),
        Shared::Count(key) => {
            let number = fields.some_of(key, EXPERTS);
            let product = f64::from(number) * f64::from(width.unwrap_or(0));
            let limit = Limit { key: "moe_intermediate_size × shared experts", min: 0, ..INTERMEDIATE };
            if let Some(text) = limit.objection(product) {
                fields.error(text);
            }
            (product as u32, None)
        }
        Shared::One => (width.unwrap_or(0), None),
    };
    let beside = if experts.beside { Some(dense(fields, family, experts.dense)?.intermediate) } else { None };
    let there = shared > 0;
    Some(Moe {
        experts: count?,
        topk: topk?,
        intermediate: width?,
        shared: there.then_some(shared),
        shared_gate: gate.filter(|_| there),
        ungated: (!family.gated).then_some(true),
        latent,
        bias: experts.bias.then_some(true),
        beside,
    })
}

/// Which layers choose among experts: all but those that one of the config's rules takes out.
fn sparse(fields: &mut Fields<'_>, layers: u32) -> Option<Vec<bool>> {
    let mut sparse = vec![true; layers as usize];
    let first = fields.some_of("first_k_dense_replace", LAYERS);
    let step = fields.count_or(Limit { key: "decoder_sparse_step", ..LAYERS }, 1)?;
    let interleaved = fields.count_or(Limit { key: "interleave_moe_layer_step", ..LAYERS }, 1)?;
    let dense = fields.layers("mlp_only_layers");
    let (every, marked) = match fields.get("moe_layer_freq") {
        Some(Value::Array(_)) => (1, Some(marks(fields, "moe_layer_freq", sparse.len())?)),
        _ => (fields.count_or(Limit { key: "moe_layer_freq", ..LAYERS }, 1)?, None),
    };
    let named = named(fields, sparse.len())?;
    for ((place, entry), layer) in sparse.iter_mut().enumerate().zip(0u32..) {
        let of = |list: &Option<Vec<bool>>| list.as_ref().is_none_or(|list| list.get(place) == Some(&true));
        // With marks of its own a model's first layers are among them.
        *entry = (layer >= first || marked.is_some())
            && layer % every == 0
            && (layer + 1) % step == 0
            && (layer + 1) % interleaved == 0
            && !dense.contains(&f64::from(layer))
            && of(&marked)
            && of(&named);
    }
    Some(sparse)
}

/// `mlp_layer_types` of GLM-5; the outer option is for what cannot be read.
#[expect(clippy::option_option, reason = "left out is not the same as wrong")]
fn named(fields: &mut Fields<'_>, layers: usize) -> Option<Option<Vec<bool>>> {
    const KEY: &str = "mlp_layer_types";
    if fields.get(KEY).is_none() {
        return Some(None);
    }
    let mut named = Vec::new();
    for (place, kind) in fields.per_layer(KEY, layers)?.iter().enumerate() {
        named.push(match kind.as_str() {
            Some("dense") => false,
            Some("sparse") => true,
            _ => {
                fields.stranger(KEY, place, kind, "dense or sparse");
                return None;
            }
        });
    }
    Some(Some(named))
}
