//! The structure that `src/README.md` describes: data flows one way through the folders of `src`, the core is pure, and folders
//! and files stay small.
//!
//! The sources are read as tokens, so that comments, strings and doc links do not count, and macros do.

mod paths;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use paths::{SourceFile, UsedPath};

/// The folders of `src` in the order in which `src/lib.rs` declares them; `bin` stands after them and may use all.
static ORDER: LazyLock<Vec<String>> = LazyLock::new(|| {
    let library = read(&src().join("lib.rs"));
    let modules = library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    modules.map(str::to_owned).collect()
});
/// The folders before this one are the core: no web, file, clock or thread.
const FIRST_OUTSIDE_THE_CORE: &str = "chart";
/// How many folders deep a file may lie in `src`.
const DEEPEST: usize = 3;
const LONGEST: usize = 350;
/// What the core may not use, as the beginning of a path.
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

/// The paths that `file` uses although it may not.
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

/// Every file below `folder`.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder can be listed");
    let paths = entries.map(|entry| entry.expect("a folder can be listed").path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Path below `src`, with `/` between its parts.
fn name(path: &Path) -> String {
    let parts = path.strip_prefix(src()).expect("it lies in src").iter();
    parts.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Every Rust file in the folders of `ORDER`.
fn sources() -> Vec<SourceFile> {
    let files = ORDER.iter().flat_map(|folder| files_below(&src().join(folder)));
    let rust = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|path| SourceFile::parse(&name(&path), &read(&path))).collect()
}

#[test]
fn modules_use_only_earlier_folders() {
    let found: Vec<String> = sources().iter().flat_map(violations).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn tract_is_named_in_one_file() {
    let files: Vec<String> = sources().into_iter().filter(names_tract).map(|file| file.name).collect();
    assert_eq!(files.len(), 1, "tract is named in {files:?}");
}

#[test]
fn the_map_lists_the_folders_in_order() {
    let map = read(&src().join("README.md"));
    let listed: Vec<&str> = map
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("/` | "))
        .map(|(folder, _)| folder)
        .collect();
    let expected: Vec<&str> = ORDER.iter().map(String::as_str).chain(["bin"]).collect();
    assert_eq!(listed, expected);
}

#[test]
fn the_folders_are_those_declared() {
    let entries = std::fs::read_dir(src()).expect("src can be listed");
    let folders = entries.map(|entry| entry.expect("src can be listed").path()).filter(|path| path.is_dir());
    let mut found: Vec<String> = folders.map(|path| name(&path)).collect();
    let mut expected = [&ORDER[..], &["bin".to_owned()]].concat();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn folders_are_shallow_and_files_short() {
    for path in files_below(&src()) {
        let name = name(&path);
        assert!(name.split('/').count() <= DEEPEST + 1, "src/{name} lies more than {DEEPEST} folders deep");
        let lines = read(&path).lines().count();
        assert!(lines <= LONGEST, "src/{name} has {lines} lines, more than {LONGEST}");
    }
}

mod the_checks_find {
    use super::*;

    fn found(name: &str, source: &str) -> usize {
        violations(&SourceFile::parse(name, source)).len()
    }

    #[test]
    fn later_folders_and_the_outside_world() {
        for (count, name, source) in [
            (1, "graph/op.rs", "use crate::serving::Report;"),
            (1, "graph/op.rs", "fn f() { crate::ui::draw() }"),
            (2, "graph/op.rs", "use crate::{config::Dtype, latency::{self, Time}};"),
            (1, "config/op.rs", "assert!(crate::latency::count() > 0);"),
            (1, "config/mod.rs", "use super::latency::Count;"),
            (1, "graph/op.rs", "use super::super::latency::Count;"),
            (1, "graph/op.rs", "mod tests { use super::super::super::ui::Page; }"),
            (1, "latency/step.rs", "use web_sys::window;"),
            (2, "latency/step.rs", "use std::{fmt, fs::File, thread};"),
            (1, "latency/step.rs", "let now = std::time::Instant::now();"),
            (0, "latency/step.rs", "use std::time::Duration; use std::collections::HashMap;"),
            (0, "evidence/cases.rs", "use std::fs::read_to_string;"),
            (0, "ui/mod.rs", "use leptos::prelude::*; use std::time::Instant;"),
        ] {
            assert_eq!(found(name, source), count, "{name}: {source}");
        }
    }

    #[test]
    fn an_earlier_folder_is_fine() {
        let source = r#"
            //! See [`crate::ui`] and crate::serving.
            use crate::{config::Dtype, units::Bytes};
            use super::Gemm;
            mod tests { use super::super::reference; }
            const TEXT: &str = "crate::ui"; // crate::ui
        "#;
        assert_eq!(found("kernels/gemm.rs", source), 0);
    }

    #[test]
    fn tract() {
        let names = |source| names_tract(&SourceFile::parse("efficiency/infer.rs", source));
        assert!(names("use tract_onnx::prelude::*;"));
        assert!(names("let model = tract_onnx::onnx();"));
        assert!(!names("// tract_onnx\nconst CRATE: &str = \"tract_onnx\";"));
    }
}
