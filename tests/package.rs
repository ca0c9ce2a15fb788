//! The crate as packaged: everything that the sources embed is in it.
#![cfg(feature = "tools")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn packed() -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["package", "--list", "--allow-dirty", "--offline", "--quiet"]).current_dir(ROOT);
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn what_is_embedded_is_packed() {
    let packed = packed();
    let embedded = regex_lite::Regex::new(r#"include_(?:str|bytes)!\(\s*"([^"]+)""#).unwrap();
    let mut needed =
        vec!["build.rs".to_owned(), "Cargo.lock".to_owned(), "LICENSE".to_owned(), "NOTICE".to_owned()];
    for file in packed.iter().filter(|file| file.starts_with("src/") && file.ends_with(".rs")) {
        let source = std::fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
        for found in embedded.captures_iter(&source) {
            let folder = Path::new(ROOT).join(file).parent().unwrap().to_owned();
            let path =
                folder.join(&found[1]).canonicalize().unwrap_or_else(|error| panic!("{file}: {error}"));
            needed.push(path.strip_prefix(ROOT).unwrap().display().to_string());
        }
    }
    // Named by macros, and by build.rs.
    for folder in ["models", "static/catalog"] {
        let files = std::fs::read_dir(Path::new(ROOT).join(folder)).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let data = names.filter(|name| name.ends_with(".onnx") || name.ends_with(".json"));
        needed.extend(data.map(|name| format!("{folder}/{name}")));
    }
    let missing: Vec<&String> = needed.iter().filter(|file| !packed.contains(*file)).collect();
    assert!(needed.len() > 20 && missing.is_empty(), "not packed: {missing:?}");
}
