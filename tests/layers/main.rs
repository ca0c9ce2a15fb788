//! Data flows one way through `src`: a module uses only the folders that stand before its own.
//!
//! The sources are read as tokens, so comments, strings and doc links do not count, and macros do.

mod paths;

use std::path::{Path, PathBuf};

use paths::{SourceFile, UsedPath};

/// The folders of `src` in the order of `src/lib.rs`; `bin` may use all of them.
const ORDER: [&str; 13] = [
    "units",
    "config",
    "kernels",
    "graph",
    "efficiency",
    "latency",
    "serving",
    "evidence",
    "chart",
    "study",
    "api",
    "worker",
    "ui",
];
/// The folders before this one are the core: no web, file, clock or thread.
const FIRST_OUTSIDE_THE_CORE: &str = "evidence";
/// What the core may not name, as the beginning of a path.
const FORBIDDEN_IN_THE_CORE: [&[&str]; 13] = [
    &["web_sys"],
    &["js_sys"],
    &["wasm_bindgen"],
    &["leptos"],
    &["gloo"],
    &["std", "fs"],
    &["std", "net"],
    &["std", "env"],
    &["std", "process"],
    &["std", "thread"],
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["std", "time", "*"],
];

fn rank(folder: &str) -> Option<usize> {
    ORDER.iter().position(|known| *known == folder)
}

/// What `file` uses and may not.
fn violations(file: &SourceFile) -> Vec<String> {
    let own = rank(&file.folder).unwrap_or_else(|| panic!("the order knows no folder {}", file.folder));
    let core = Some(own) < rank(FIRST_OUTSIDE_THE_CORE);
    let forbidden = |path: &UsedPath| match path.as_slice() {
        [root, folder, ..] if root == "crate" => rank(folder).is_some_and(|used| used > own),
        path => core && FORBIDDEN_IN_THE_CORE.iter().any(|start| starts_with(path, start)),
    };
    let used = file.used_paths().into_iter().filter(forbidden);
    used.map(|path| format!("src/{} uses {}", file.name, path.join("::"))).collect()
}

fn starts_with(path: &[String], start: &[&str]) -> bool {
    path.len() >= start.len() && path.iter().zip(start).all(|(segment, expected)| segment == expected)
}

fn names_tract(file: &SourceFile) -> bool {
    file.used_paths().iter().any(|path| path[0].starts_with("tract"))
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folders of `src`, `bin` aside.
fn folders() -> Vec<String> {
    let entries = std::fs::read_dir(src()).expect("src can be listed");
    let folders = entries.map(|entry| entry.expect("src can be listed").path()).filter(|path| path.is_dir());
    let names = folders.map(|path| path.file_name().expect("it has a name").to_string_lossy().into_owned());
    names.filter(|name| name != "bin").collect()
}

/// Every Rust file in the folders of `src`, `bin` aside.
fn files() -> Vec<SourceFile> {
    let mut files = Vec::new();
    let mut open: Vec<PathBuf> = folders().iter().map(|folder| src().join(folder)).collect();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(src()).expect("it lies in src").to_string_lossy();
                files.push(SourceFile::parse(&name, &read(&path)));
            }
        }
    }
    files
}

#[test]
fn modules_use_only_what_stands_before_them() {
    let found: Vec<String> = files().iter().flat_map(violations).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn tract_is_named_in_one_file() {
    let files: Vec<String> = files().into_iter().filter(names_tract).map(|file| file.name).collect();
    assert_eq!(files.len(), 1, "tract is named in {files:?}");
}

#[test]
fn the_library_declares_the_folders_in_order() {
    let library = read(&src().join("lib.rs"));
    let declared: Vec<&str> =
        library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert_eq!(declared, ORDER);
}

#[test]
fn the_map_names_every_folder() {
    let map = read(&src().join("README.md"));
    for folder in folders() {
        assert!(rank(&folder).is_some(), "the order knows no folder {folder}");
        assert!(map.contains(&format!("`{folder}/`")), "src/README.md does not name `{folder}/`");
    }
}

/// The checks above are worth something: each finds what it is there to find.
mod the_checks_can_fail {
    use super::*;

    fn found(name: &str, source: &str) -> usize {
        violations(&SourceFile::parse(name, source)).len()
    }

    #[test]
    fn a_later_folder() {
        assert_eq!(found("graph/call.rs", "use crate::serving::Report;"), 1);
        assert_eq!(found("graph/call.rs", "fn f() { crate::ui::draw() }"), 1);
        assert_eq!(found("graph/call.rs", "use crate::{config::Dtype, latency::{self, Time}};"), 2);
        assert_eq!(found("kernels/gemm/mod.rs", "assert!(crate::graph::count() > 0);"), 1);
        assert_eq!(found("kernels/mod.rs", "use super::graph::Call;"), 1);
        assert_eq!(found("kernels/count.rs", "use super::super::graph::Call;"), 1);
        assert_eq!(found("graph/call.rs", "mod tests { use super::super::super::ui::Page; }"), 1);
    }

    #[test]
    fn an_earlier_folder_is_fine() {
        let source = r#"
            //! See [`crate::ui`] and crate::serving.
            use crate::{config::Dtype, units::Bytes, kernels};
            use super::Gemm;
            mod tests { use super::super::reference; }
            const TEXT: &str = "crate::ui"; // crate::ui
        "#;
        assert_eq!(found("kernels/gemm/mod.rs", source), 0);
    }

    #[test]
    fn the_outside_world_in_the_core() {
        assert_eq!(found("latency/step.rs", "use web_sys::window;"), 1);
        assert_eq!(found("latency/step.rs", "use std::{fmt, fs::File, thread};"), 2);
        assert_eq!(found("latency/step.rs", "let now = std::time::Instant::now();"), 1);
        assert_eq!(found("latency/step.rs", "use std::time::Duration; use std::collections::HashMap;"), 0);
        assert_eq!(found("evidence/cases.rs", "use std::fs::read_to_string;"), 0);
        assert_eq!(found("ui/mod.rs", "use leptos::prelude::*; use std::time::Instant;"), 0);
    }

    #[test]
    fn tract() {
        let names = |source| names_tract(&SourceFile::parse("efficiency/infer.rs", source));
        assert!(names("use tract_onnx::prelude::*;"));
        assert!(names("let model = tract_onnx::onnx();"));
        assert!(!names("// tract_onnx\nconst CRATE: &str = \"tract_onnx\";"));
    }
}
