//! The Python package over the programs of this build, and the notebook where Jupyter is installed.
#![cfg(feature = "tools")]

use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The Python of the documentation tools, which has Jupyter, if `scripts/setup` installed it.
fn python() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let tools = std::env::var_os("ROOFLIGHT_TOOLS").map(PathBuf::from);
    let tools = tools.or_else(|| cache.map(|cache| cache.join("rooflight/tools")));
    let own = tools.map(|tools| tools.join("docs/bin/python3")).filter(|path| path.exists());
    own.unwrap_or_else(|| "python3".into())
}

#[test]
fn the_python_package_asks_the_programs() {
    let mut tests = Command::new(python());
    tests.args(["-m", "unittest", "discover", "-v", "-s", "python/tests"]).current_dir(ROOT);
    tests.env("PYTHONPATH", Path::new(ROOT).join("python")).env("PYTHONDONTWRITEBYTECODE", "1");
    tests.env("ROOFLIGHT_BIN", Path::new(env!("CARGO_BIN_EXE_predict")).parent().unwrap());
    let output = match tests.output() {
        Ok(output) => output,
        Err(missing) => return println!("skipped: no python3 ({missing})"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    println!("{said}");
    assert!(output.status.success(), "{said}");
    assert!(said.contains("test_plan"), "{said}");
}

/// The package is of this version: maturin reads it, and what the crate is called, from `Cargo.toml`.
#[test]
fn the_package_is_described() {
    let project = std::fs::read_to_string(Path::new(ROOT).join("pyproject.toml")).unwrap();
    for line in ["dynamic = [\"version\"", "bindings = \"bin\"", "python-source = \"python\""] {
        assert!(project.contains(line), "{line}");
    }
    // maturin refuses entry points beside programs: the command is a script of the wheel's data.
    assert!(!project.contains("[project.scripts]"));
    let command = Path::new(ROOT).join("python/rooflight.data/scripts/rooflight");
    assert!(std::fs::read_to_string(command).expect("the command").starts_with("#!python\n"));
    for program in ["predict", "plan", "evaluate"] {
        assert!(project.contains(&format!("name = \"{program}\"\nkind = \"bin\"")), "{program}");
    }
}
