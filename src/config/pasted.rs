//! What visitors paste for the model: files, a name or a command.

use super::model::import::import_files;
use super::names::settle;
use super::{Issue, ModelChoice, Scenario, command};

/// Reads a `config.json`, optionally followed by `hf_quant_config.json`, a published name, or a launch command.
/// Everything else stays as on the `form`.
///
/// If there is no scenario, the issues hold at least one error.
pub fn read(text: &str, form: Scenario) -> (Option<Scenario>, Vec<Issue>) {
    if let Some(read) = command::read(text, &form) {
        return read;
    }
    let name = text.trim();
    if name.is_empty() || name.contains(['{', '[', '"', '\n']) {
        let (model, issues) = import_files(text);
        let scenario = |model| Scenario { model: ModelChoice::Custom(Box::new(model)), ..form };
        return (model.map(scenario), issues);
    }
    // The format of the name or as published, unless the link with the name gives one.
    let weights = form.weights.filter(|_| form.model.id() == name);
    let mut scenario = Scenario { model: ModelChoice::Catalog(name.to_owned()), weights, ..form };
    let issues = settle(&mut scenario);
    let sound = !issues.iter().any(Issue::is_error);
    (sound.then_some(scenario), issues)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Dtype, Severity, link};

    fn of(text: &str) -> (String, Vec<String>) {
        let (form, _) = link::decode("m=llama-3.1-8b&g=h200-sxm&tp=2&w=fp8&isl=77");
        let (scenario, issues) = read(text, form.scenario);
        let texts = issues.into_iter().filter(|issue| issue.severity != Severity::Note);
        (
            scenario.map(|scenario| link::encode(&scenario)).unwrap_or_default(),
            texts.map(|issue| issue.text).collect(),
        )
    }

    const CONFIG: &str = r#"{"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072}"#;

    #[test]
    fn each_kind_of_pasted_text_is_recognised() {
        assert_eq!(of("Qwen/Qwen3-8B-AWQ\n").0, "v=1&m=qwen3-8b&g=h200-sxm&tp=2&w=int4&isl=77");
        assert_eq!(of("vllm serve Qwen/Qwen3-8B -pp 2").0, "v=1&m=qwen3-8b&g=h200-sxm&pp=2&isl=77");
        let (form, _) = link::decode("m=Qwen/Qwen3-8B-AWQ&w=fp8");
        let (scenario, _) = read("Qwen/Qwen3-8B-AWQ", form.scenario);
        assert_eq!(scenario.map(|scenario| link::encode(&scenario)).as_deref(), Some("v=1&m=qwen3-8b&w=fp8"));
        assert!(of("some/Model-7B").1[0].contains("no model `some/Model-7B`"));
        assert!(of("").1[0].starts_with("the text is empty"));
        assert!(of("\"model_type\": \"llama\"").1[0].contains("JSON"));
        let (link, issues) = of(CONFIG);
        assert!(link.contains("&x=") && issues.is_empty(), "{issues:?}");
    }

    #[test]
    fn both_files_of_a_checkpoint_are_read() {
        let record = r#"{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}}"#;
        for text in [format!("{CONFIG}\n{record}"), format!("{record}\n\n{CONFIG}")] {
            let (scenario, issues) = read(&text, Scenario::default());
            let scenario = scenario.unwrap_or_else(|| panic!("{issues:?}"));
            assert_eq!(scenario.model.record().map(|model| model.weights), Some(Dtype::Nvfp4));
        }
        let (scenario, issues) = read(&format!("{CONFIG} {record} {{}}"), Scenario::default());
        assert!(scenario.is_none() && issues[0].text.starts_with("hf_quant_config.json: "), "{issues:?}");
    }
}
