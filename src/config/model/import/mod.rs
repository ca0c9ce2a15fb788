//! Import of a Hugging Face `config.json`: facts in, an architecture or the reason against it out.

mod attention;
mod context;
mod experts;
mod family;
mod ffn;
mod fields;
mod formats;
mod globs;
mod layers;
mod modules;
mod notes;
mod refusals;
mod schemes;
mod single;
mod sparse;
mod uneven;
mod unlisted;

use serde_json::Value;

use crate::config::issue::excerpt;
use crate::config::{Dtype, Field, Issue, json};
use crate::units::fixed;

use super::{Blocks, Formats, Model, limits};
use family::{FAMILIES, Family, Mixers};
use fields::Fields;
use formats::Quantization;

/// The id of an imported model; the catalog gives its own.
pub const CUSTOM_ID: &str = "custom";

/// Reads a `config.json` and, where the checkpoint has one, its `hf_quant_config.json`.
///
/// Without a model the issues hold at least one error. Unknown keys are ignored, as every loader of
/// these files does. Never panics.
pub fn import(config_json: &str, hf_quant_config: Option<&str>) -> (Option<Model>, Vec<Issue>) {
    match read(config_json, hf_quant_config) {
        Ok((model, mut issues)) => {
            issues.extend(model.objections().into_iter().map(error));
            let sound = !issues.iter().any(Issue::is_error);
            (sound.then_some(model), issues)
        }
        Err(issues) => (None, issues),
    }
}

/// The same of one text: a `config.json`, perhaps with its `hf_quant_config.json` before or behind it.
pub fn import_files(text: &str) -> (Option<Model>, Vec<Issue>) {
    let (first, rest) = json::first(text);
    let is_record = |text: &str| json::parse(text).is_ok_and(|file| file.get("quantization").is_some());
    match rest.trim() {
        "" => import(text, None),
        config if is_record(first) => import(config, Some(first)),
        record => import(first, Some(record)),
    }
}

fn error(text: impl Into<String>) -> Issue {
    Issue::error(Field::Model, text)
}

fn read(config_json: &str, hf_quant_config: Option<&str>) -> Result<(Model, Vec<Issue>), Vec<Issue>> {
    let one = |text: String| vec![error(text)];
    let top = json::parse(config_json).map_err(one)?;
    let separate = hf_quant_config.map(json::parse).transpose();
    let separate = separate.map_err(|text| one(format!("hf_quant_config.json: {text}")))?;
    let text = language_part(&top);
    let (model_type, family) = family_of(&top, text).map_err(one)?;
    let mut uncovered = refusals::uncovered(&top, text, family.as_ref());
    let quantization = formats::read(&top, text, separate.as_ref());
    if let Err(reason) = &quantization {
        uncovered.push(reason.clone());
    }
    let listed = family.is_some();
    let family = match family {
        None if uncovered.is_empty() => {
            unlisted::family(text).map_err(|keys| one(unread(&model_type, &keys)))?
        }
        None => {
            let what = uncovered.join(", ");
            return Err(one(format!(
                "`model_type` {model_type} is not supported; {what}: not covered by this release"
            )));
        }
        Some(family) => family,
    };
    let (Ok(quantization), true) = (quantization, uncovered.is_empty()) else {
        return Err(one(format!("{}: not covered by this release", uncovered.join(", "))));
    };
    let mut fields = Fields::new(text);
    for key in json::repeated(config_json) {
        fields.warn(format!("`{}` is given twice: the last one counts", excerpt(&key)));
    }
    let model = architecture(&top, &mut fields, &family, &quantization);
    let mut issues = fields.into_issues();
    let Some(mut model) = model else { return Err(issues) };
    if !listed {
        model.notes.push(unlisted::note(&model_type));
    }
    issues.extend(model.notes.iter().map(|note| Issue::warning(Field::Model, note)));
    if quantization.fp8_kv {
        issues.push(Issue::note(Field::Model, "the checkpoint has scales for an FP8 KV cache"));
    }
    Ok((model, issues))
}

/// The language model of a multimodal one, or the whole.
fn language_part(top: &Value) -> &Value {
    ["text_config", "llm_config"].into_iter().find_map(|key| json::inner(top, key)).unwrap_or(top)
}

fn family_of(top: &Value, text: &Value) -> Result<(String, Option<Family>), String> {
    let given = [text, top].into_iter().find_map(|object| object["model_type"].as_str());
    let model_type =
        given.ok_or("`model_type` is missing: it names the architecture, for example \"llama\"")?;
    Ok((excerpt(model_type), Family::of(model_type)))
}

/// Of a `model_type` that is not listed: the keys by which it is more than a plain decoder.
fn unread(model_type: &str, keys: &[String]) -> String {
    if keys.is_empty() {
        let known: Vec<&str> = FAMILIES.iter().map(|family| family.model_type).collect();
        return format!("`model_type` {model_type} is not supported; supported are {}", known.join(", "));
    }
    format!(
        "`model_type` {model_type} is not supported, and {} not understood: not covered by this release",
        keys.join(", ")
    )
}

/// Layers that predict further tokens. MiniMax counts modules, and says elsewhere whether there are any.
fn predicting(fields: &mut Fields<'_>) -> Option<u32> {
    let keys = ["num_mtp_modules", "mtp_num_hidden_layers", limits::MTP.key];
    let counts = keys.map(|key| fields.some_of(key, limits::MTP));
    let layers = counts.into_iter().find(|&layers| layers > 0);
    layers.filter(|_| fields.flag("use_mtp") != Some(false))
}

/// None if a field is wrong, which is then among the issues.
fn architecture(
    top: &Value,
    fields: &mut Fields<'_>,
    family: &Family,
    quantization: &Quantization,
) -> Option<Model> {
    let hidden = fields.count(limits::HIDDEN);
    let vocab = fields.count(limits::VOCAB);
    let max_context = context::longest(fields);
    let tied = fields.flag("tie_word_embeddings").or(top["tie_word_embeddings"].as_bool());
    let streams = (family.mixers == Mixers::Compressed).then(|| fields.count(limits::STREAMS));
    let layers = layers::read(fields, family, hidden);
    let mtp = predicting(fields);
    if !fields.is_sound() {
        return None;
    }
    let (formats, rounded) = quantization.formats(&modules::of(&layers, family));
    let mut notes = notes::of(top, fields.object(), family);
    notes.extend(rounded);
    let blocks = layers::group(&layers, family.norms).into_iter();
    let mut model = Model {
        id: CUSTOM_ID.into(),
        name: String::new(),
        hidden,
        vocab,
        max_context,
        tied_embeddings: tied.unwrap_or(false),
        weights: formats.weights,
        blocks: blocks.map(|blocks| Blocks { streams, ..blocks }).collect(),
        checkpoints: Vec::new(),
        notes,
        mtp,
    };
    if formats.weights == Dtype::W8a8 && model.has_experts() {
        fields.error("INT8 experts with INT8 activations: not covered by this release".into());
        return None;
    }
    if formats != Formats::usual(formats.weights, model.has_experts()) {
        model.checkpoints.push(formats);
    }
    model.name = format!("{}, {} B parameters", family.model_type, fixed(model.parameters() / 1e9, 3));
    Some(model)
}
