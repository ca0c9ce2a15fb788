//! The kind of each layer, then identical layers grouped.

use serde_json::Value;

use super::family::{Mixers, ModelFamily, Window};
use super::fields::Fields;
use super::{attention, ffn, single, sparse, uneven};
use crate::config::excerpt;
use crate::config::model::limits::{CONTEXT, INTERMEDIATE, LAYERS, Limit, WINDOW};
use crate::config::model::{Attention, Blocks, Ffn, Norms};

const PATTERN: &str = "sliding_window_pattern";

/// One decoder layer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedLayer {
    pub attention: Option<Attention>,
    pub ffn: Option<Ffn>,
}

/// The token mixer of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKind {
    Full,
    Local,
    Linear,
}

/// Every layer of the model, in order.
pub fn read(fields: &mut Fields<'_>, family: &'static ModelFamily, hidden: u32) -> Vec<ImportedLayer> {
    match family.mixers {
        Mixers::Single => return single::layers(fields, family, hidden),
        Mixers::Listed => return uneven::layers(fields, family, hidden),
        Mixers::ParallelMamba => return parallel_mamba(fields, family, hidden),
        _ => {}
    }
    let layers = fields.count(LAYERS) as usize;
    let attentions = match family.mixers {
        Mixers::Compressed => sparse::compressed(fields, layers),
        _ => attention::per_layer(fields, family, hidden, layers),
    };
    let pairs = attentions.into_iter().zip(ffn::per_layer(fields, family, layers));
    pairs.map(|(attention, ffn)| ImportedLayer { attention: Some(attention), ffn: Some(ffn) }).collect()
}

/// Falcon-H1: what stands side by side in a layer, one after the other.
fn parallel_mamba(fields: &mut Fields<'_>, family: &'static ModelFamily, hidden: u32) -> Vec<ImportedLayer> {
    let layers = fields.count(LAYERS) as usize;
    let mixer = ImportedLayer { attention: Some(Attention::Mamba(single::mamba(fields, hidden))), ffn: None };
    let attention = Some(Attention::Gqa(attention::heads(fields, family, hidden)));
    let rest =
        ImportedLayer { attention, ffn: Some(Ffn::Dense(ffn::dense(fields, family, INTERMEDIATE.key))) };
    [mixer, rest].into_iter().cycle().take(2 * layers).collect()
}

/// Groups identical layers, in order of first appearance.
pub fn group(layers: &[ImportedLayer], norms: Norms) -> Vec<Blocks> {
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

/// Window of local layers; `None` if no layer is local, or the window covers the context.
pub fn window(fields: &mut Fields<'_>, family: &ModelFamily) -> Option<u32> {
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
    let context = fields.get(CONTEXT.key).and_then(Value::as_f64).unwrap_or(f64::INFINITY);
    size.filter(|size| f64::from(*size) < context)
}

/// The kind of each layer.
pub fn kinds(
    fields: &mut Fields<'_>,
    family: &ModelFamily,
    window: Option<u32>,
    layers: usize,
) -> Vec<LayerKind> {
    let local = |is: bool| if is { LayerKind::Local } else { LayerKind::Full };
    let linear = |is: bool| if is { LayerKind::Linear } else { LayerKind::Full };
    if fields.get("layer_types").is_some() && family.mixers != Mixers::Latent {
        return by_name(fields, family, layers);
    }
    match family.mixers {
        Mixers::Swa => {
            if fields.get("hybrid_layer_pattern").is_none() {
                fields.error("`hybrid_layer_pattern` is missing: expected 1 for each layer with a window, 0 for others".into());
            }
            fields.marks("hybrid_layer_pattern", layers).into_iter().map(local).collect()
        }
        // Marks the layers with rotary embedding, which are the local ones; empty means all but every fourth.
        Mixers::Chunks if fields.list("no_rope_layers").is_none_or(Vec::is_empty) => {
            (0..layers).map(|layer| local((layer + 1) % 4 != 0)).collect()
        }
        Mixers::Chunks => fields.marks("no_rope_layers", layers).into_iter().map(local).collect(),
        Mixers::Global => {
            fields.error("`layer_types` is missing: it says which layers have a window".into());
            Vec::new()
        }
        // `GptOssConfig`: every second layer has a window, starting with the first.
        Mixers::Sinks => (0..layers).map(|layer| local(layer % 2 == 0)).collect(),
        Mixers::DeltaHeads => {
            let every = fields.count_or(Limit { key: "full_attention_interval", ..LAYERS }, 4) as usize;
            (0..layers).map(|layer| linear(!(layer + 1).is_multiple_of(every))).collect()
        }
        // `Phi3SmallSelfAttention`: all layers are sparse if the key is null.
        Mixers::Strided => {
            let every = fields.some_of("dense_attention_every_n_layers", LAYERS) as usize;
            (0..layers).map(|layer| local(every == 0 || !(layer + 1).is_multiple_of(every))).collect()
        }
        Mixers::Cross => cross(fields, layers),
        Mixers::DeltaLatent => delta_latent(fields, layers),
        // Jamba: one in so many attends.
        Mixers::MambaHeads if fields.get("attn_layer_period").is_some() => {
            let every = fields.count_as("attn_layer_period", LAYERS) as usize;
            let first = fields.some_of("attn_layer_offset", LAYERS) as usize;
            (0..layers).map(|layer| linear(every == 0 || layer % every != first)).collect()
        }
        Mixers::Lightning => {
            fields.marks("attn_type_list", layers).into_iter().map(|full| linear(!full)).collect()
        }
        // Only in `layer_types`, which was read above.
        Mixers::MambaHeads => {
            fields.error("`layer_types` is missing: expected mamba or attention for each layer".into());
            Vec::new()
        }
        Mixers::Heads if window.is_some() && fields.get(PATTERN).is_some() => by_pattern(fields, layers),
        Mixers::Heads => {
            let from = match family.window {
                Window::Flagged => fields.some_of("max_window_layers", CONTEXT) as usize,
                _ => 0,
            };
            (0..layers).map(|layer| local(window.is_some() && layer >= from)).collect()
        }
        Mixers::Latent | Mixers::Single | Mixers::Listed | Mixers::Compressed | Mixers::ParallelMamba => {
            vec![LayerKind::Full; layers]
        }
    }
}

/// Every n-th layer is global (Gemma, Command R), or a repeating letter pattern gives the kinds (EXAONE).
fn by_pattern(fields: &mut Fields<'_>, layers: usize) -> Vec<LayerKind> {
    let every = match fields.get(PATTERN) {
        Some(Value::String(letters)) => {
            let kind = |letter| match letter {
                'L' => Some(LayerKind::Local),
                'G' => Some(LayerKind::Full),
                _ => None,
            };
            let turn: Option<Vec<LayerKind>> = letters.chars().map(kind).collect();
            if let Some(turn) = turn.filter(|turn| !turn.is_empty()) {
                return (0..layers).map(|layer| turn[layer % turn.len()]).collect();
            }
            fields.error(format!("`{PATTERN}` is \"{}\": expected letters L and G", excerpt(letters)));
            0
        }
        _ => fields.count(Limit { key: PATTERN, ..LAYERS }) as usize,
    };
    let full = |layer: usize| every > 0 && (layer + 1).is_multiple_of(every);
    (0..layers).map(|layer| if full(layer) { LayerKind::Full } else { LayerKind::Local }).collect()
}

fn by_name(fields: &mut Fields<'_>, family: &ModelFamily, layers: usize) -> Vec<LayerKind> {
    let linear = matches!(family.mixers, Mixers::DeltaHeads | Mixers::DeltaLatent);
    let mamba = family.mixers == Mixers::MambaHeads;
    let wanted = match (linear, mamba) {
        (true, _) => "full_attention or linear_attention",
        (_, true) => "attention or mamba",
        _ => "full_attention or sliding_attention",
    };
    fields.skip(&[PATTERN, "full_attention_interval"]);
    fields.per_layer("layer_types", layers, wanted, |_, name| match name.as_str()? {
        "full_attention" | "attention" => Some(LayerKind::Full),
        "sliding_attention" | "chunked_attention" if !linear && !mamba => Some(LayerKind::Local),
        "mamba" if mamba => Some(LayerKind::Linear),
        "linear_attention" if linear => Some(LayerKind::Linear),
        _ => None,
    })
}

/// Llama 3.2 Vision lists the layers that attend to images.
fn cross(fields: &mut Fields<'_>, layers: usize) -> Vec<LayerKind> {
    const CROSS: &str = "cross_attention_layers";
    let mut kinds = vec![LayerKind::Full; layers];
    let numbers = fields.layers(CROSS);
    if numbers.is_empty() {
        fields
            .error(format!("`{CROSS}` is missing: expected the numbers of the layers that attend to images"));
    }
    for number in numbers {
        let place = (number.fract() == 0.0 && number >= 0.0).then_some(number as usize);
        match place.and_then(|place| kinds.get_mut(place)) {
            Some(kind @ LayerKind::Full) => *kind = LayerKind::Local,
            Some(_) => fields.error(format!("`{CROSS}` names layer {number:.0} twice")),
            None => fields.error(format!("`{CROSS}` names a layer that the model does not have ({number})")),
        }
    }
    kinds
}

/// Kimi lists its layers by one-based number.
fn delta_latent(fields: &mut Fields<'_>, layers: usize) -> Vec<LayerKind> {
    const LINEAR: &str = "linear_attn_config.kda_layers";
    const FULL: &str = "linear_attn_config.full_attn_layers";
    let mut kinds: Vec<Option<LayerKind>> = vec![None; layers];
    for (key, kind) in [(LINEAR, LayerKind::Linear), (FULL, LayerKind::Full)] {
        for number in fields.layers(key) {
            let place = (number.fract() == 0.0 && number >= 1.0).then(|| number as usize - 1);
            match place.and_then(|place| kinds.get_mut(place)) {
                Some(entry @ None) => *entry = Some(kind),
                Some(_) => fields.error(format!("`{key}` names layer {number:.0}, which is listed already")),
                None => fields.error(format!("`{key}` names a layer other than 1 to {layers}")),
            }
        }
    }
    if kinds.contains(&None) {
        fields
            .error(format!("`{LINEAR}` and `{FULL}` together have to list each of the {layers} layers once"));
    }
    kinds.into_iter().flatten().collect()
}
