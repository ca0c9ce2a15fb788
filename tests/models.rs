//! Import of published configs and the model catalog made from them.

use std::path::{Path, PathBuf};

use rooflight::config::catalog::{ConfigFile, build, catalog, print};
use rooflight::config::model::import::import;
use rooflight::config::{Dtype, Issue, Model};

/// Parameters in billions as the publisher prints them, from the safetensors index where it is shown.
#[rustfmt::skip]
const PUBLISHED: [(&str, f64); 31] = [
    ("llama-3.1-8b", 8.03), ("llama-3.1-70b", 70.55), ("llama-3.1-405b", 405.85),
    ("llama-3.1-70b-instruct-fp8", 70.55), ("llama-3.2-1b", 1.236), ("llama-3.2-3b", 3.213),
    ("llama-3.3-70b-instruct", 70.55),
    ("qwen2-72b", 72.71), ("qwen2.5-0.5b-instruct", 0.494), ("qwen2.5-1.5b-instruct", 1.544),
    ("qwen2.5-3b-instruct", 3.086), ("qwen2.5-7b-instruct", 7.616), ("qwen2.5-14b", 14.77),
    ("qwen2.5-32b", 32.76), ("qwen2.5-72b-instruct", 72.71),
    ("qwen3-0.6b", 0.596), ("qwen3-1.7b", 1.72), ("qwen3-4b", 4.022), ("qwen3-8b", 8.19),
    ("qwen3-14b", 14.77), ("qwen3-32b", 32.76), ("qwen3-32b-fp8", 32.76),
    ("mistral-7b-instruct-v0.3", 7.248), ("mistral-small-24b-instruct-2501", 23.57),
    ("mistral-large-instruct-2411", 122.61),
    ("deepseek-r1-distill-llama-8b", 8.03), ("deepseek-r1-distill-llama-70b", 70.55),
    ("deepseek-r1-distill-qwen-1.5b", 1.777), ("deepseek-r1-distill-qwen-32b", 32.76),
    ("yi-1.5-34b", 34.39), ("phi-4", 14.66),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Published configs of a folder, as `src/bin/catalog.rs` reads them.
fn configs(folder: &Path) -> Vec<ConfigFile> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.ends_with("_hf_quant_config.json"))
        .filter_map(|name| name.strip_suffix("_config.json").map(str::to_owned))
        .collect();
    names.sort();
    let read = |name: String| ConfigFile {
        config: std::fs::read_to_string(folder.join(format!("{name}_config.json"))).unwrap(),
        hf_quant_config: std::fs::read_to_string(folder.join(format!("{name}_hf_quant_config.json"))).ok(),
        name: name.replacen("--", "/", 1),
    };
    names.into_iter().map(read).collect()
}

/// Every config at hand, or nothing with a message where the measured data is absent.
fn published() -> Option<Vec<ConfigFile>> {
    let mut files = configs(&root().join("../shared/data/model_configs"));
    if files.is_empty() {
        eprintln!("skipped: ../shared/data/model_configs is absent");
        return None;
    }
    files.extend(configs(&root().join("static/catalog/model_facts")));
    Some(files)
}

#[test]
fn parameters_agree_with_the_published_counts() {
    for (id, billions) in PUBLISHED {
        let counted = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing")).parameters() / 1e9;
        assert!(
            (counted / billions - 1.0).abs() < 0.005,
            "{id}: counted {counted:.3} B, published {billions} B"
        );
    }
}

#[test]
fn the_picker_holds_enough_models_with_unique_ids() {
    let models = &catalog().models;
    assert!(models.models.len() >= 25, "{} usable models", models.models.len());
    let all = models.models.iter().map(|model| &model.id).chain(models.refused.iter().map(|model| &model.id));
    let mut ids: Vec<&String> = all.collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for id in ids {
        let readable = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        assert!(id.len() <= 48 && id.chars().all(readable), "{id}");
    }
    for model in &models.models {
        assert_eq!(model.objections(), Vec::<String>::new(), "{}", model.id);
    }
}

#[test]
fn every_published_config_is_read_or_refused_by_a_trait() {
    let Some(files) = published() else { return };
    for file in &files {
        let (model, issues) = import(&file.config, file.hf_quant_config.as_deref());
        match model {
            Some(model) => {
                let (total, active) = (model.parameters() / 1e9, model.active_parameters() / 1e9);
                println!("{:58} {total:8.3} B {active:8.3} B {}", file.name, model.weights.id());
                assert!(!issues.iter().any(Issue::is_error), "{}: {issues:?}", file.name);
            }
            None => {
                let reason = &issues[0].text;
                println!("{:58} refused: {reason}", file.name);
                assert_eq!(issues.len(), 1, "{}: {issues:?}", file.name);
                assert!(reason.ends_with(": not covered by this release"), "{}: {reason}", file.name);
            }
        }
    }
}

#[test]
fn the_committed_catalog_is_current() {
    let Some(files) = published() else { return };
    let committed = std::fs::read_to_string(root().join("static/catalog/models.json")).unwrap();
    let printed = print(&build(&catalog().models.source, &files).unwrap()).unwrap();
    assert!(printed == committed, "static/catalog/models.json is stale: run `cargo run --bin catalog`");
}

#[test]
fn quantisation_is_read_from_either_file() {
    let weights = |id: &str| catalog().model(id).map(|model| model.weights);
    assert_eq!(weights("qwen3-32b-fp8"), Some(Dtype::Fp8Block));
    assert_eq!(weights("qwen3-32b-fp8-static-pertensor"), Some(Dtype::Fp8));
    assert_eq!(weights("llama-3.1-70b-instruct-fp8"), Some(Dtype::Fp8));
    let vision: Option<&Model> = catalog().model("qwen3-vl-8b-instruct");
    assert!(vision.is_some_and(|model| model.notes[0].contains("vision encoder")));
}
