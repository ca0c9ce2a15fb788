//! MLPs, mixtures of experts, and which layer has which.

use serde_json::Value;

use super::family::{Experts, ModelFamily, Shared, Width};
use super::fields::Fields;
use crate::config::model::limits::{EXPERT_WIDTH, EXPERTS, HIDDEN, INTERMEDIATE, LAYERS, Limit, TOPK};
use crate::config::model::{Dense, Ffn, Moe};

/// The feed-forward part of every layer.
pub fn per_layer(fields: &mut Fields<'_>, family: &'static ModelFamily, layers: usize) -> Vec<Ffn> {
    let Some(experts) = experts_of(fields, family) else {
        let key = family.experts.as_ref().map_or(INTERMEDIATE.key, |experts| &experts.dense);
        return vec![Ffn::Dense(dense(fields, family, key)); layers];
    };
    let moe = Ffn::Moe(mixture(fields, family, experts));
    let sparse = sparse(fields, layers);
    let dense = match sparse.contains(&false) {
        true => Ffn::Dense(dense(fields, family, &experts.dense)),
        false => {
            fields.skip(&[&experts.dense]);
            moe.clone()
        }
    };
    sparse.iter().map(|sparse| if *sparse { moe.clone() } else { dense.clone() }).collect()
}

/// The family's experts, unless this model has none (Gemma 4).
fn experts_of(fields: &mut Fields<'_>, family: &'static ModelFamily) -> Option<&'static Experts> {
    let without = fields.flag("enable_moe_block") == Some(false);
    // Granite 4's small models have only the shared expert.
    let experts = family.experts.as_ref()?;
    if without || fields.get(&experts.count).is_some_and(|count| *count == 0) {
        fields.skip(&[&experts.count, &experts.topk, &experts.width]);
        return None;
    }
    Some(experts)
}

pub fn dense(fields: &mut Fields<'_>, family: &'static ModelFamily, key: &'static str) -> Dense {
    let ratio = if family.width == Width::Multiple { fields.get("expansion_ratio") } else { None };
    let intermediate = match family.width {
        Width::Multiple if fields.get(key).is_none() => {
            let width = f64::from(fields.count(HIDDEN)) * ratio.and_then(Value::as_f64).unwrap_or(4.0);
            fields.derived(Limit { key: "expansion_ratio × hidden_size", ..INTERMEDIATE }, width)
        }
        Width::Both => fields.count_as(key, INTERMEDIATE) / 2,
        _ => fields.count_as(key, INTERMEDIATE),
    };
    Dense { intermediate, ungated: (!family.gated).then_some(true) }
}

pub fn mixture(fields: &mut Fields<'_>, family: &'static ModelFamily, experts: &'static Experts) -> Moe {
    let intermediate = fields.count_as(&experts.width, EXPERT_WIDTH);
    let shared = match &experts.shared {
        Shared::None => 0,
        Shared::Width(key) | Shared::Gated(key) => fields.some_of(key, INTERMEDIATE),
        Shared::Count(key) => {
            let product = f64::from(fields.some_of(key, EXPERTS)) * f64::from(intermediate);
            let limit = Limit { key: "moe_intermediate_size × shared experts", min: 0, ..INTERMEDIATE };
            fields.derived(limit, product)
        }
        Shared::One => intermediate,
    };
    let gated = matches!(experts.shared, Shared::Gated(_));
    Moe {
        experts: fields.count_as(&experts.count, EXPERTS),
        topk: fields.count_as(&experts.topk, TOPK),
        intermediate,
        shared: (shared > 0).then_some(shared),
        shared_gate: (gated && shared > 0).then_some(true),
        ungated: (!family.gated).then_some(true),
        latent: experts.latent.as_ref().and_then(|key| fields.optional_as(key, INTERMEDIATE)),
        bias: experts.bias.then_some(true),
        exact_router: experts.exact_router.then_some(true),
        beside: experts.beside.then(|| dense(fields, family, &experts.dense).intermediate),
    }
}

/// Which layers are sparse: all except those excluded by one of the config's rules.
fn sparse(fields: &mut Fields<'_>, layers: usize) -> Vec<bool> {
    let first = fields.some_of("first_k_dense_replace", LAYERS) as usize;
    let mut steps = ["decoder_sparse_step", "interleave_moe_layer_step"]
        .map(|key| fields.count_or(Limit { key, ..LAYERS }, 1) as usize);
    steps.iter_mut().for_each(|step| *step = (*step).max(1));
    let dense = fields.layers("mlp_only_layers");
    // ERNIE: the last sparse layer, -1 for all.
    let last = fields.get("moe_layer_end_index").and_then(Value::as_f64).filter(|last| *last >= 0.0);
    let (every, marked) = match fields.get("moe_layer_freq") {
        Some(Value::Array(_)) => (1, fields.marks("moe_layer_freq", layers)),
        _ => (fields.count_or(Limit { key: "moe_layer_freq", ..LAYERS }, 1) as usize, Vec::new()),
    };
    // Step 3.5.
    let listed = fields.layers("moe_layers_enum");
    // GLM-5.
    let named =
        fields.per_layer("mlp_layer_types", layers, "dense or sparse", |_, kind| match kind.as_str()? {
            "dense" => Some(false),
            "sparse" => Some(true),
            _ => None,
        });
    let sparse = |layer: usize| {
        // If per-layer marks exist, they include the first layers.
        (layer >= first || !marked.is_empty())
            && layer.is_multiple_of(every.max(1))
            && steps.iter().all(|step| (layer + 1).is_multiple_of(*step))
            && !dense.contains(&(layer as f64))
            && last.is_none_or(|last| layer as f64 <= last)
            && (listed.is_empty() || listed.contains(&(layer as f64)))
            && [&marked, &named].into_iter().all(|list| list.get(layer) != Some(&false))
    };
    (0..layers).map(sparse).collect()
}
