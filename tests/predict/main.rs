//! The `predict` command: its exit status, and what it needs.
#![cfg(feature = "tools")]

mod ci;
mod files;
mod formats;
mod limits;
mod lines;
mod physics;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const LINK: &str = "v=1&isl=300&osl=64&c=4";

/// A folder with these files, removed at the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn of(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("rooflight-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            std::fs::write(folder.join(file), text).unwrap();
        }
        Self(folder)
    }

    fn path(&self, file: &str) -> String {
        self.0.join(file).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Away from the repository, so nothing is found there.
fn predict(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_predict"));
    command.args(arguments).current_dir(std::env::temp_dir()).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> (i32, Output) {
    let output = predict(arguments).output().unwrap();
    (output.status.code().expect("it exits by itself"), output)
}

/// The same, with `input` on standard input.
fn run_with(arguments: &[&str], input: &str) -> (i32, Output) {
    let mut child = predict(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    (output.status.code().expect("it exits by itself"), output)
}

/// What it prints, with plain spaces.
fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).replace('\u{a0}', " ")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).replace('\u{a0}', " ")
}

fn report(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The fields that standard error names errors of.
fn error_fields(output: &Output) -> Vec<String> {
    let text = said(output);
    let errors = text.lines().filter_map(|line| line.strip_prefix("error: ")?.split(':').next());
    errors.map(str::to_owned).collect()
}

#[test]
fn the_models_are_built_in() {
    let (code, output) = run(&[LINK]);
    assert_eq!(code, 0);
    assert!(error_fields(&output).is_empty());
    assert_eq!(report(&output)["report"]["basis"]["kind"], "learned");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let (_, of_folder) = run(&[LINK, "--models", folder.to_str().unwrap()]);
    assert_eq!(output.stdout, of_folder.stdout);
}

#[test]
fn bands_hold_no_more_than_arrives() {
    let (code, output) = run(&["v=1&m=llama-3.1-8b&r=14.4"]);
    assert_eq!(code, 0);
    let report = &report(&output)["report"];
    let band = |end: &str| report["calibrated"]["bands"]["output_per_s"][end].as_f64().unwrap();
    assert!(!report["run"]["saturation"].is_null(), "too low a rate to test it");
    assert!(band("low") < band("high") && band("high") <= 14.4 * 512.0, "{} tok/s", band("high"));
}

#[test]
fn a_study_needs_no_folder_either() {
    let (code, output) = run(&[LINK, "--study", "evidence"]);
    assert_eq!(code, 0);
    assert!(output.stdout.len() > 1000);
}

#[test]
fn a_wrong_scenario_exits_with_2_and_names_the_field() {
    for more in
        [&[][..], &["--svg", "roofline"], &["--study", "breakdown"], &["--badge"], &["--format", "csv"]]
    {
        for (scenario, field) in [
            ("m=nope", "model"),
            ("tp=x", "tp"),
            (r#"{"model": 1"#, "link"),
            ("qwen3-32b", "link"),
            ("", "link"),
        ] {
            let (code, output) = run(&[&[scenario], more].concat());
            assert_eq!(code, 2, "{scenario} {more:?}");
            assert!(error_fields(&output).contains(&field.to_owned()), "{scenario} {more:?}");
        }
    }
    let (code, output) = run(&[LINK, "--study", "sweep", "--of", "foo"]);
    assert!(code == 2 && said(&output).contains("--of: expected one of load, isl"), "{}", said(&output));
    let (code, _) = run(&[LINK, "--study", "nope"]);
    assert_eq!(code, 2);
}

#[test]
fn a_search_that_is_invalid_or_finds_nothing_exits_with_2_and_says_why() {
    for (find, field) in [
        // A search without the limit that was meant would find other plans.
        ("foo~1~gpu~h100-sxm~budget_dollars~3", "vary"),
        ("gpu~h100-sxm~budget_dolars~3", "vary"),
        ("gpu~h100-sxm~tp~3", "tp"),
        ("weights~awq", "weights"),
        ("budget_dollars~0", "budget_dollars"),
        ("gpu~t4~engine~vllm~tp~1", "vary"),
    ] {
        let link = format!("v=1&m=qwen3-32b&r=1&f={find}");
        let (code, output) = run(&[&link, "--study", "plans", "--roofline"]);
        assert_eq!(code, 2, "{find}: {}", said(&output));
        assert!(error_fields(&output).contains(&field.to_owned()), "{find}: {}", said(&output));
    }
    let sound = "v=1&m=qwen3-8b&r=1&f=gpu~h100-sxm~engine~vllm~tp~1";
    assert_eq!(run(&[sound, "--study", "plans", "--roofline"]).0, 0);
    // A prediction needs no search.
    assert_eq!(run(&["v=1&isl=300&osl=64&c=4&f=foo~1"]).0, 0);
}

#[test]
fn what_does_not_fit_exits_with_2() {
    let (code, output) = run(&["v=1&m=llama-3.3-70b-instruct&g=rtx-a6000&n=1&tp=1"]);
    assert_eq!((code, error_fields(&output).len()), (2, 1));
    assert!(report(&output)["report"]["headline"].is_null());
}

#[test]
fn a_failure_exits_with_1() {
    let (code, output) = run(&[LINK, "--models", "/no/such/folder"]);
    assert_eq!(code, 1);
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/folder"));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child =
        predict(&[LINK, "--sweep"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Longer than a pipe holds, so that the rest meets a closed one.
    let mut first = [0];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_scenario_from_standard_input() {
    let (_, output) = run_with(&["-"], LINK);
    assert_eq!(output.stdout, run(&[LINK]).1.stdout);
}

#[test]
fn it_prints_its_version() {
    let (code, output) = run(&["--version"]);
    assert_eq!(code, 0);
    assert!(String::from_utf8_lossy(&output.stdout).contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_help_lists_every_study() {
    let (code, output) = run(&["--help"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code, 0);
    for topic in rooflight::study::Topic::ALL {
        assert!(text.contains(topic.id()), "{}", topic.id());
    }
}
