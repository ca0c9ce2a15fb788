//! Import of a Hugging Face `config.json`: an architecture, or the reason against it.

mod attention;
mod context;
mod encoder;
mod family;
mod ffn;
mod fields;
mod formats;
mod globs;
mod keys;
mod layers;
mod modules;
mod notes;
mod refusals;
mod schemes;
mod single;
mod sparse;
mod standard;
mod uneven;
mod unlisted;

use serde_json::Value;

use crate::config::names::SCALED_CACHE;
use crate::config::{Dtype, Field, Issue, excerpt, json};
use crate::units::count;

use super::{Blocks, Formats, Model, limits};
use family::{Mixers, ModelFamily};
use fields::Fields;
use formats::Quantization;

/// The id of an imported model; catalog models get their own.
pub const CUSTOM_ID: &str = "custom";

/// Reads a `config.json` and, where the checkpoint has one, its `hf_quant_config.json`.
///
/// If there is no model, the issues hold at least one error. An unknown key that may change what is counted is one.
/// Never panics.
pub fn import(config_json: &str, hf_quant_config: Option<&str>) -> (Option<Model>, Vec<Issue>) {
    match read(config_json, hf_quant_config) {
        Ok((model, issues)) => {
            let sound = !issues.iter().any(Issue::is_error);
            (model.filter(|_| sound), issues)
        }
        Err(issues) => (None, issues),
    }
}

/// Reads a model from one text: a `config.json`, optionally with its `hf_quant_config.json` before or after it.
pub fn import_files(text: &str) -> (Option<Model>, Vec<Issue>) {
    let text = json::quote_non_finite(text);
    let (first, rest) = json::first(&text);
    let is_record = |text: &str| json::parse(text).is_ok_and(|file| file.get("quantization").is_some());
    match rest.trim() {
        "" => import(&text, None),
        config if is_record(first) => import(config, Some(first)),
        record => import(first, Some(record)),
    }
}

fn error(text: impl Into<String>) -> Issue {
    Issue::error(Field::Model, text)
}

fn read(config_json: &str, hf_quant_config: Option<&str>) -> Result<(Option<Model>, Vec<Issue>), Vec<Issue>> {
    let one = |text: String| vec![error(text)];
    let top = json::parse(config_json).map_err(one)?;
    let separate = hf_quant_config.map(json::parse).transpose();
    let separate = separate.map_err(|text| one(format!("hf_quant_config.json: {text}")))?;
    let text = language_part(&top);
    let (model_type, listed) = family_of(&top, text).map_err(one)?;
    if let Some(reason) = refusals::no_text(&top) {
        return Err(one(format!("`model_type` {model_type} with {reason}")));
    }
    let refused = |what: String| {
        let known = if listed.is_some() { "with" } else { "is not supported;" };
        one(format!("`model_type` {model_type} {known} {what}: not covered by this release"))
    };
    let family = listed.unwrap_or(ModelFamily::plain());
    let mut standard = standard::standard(&top, text, family)
        .map_err(|fault| one(format!("`model_type` {model_type}: {fault}")))?;
    let mut uncovered = refusals::uncovered(&top, text, listed);
    let quantization =
        formats::read(&top, text, separate.as_ref()).inspect_err(|reason| uncovered.push(reason.clone()));
    let (Ok(quantization), true) = (quantization, uncovered.is_empty()) else {
        return Err(refused(standard.rename(&uncovered.join(", "))));
    };
    if listed.is_none() {
        unlisted::check(text).map_err(refused)?;
    }
    let mut fields = Fields::new(text, std::mem::take(&mut standard.over));
    for key in json::repeated(config_json) {
        fields.warn(format!("`{}` is given twice: the last one counts", excerpt(&key)));
    }
    let mut model = architecture(&top, &mut fields, family, &quantization);
    family.renamed().for_each(|(theirs, _)| fields.skip(&[theirs]));
    let unread = keys::unread(&fields, &family.idle);
    if model.is_some() && !unread.is_empty() {
        let what = unread.join(", ");
        fields.error(format!(
            "`model_type` {model_type} has unknown keys that may change what is counted: {what}. Remove those that do not"
        ));
    }
    if let Some(model) = &mut model {
        model.objections().into_iter().for_each(|text| fields.error(text));
        let kind = listed.map_or("decoder", |family| &family.model_type);
        model.name = format!("{kind}, {} B parameters", count(model.parameters() / 1e9));
        model.notes.extend(listed.is_none().then(|| unlisted::note(&model_type)));
    }
    let mut issues = fields.into_issues();
    issues.iter_mut().for_each(|issue| issue.text = standard.rename(&issue.text));
    let Some(model) = model else { return Ok((None, issues)) };
    issues.extend(model.notes_in(model.weights).map(|note| Issue::warning(Field::Model, note)));
    if !standard.defaults.is_empty() {
        let left_out = standard.defaults.join(", ");
        issues.push(Issue::note(
            Field::Model,
            format!("left out, so the defaults of the model's class apply: {left_out}"),
        ));
    }
    if quantization.fp8_kv {
        issues.push(Issue::note(Field::Model, SCALED_CACHE));
    }
    Ok((Some(model), issues))
}

/// The language model within a multimodal config, or the whole config.
fn language_part(top: &Value) -> &Value {
    let inner = |key| json::inner(top, key).map(language_part);
    ["text_config", "llm_config", "language_config", "thinker_config"]
        .into_iter()
        .find_map(inner)
        .unwrap_or(top)
}

fn family_of(top: &Value, text: &Value) -> Result<(String, Option<&'static ModelFamily>), String> {
    let given = [text, top].into_iter().find_map(|object| object["model_type"].as_str());
    let model_type =
        given.ok_or("`model_type` is missing: it names the architecture, for example \"llama\"")?;
    Ok((excerpt(model_type), ModelFamily::of(model_type)))
}

/// Multi-token prediction layers. MiniMax counts modules, and has a separate switch.
fn predicting(fields: &mut Fields<'_>) -> Option<u32> {
    let keys = ["num_mtp_modules", "mtp_num_hidden_layers", limits::MTP.key];
    let counts = keys.map(|key| fields.some_of(key, limits::MTP));
    let layers = counts.into_iter().find(|&layers| layers > 0);
    layers.filter(|_| fields.flag("use_mtp") != Some(false))
}

/// `None` if a field is wrong; the issues then say which.
fn architecture(
    top: &Value,
    fields: &mut Fields<'_>,
    family: &'static ModelFamily,
    quantization: &Quantization,
) -> Option<Model> {
    let hidden = fields.count(limits::HIDDEN);
    let vocab = fields.count(limits::VOCAB);
    let max_context = context::longest(fields, family);
    let tied = fields.flag("tie_word_embeddings").or(top["tie_word_embeddings"].as_bool());
    let streams = (family.mixers == Mixers::Compressed).then(|| fields.count(limits::STREAMS));
    let layers = layers::read(fields, family, hidden);
    let mtp = predicting(fields);
    if !fields.is_sound() {
        return None;
    }
    let (formats, rounded) = quantization.formats(&modules::of(&layers, family));
    let (encoder, vision) = encoder::read(top, hidden).unzip();
    let vision = vision.flatten();
    let notes = notes::of(top, fields.object(), family, encoder, vision.is_some());
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
        int4_group: quantization.int4_group,
        notes,
        format_notes: rounded,
        scaled_cache: quantization.fp8_kv,
        mtp,
        encoder,
        vision,
        positions: family.positions.map(|further| max_context.saturating_add(further)),
    };
    if formats.weights == Dtype::W8a8 && model.has_experts() {
        fields.error("INT8 experts with INT8 activations: not covered by this release".into());
        return None;
    }
    if formats != Formats::usual(formats.weights, model.has_experts()) {
        model.checkpoints.push(formats);
    }
    Some(model)
}
