//! Import of a Hugging Face `config.json`: facts in, an architecture or the reason against it out.

mod context;
mod family;
mod fields;
mod quantization;
mod traits;

use crate::config::issue::excerpt;
use crate::config::json::{self, Object};
use crate::config::{Dtype, Field, Issue};
use crate::units::fixed;

use super::{Attention, Blocks, Dense, Ffn, Gqa, Model, Norms, limits};
use family::{FAMILIES, Family, QkvBias};
use fields::Fields;
use quantization::Quantization;

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
    let mut uncovered = traits::uncovered(&top, text, family);
    let quantization = quantization::read(&top, text, separate.as_ref());
    if let Err(reason) = &quantization {
        uncovered.push(reason.clone());
    }
    let (Some(family), Ok(quantization), true) = (family, quantization, uncovered.is_empty()) else {
        return Err(one(refusal(&model_type, &uncovered)));
    };
    let mut fields = Fields::new(text);
    let model = architecture(&top, &mut fields, family, &quantization);
    let mut issues = fields.into_issues();
    let Some(mut model) = model else { return Err(issues) };
    model.notes = notes(&top, text, &quantization);
    issues.extend(model.notes.iter().map(|note| Issue::warning(Field::Model, note)));
    if quantization.fp8_kv {
        issues.push(Issue::note(Field::Model, "the checkpoint carries scales for an FP8 KV cache"));
    }
    Ok((model, issues))
}

/// The language model of a multimodal one, or the whole.
fn language_part(top: &Object) -> &Object {
    ["text_config", "llm_config"].into_iter().find_map(|key| top.object(key)).unwrap_or(top)
}

fn family_of(top: &Object, text: &Object) -> Result<(String, Option<Family>), String> {
    let given = [text, top].into_iter().find_map(|object| object.text("model_type"));
    let model_type =
        given.ok_or("`model_type` is missing: it names the architecture, for example \"llama\"")?;
    Ok((excerpt(model_type), Family::of(model_type)))
}

fn refusal(model_type: &str, uncovered: &[String]) -> String {
    if uncovered.is_empty() {
        let known: Vec<&str> = FAMILIES.iter().map(|family| family.model_type).collect();
        return format!(
            "`model_type` is {model_type}, which this release does not know; it knows {}",
            known.join(", ")
        );
    }
    format!("{}: not covered by this release", uncovered.join(", "))
}

fn architecture(
    top: &Object,
    fields: &mut Fields<'_>,
    family: Family,
    quantization: &Quantization,
) -> Option<Model> {
    // Each is read before the first `?`, so that every missing field is named at once.
    let layers = fields.count(limits::LAYERS);
    let hidden = fields.count(limits::HIDDEN);
    let heads = fields.count(limits::HEADS);
    let kv_heads = if family.heads_without_groups {
        fields.count_or(limits::KV_HEADS, heads.unwrap_or(limits::KV_HEADS.min))
    } else {
        fields.count(limits::KV_HEADS)
    };
    let head_dim = fields.head_dim(hidden, heads);
    let intermediate = fields.count(limits::INTERMEDIATE);
    let vocab = fields.count(limits::VOCAB);
    let max_context = context::longest(fields);
    let attention_bias = fields.flag("attention_bias");
    let tied = fields.flag("tie_word_embeddings").or_else(|| top.flag("tie_word_embeddings"));
    let gqa = Gqa {
        heads: heads?,
        kv_heads: kv_heads?,
        head_dim: head_dim?,
        qk_norm: family.qk_norm,
        qkv_bias: match family.qkv_bias {
            QkvBias::Never => false,
            QkvBias::Always => true,
            QkvBias::Key => attention_bias.unwrap_or(false),
        },
        ..Gqa::default()
    };
    let blocks = Blocks {
        count: layers?,
        attention: Some(Attention::Gqa(gqa)),
        ffn: Some(Ffn::Dense(Dense { intermediate: intermediate?, ungated: None })),
        norms: Norms::Pre,
    };
    let mut model = Model {
        id: CUSTOM_ID.into(),
        name: String::new(),
        hidden: hidden?,
        vocab: vocab?,
        max_context: max_context?,
        tied_embeddings: tied.unwrap_or(false),
        weights: quantization.weights,
        blocks: vec![blocks],
        checkpoints: Vec::new(),
        notes: Vec::new(),
    };
    model.name = format!("{}, {} B parameters", family.model_type, fixed(model.parameters() / 1e9, 3));
    Some(model)
}

/// What the published checkpoint holds beyond what is counted.
fn notes(top: &Object, text: &Object, quantization: &Quantization) -> Vec<String> {
    let mut notes = Vec::new();
    if top.object("vision_config").is_some() {
        notes.push("The vision encoder is not counted: text prompts only.".to_owned());
    }
    if text.number("num_nextn_predict_layers").is_some_and(|layers| layers > 0.0) {
        notes.push(
            "The multi-token-prediction layers are not counted: they serve speculative decoding.".into(),
        );
    }
    if let Some(first) = quantization.kept.first().filter(|_| quantization.weights != Dtype::Bf16) {
        let count = quantization.kept.len();
        notes.push(format!("Linear layers kept in BF16 are counted as FP8: {count} ({first} ...)."));
    }
    notes
}
