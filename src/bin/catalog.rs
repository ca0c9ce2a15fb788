//! Writes the model catalog from folders of published `config.json` files.
//!
//! `catalog --configs DIR [--configs DIR ...] > static/catalog/models.json`
//!
//! Files are named `organisation--name_config.json`, with an optional `organisation--name_hf_quant_config.json`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rooflight::config::catalog::{ConfigFile, build, print};

const USAGE: &str = "usage: catalog --configs DIR [--configs DIR ...] > static/catalog/models.json";
const SOURCE: &str =
    "Facts of the config.json that each publisher ships on huggingface.co under the model's name";
const CONFIG: &str = "_config.json";
const QUANTIZATION: &str = "_hf_quant_config.json";

fn main() -> ExitCode {
    match run() {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("catalog: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let mut files = Vec::new();
    for folder in folders()? {
        files.extend(configs(&folder)?);
    }
    let catalog = build(SOURCE, &files).map_err(|error| error.to_string())?;
    eprintln!("{} models, {} refused", catalog.models.len(), catalog.refused.len());
    print(&catalog).map_err(|error| error.to_string())
}

fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn folders() -> Result<Vec<PathBuf>, String> {
    let mut folders = Vec::new();
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match (argument.to_str(), arguments.next()) {
            (Some("--configs"), Some(folder)) => folders.push(PathBuf::from(folder)),
            _ => return Err(USAGE.into()),
        }
    }
    if folders.is_empty() { Err(USAGE.into()) } else { Ok(folders) }
}

/// The published configs in a folder, sorted by name.
fn configs(folder: &Path) -> Result<Vec<ConfigFile>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let files: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.file_name())).collect();
    let files = files.map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = files
        .into_iter()
        .filter_map(|file| file.into_string().ok())
        .filter(|name| !name.ends_with(QUANTIZATION))
        .filter_map(|name| name.strip_suffix(CONFIG).map(str::to_owned))
        .collect();
    names.sort();
    let file = |name: String| {
        let quantization = folder.join(format!("{name}{QUANTIZATION}"));
        Ok(ConfigFile {
            config: text(&folder.join(format!("{name}{CONFIG}")))?,
            hf_quant_config: if quantization.exists() { Some(text(&quantization)?) } else { None },
            name: name.replacen("--", "/", 1),
        })
    };
    names.into_iter().map(file).collect()
}
