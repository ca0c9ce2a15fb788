//! Import of published configs and the model catalog made from them.

mod counts;
mod shapes;

use std::path::{Path, PathBuf};

use rooflight::config::catalog::{ConfigFile, build, catalog, print};
use rooflight::config::model::Formats;
use rooflight::config::model::import::import;
use rooflight::config::{Dtype, Issue, Model};

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
fn no_published_model_is_refused() {
    assert_eq!(catalog().models.refused, []);
}

#[test]
fn models_with_unmeasured_kernels_have_a_note() {
    for (id, what) in [
        ("deepseek-v4-flash", "No kernel for attention over compressed keys"),
        ("deepseek-v4-pro-nvfp4", "No kernel for attention over compressed keys"),
        ("minimax-m3", "No kernel for block-sparse attention"),
    ] {
        let model = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"));
        assert!(model.notes.iter().any(|note| note.starts_with(what)), "{id}: {:?}", model.notes);
    }
}

#[test]
fn formats_differ_by_class_where_the_checkpoint_says_so() {
    let [bf16, fp8, block, fp4] = [Dtype::Bf16, Dtype::Fp8, Dtype::Fp8Block, Dtype::Nvfp4];
    let of = |weights, attention, mlp, shared| Formats { weights, attention, mlp, shared };
    for (id, wanted) in [
        ("deepseek-v3", of(block, block, block, block)),
        ("deepseek-v3.1-nvfp4", of(fp4, bf16, fp4, fp4)),
        ("deepseek-v4-pro", of(Dtype::Mxfp4, block, bf16, block)),
        ("deepseek-v4-pro-fp8", of(block, block, block, block)),
        // Experts requantised, the rest as DeepSeek published it.
        ("deepseek-v4-pro-nvfp4", of(fp4, block, fp4, block)),
        ("glm-5-nvfp4", of(fp4, bf16, fp4, fp4)),
        ("glm-5.1-nvfp4", of(fp4, bf16, bf16, bf16)),
        ("kimi-k2.5", of(Dtype::Int4, bf16, bf16, bf16)),
        ("kimi-k2.5-nvfp4", of(fp4, bf16, fp4, fp4)),
        ("kimi-k2.7-code-nvfp4", of(fp4, bf16, bf16, bf16)),
        ("kimi-k3", of(Dtype::Mxfp4, bf16, bf16, bf16)),
        ("gpt-oss-20b", of(Dtype::Mxfp4, bf16, bf16, bf16)),
        ("minimax-m2.5", of(block, block, block, block)),
        ("minimax-m2.5-nvfp4", of(fp4, bf16, fp4, bf16)),
        ("qwen3.5-397b-a17b-nvfp4", of(fp4, bf16, fp4, bf16)),
        ("qwen3.6-35b-a3b-nvfp4", of(fp4, fp8, fp4, fp4)),
        ("gemma-4-26b-a4b-nvfp4", of(fp4, bf16, bf16, bf16)),
        ("gemma-4-31b-it-nvfp4", of(fp4, bf16, fp4, fp4)),
        ("nemotron-3-super-120b-a12b-fp8", of(fp8, fp8, fp8, fp8)),
    ] {
        let model = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"));
        assert_eq!(model.formats(model.weights), wanted, "{id}");
    }
    // One record without a config beside it gives no model: `configs` above does not list it.
    assert_eq!(catalog().model("qwen3.6-27b-nvfp4"), None);
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
fn every_published_config_is_imported_or_refused_with_one_reason() {
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
fn the_committed_catalog_is_up_to_date() {
    let Some(files) = published() else { return };
    let committed = std::fs::read_to_string(root().join("static/catalog/models.json")).unwrap();
    let source =
        serde_json::from_str::<serde_json::Value>(&committed).unwrap()["source"].as_str().unwrap().to_owned();
    let printed = print(&build(&source, &files).unwrap()).unwrap();
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
