//! The model catalog, built from published configs by the same import that visitors use.

use crate::config::names::last_part;
use std::collections::BTreeMap;

use super::{ModelCatalog, RefusedModel};
use crate::config::model::import::import;
use crate::config::{Dtype, Issue, Model};

/// One published model: its name and the text of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// `organisation/name`.
    pub name: String,
    pub config: String,
    pub hf_quant_config: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("`{id}` would name both {first} and {second}")]
    SameId { id: String, first: String, second: String },
    #[error("no config was given")]
    Empty,
}

/// Imports every file. Models and refusals are ordered by id.
pub fn build(source: &str, files: &[ConfigFile]) -> Result<ModelCatalog, BuildError> {
    let mut by_id: BTreeMap<String, &ConfigFile> = BTreeMap::new();
    for file in files {
        let id = id_of(&file.name);
        if let Some(other) = by_id.insert(id.clone(), file) {
            return Err(BuildError::SameId { id, first: other.name.clone(), second: file.name.clone() });
        }
    }
    if by_id.is_empty() {
        return Err(BuildError::Empty);
    }
    let mut catalog = ModelCatalog { source: source.into(), models: Vec::new(), refused: Vec::new() };
    for (id, file) in by_id {
        let name = file.name.clone();
        match import(&file.config, file.hf_quant_config.as_deref()) {
            (Some(mut model), _) => {
                by_name(&mut model, &id);
                (model.id, model.name) = (id, name);
                catalog.models.push(model);
            }
            (None, issues) => catalog.refused.push(RefusedModel { id, name, reason: reason(&issues) }),
        }
    }
    Ok(catalog)
}

/// Sets the format of a checkpoint whose files do not record it but whose name ends with one.
fn by_name(model: &mut Model, id: &str) {
    let named =
        [("-nvfp4", Dtype::Nvfp4), ("-fp8", Dtype::Fp8)].into_iter().find(|(end, _)| id.ends_with(end));
    if let Some((_, dtype)) = named.filter(|_| model.weights == Dtype::Bf16) {
        model.weights = dtype;
        model.format_notes.push(
            "The weight format is taken from the model's name; the checkpoint's files do not state it."
                .into(),
        );
    }
}

fn reason(issues: &[Issue]) -> String {
    let errors: Vec<&str> =
        issues.iter().filter(|issue| issue.is_error()).map(|issue| &*issue.text).collect();
    errors.join("; ")
}

/// The stable id of a published model: its name in lower case without the organisation.
pub fn id_of(name: &str) -> String {
    let name = last_part(name).to_ascii_lowercase().replace('_', ".");
    // Drops a repeated maker's name, as in `Meta-Llama-3.1-8B`.
    let makers = ["meta-", "nvidia-"];
    makers.iter().find_map(|maker| name.strip_prefix(maker)).unwrap_or(&name).to_owned()
}

/// The catalog as stored: JSON with one model per line, so that diffs show one model each.
pub fn print(catalog: &ModelCatalog) -> serde_json::Result<String> {
    let models: serde_json::Result<Vec<String>> = catalog.models.iter().map(serde_json::to_string).collect();
    let refused: serde_json::Result<Vec<String>> =
        catalog.refused.iter().map(serde_json::to_string).collect();
    Ok(format!(
        "{{\n\"source\":{},\n\"models\":[\n{}\n],\n\"refused\":[\n{}\n]\n}}\n",
        serde_json::to_string(&catalog.source)?,
        models?.join(",\n"),
        refused?.join(",\n"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_and_readable() {
        assert_eq!(id_of("meta-llama/Meta-Llama-3.1-8B"), "llama-3.1-8b");
        assert_eq!(id_of("Qwen/Qwen3-32B-FP8"), "qwen3-32b-fp8");
        assert_eq!(id_of("nvidia/Llama-3_3-Nemotron-Super-49B-v1"), "llama-3.3-nemotron-super-49b-v1");
        assert_eq!(id_of("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"), "nemotron-3-nano-30b-a3b-bf16");
    }

    #[test]
    fn two_names_for_one_id_are_an_error() {
        let file = |name: &str| ConfigFile { name: name.into(), config: "{}".into(), hf_quant_config: None };
        let error = build("", &[file("a/Model-1"), file("b/model-1")]).unwrap_err();
        assert_eq!(error.to_string(), "`model-1` would name both a/Model-1 and b/model-1");
        assert_eq!(build("", &[]).unwrap_err(), BuildError::Empty);
    }
}
