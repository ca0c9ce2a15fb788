//! Which layer is what: one entry a layer, then alike layers together.

use serde_json::Value;

use super::attention::Sizes;
use super::family::{Family, Mixers, Window};
use super::fields::Fields;
use super::{attention, ffn, single, sparse, uneven};
use crate::config::model::limits::{CONTEXT, LAYERS, Limit, WINDOW};
use crate::config::model::{Attention, Blocks, Ffn, Norms};

/// One decoder layer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    pub attention: Option<Attention>,
    pub ffn: Option<Ffn>,
}

/// What mixes tokens in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Full,
    Local,
    Linear,
}

/// Every layer of the model, in order.
pub fn read(fields: &mut Fields<'_>, family: &Family, hidden: Option<u32>) -> Option<Vec<Layer>> {
    match family.mixers {
        Mixers::Single => return single::layers(fields, family, hidden),
        Mixers::Listed => return uneven::layers(fields, family, hidden),
        _ => {}
    }
    // Each is read before the first `?`, so that every missing field is named at once.
    let layers = fields.count(LAYERS);
    let attentions = match family.mixers {
        Mixers::Compressed => sparse::compressed(fields, layers),
        _ => {
            let sizes = Sizes::read(fields, family, hidden);
            layers.and_then(|layers| attention::per_layer(fields, family, sizes, layers))
        }
    };
    let ffns = ffn::per_layer(fields, family, layers);
    let pairs = attentions?.into_iter().zip(ffns?);
    Some(pairs.map(|(attention, ffn)| Layer { attention: Some(attention), ffn: Some(ffn) }).collect())
}

/// Alike layers together, in order of first appearance.
pub fn group(layers: &[Layer], norms: Norms) -> Vec<Blocks> {
    let mut groups: Vec<Blocks> = Vec::new();
    for layer in layers {
        let alike = |group: &&mut Blocks| group.attention == layer.attention && group.ffn == layer.ffn;
        match groups.iter_mut().find(alike) {
            Some(group) => group.count += 1,
            None => groups.push(Blocks {
                count: 1,
                attention: layer.attention.clone(),
                ffn: layer.ffn.clone(),
                norms,
                streams: None,
            }),
        }
    }
    groups
}

/// Keys that a query of a local layer sees; none where no layer is local, or sees less than all.
pub fn window(fields: &mut Fields<'_>, family: &Family) -> Option<u32> {
    let key = match family.mixers {
        Mixers::Chunks => "attention_chunk_size",
        _ => WINDOW.key,
    };
    let flag = fields.flag("use_sliding_window");
    let size = fields.optional(Limit { key, ..WINDOW });
    let size = match family.window {
        Window::Flagged if flag != Some(true) => None,
        Window::Default(size) if fields.object().get(key).is_none() => Some(size),
        _ if flag == Some(false) => None,
        _ => size,
    };
    let context = fields.object()[CONTEXT.key].as_f64().unwrap_or(f64::INFINITY);
    size.filter(|size| f64::from(*size) < context)
}

/// The kind of each layer.
pub fn kinds(
    fields: &mut Fields<'_>,
    family: &Family,
    window: Option<u32>,
    layers: u32,
) -> Option<Vec<Kind>> {
    let count = layers as usize;
    let named = |of: &dyn Fn(u32) -> bool, yes: Kind, no: Kind| {
        Some((0..layers).map(|layer| if of(layer) { yes } else { no }).collect())
    };
    if fields.get("layer_types").is_some() && family.mixers != Mixers::Latent {
        return by_name(fields, family, count);
    }
    match family.mixers {
        Mixers::Swa => {
            let marks = marks(fields, "hybrid_layer_pattern", count);
            if marks.is_none() && fields.get("hybrid_layer_pattern").is_none() {
                fields.error(
                    "`hybrid_layer_pattern` is missing: a one for each layer that slides is right".into(),
                );
            }
            let marks = marks?;
            named(&|layer| marks.get(layer as usize) == Some(&true), Kind::Local, Kind::Full)
        }
        Mixers::Chunks => {
            // Marks the layers with a rotary embedding, which are the local ones; empty for every fourth.
            let empty = fields.list("no_rope_layers").is_none_or(<[Value]>::is_empty);
            if empty {
                return named(&|layer| (layer + 1) % 4 != 0, Kind::Local, Kind::Full);
            }
            let marks = marks(fields, "no_rope_layers", count)?;
            named(&|layer| marks.get(layer as usize) == Some(&true), Kind::Local, Kind::Full)
        }
        Mixers::Global => {
            fields.error("`layer_types` is missing: it says which layers slide".into());
            None
        }
        // `GptOssConfig`: every second layer slides, from the first on.
        Mixers::Sinks => named(&|layer| layer % 2 == 0, Kind::Local, Kind::Full),
        Mixers::DeltaHeads => {
            let every = fields.count_or(Limit { key: "full_attention_interval", ..LAYERS }, 4)?;
            named(&|layer| (layer + 1) % every == 0, Kind::Full, Kind::Linear)
        }
        Mixers::DeltaLatent => delta_latent(fields, count),
        Mixers::Heads => {
            let from = match family.window {
                Window::Flagged => fields.some_of("max_window_layers", CONTEXT),
                _ => 0,
            };
            named(&|layer| window.is_some() && layer >= from, Kind::Local, Kind::Full)
        }
        Mixers::Latent | Mixers::Single | Mixers::Listed | Mixers::Compressed => {
            named(&|_| true, Kind::Full, Kind::Full)
        }
    }
}

fn by_name(fields: &mut Fields<'_>, family: &Family, layers: usize) -> Option<Vec<Kind>> {
    let names = fields.per_layer("layer_types", layers)?;
    let linear = matches!(family.mixers, Mixers::DeltaHeads | Mixers::DeltaLatent);
    let mut kinds = Vec::new();
    for (place, name) in names.iter().enumerate() {
        kinds.push(match name.as_str() {
            Some("full_attention" | "attention") => Kind::Full,
            Some("sliding_attention" | "chunked_attention") if !linear => Kind::Local,
            Some("linear_attention") if linear => Kind::Linear,
            _ => {
                let right = match linear {
                    true => "full_attention or linear_attention",
                    false => "full_attention or sliding_attention",
                };
                fields.stranger("layer_types", place, name, right);
                return None;
            }
        });
    }
    Some(kinds)
}

/// A list of noughts and ones.
pub fn marks(fields: &mut Fields<'_>, key: &str, layers: usize) -> Option<Vec<bool>> {
    let entries = fields.per_layer(key, layers)?;
    let mut marks = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        marks.push(match entry {
            Value::Bool(mark) => *mark,
            number if number.as_f64() == Some(0.0) => false,
            number if number.as_f64() == Some(1.0) => true,
            other => {
                fields.stranger(key, place, other, "0 or 1");
                return None;
            }
        });
    }
    Some(marks)
}

/// Kimi lists its layers by number, from one.
fn delta_latent(fields: &mut Fields<'_>, layers: usize) -> Option<Vec<Kind>> {
    const LINEAR: &str = "linear_attn_config.kda_layers";
    const FULL: &str = "linear_attn_config.full_attn_layers";
    let mut kinds: Vec<Option<Kind>> = vec![None; layers];
    for (key, kind) in [(LINEAR, Kind::Linear), (FULL, Kind::Full)] {
        for number in fields.layers(key) {
            let place = (number.fract() == 0.0 && number >= 1.0).then(|| number as usize - 1);
            match place.and_then(|place| kinds.get_mut(place)) {
                Some(entry @ None) => *entry = Some(kind),
                Some(_) => fields.error(format!("`{key}` names layer {number:.0}, which is named already")),
                None => fields.error(format!("`{key}` names a layer other than 1 to {layers}")),
            }
        }
    }
    let named: Option<Vec<Kind>> = kinds.into_iter().collect();
    if named.is_none() {
        fields.error(format!("`{LINEAR}` and `{FULL}` leave out a layer: each of {layers} is named once"));
    }
    named
}
