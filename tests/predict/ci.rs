//! The GitHub Action and the pre-commit hook: their own lines, run in a shell.

use std::process::Output;

use super::{Folder, predict, said, text};

const ACTION: &str = include_str!("../../.github/actions/predict/action.yml");
const HOOKS: &str = include_str!("../../.pre-commit-hooks.yaml");
const MANUAL: &str = include_str!("../../docs/ci.md");
const LAUNCH: &str = "#!/bin/sh\nvllm serve Qwen/Qwen3-8B --tensor-parallel-size 2\n";

/// The last script of the action.
fn script() -> String {
    let (_, script) = ACTION.rsplit_once("run: |\n").expect("a script");
    script.lines().map(|line| format!("{}\n", line.trim_start())).collect()
}

/// `script` in the folder as GitHub's `shell: bash` runs it, with this `predict` first on the path.
fn shell(script: &str, folder: &Folder, environment: &[(&str, &str)]) -> (i32, Output) {
    let mut command = predict(&[]);
    let tools = std::path::Path::new(command.get_program()).parent().unwrap().to_owned();
    command = std::process::Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(&folder.0);
    command.env("PATH", format!("{}:{}", tools.display(), std::env::var("PATH").unwrap()));
    let output = command.envs(environment.iter().copied()).output().unwrap();
    (output.status.code().unwrap(), output)
}

#[test]
fn the_action_fails_where_a_limit_is_broken() {
    let folder =
        Folder::of("action", &[("serve.sh", LAUNCH), ("scenario.json", r#"{"tp": 2, "concurrency": 4}"#)]);
    let run = |config: &str, base: &str, limits: &str| {
        let environment = [("CONFIG", config), ("BASE", base), ("LIMITS", limits), ("BADGE", "badge.svg")];
        shell(&script(), &folder, &environment)
    };
    let (code, output) = run("scenario.json", "", "ttft_p99=60000\n  tpot_mean=1000");
    assert_eq!(code, 0, "{}", said(&output));
    assert!(std::fs::read_to_string(folder.0.join("badge.svg")).unwrap().starts_with("<svg "));
    let (code, output) = run("serve.sh", "v=1&g=l40s&c=4", "ttft_p99=60000 tpot_mean=0.1");
    assert!(code == 3 && said(&output).contains("limit: tpot_mean is "), "{}", said(&output));
    assert!(text(&output).starts_with("Qwen/Qwen3-8B on 2 × L40S"));
    assert_eq!(run("none.json", "", "ttft_p99=1").0, 1);
    assert_eq!(run("scenario.json", "", "ttft=1").0, 2);
    // Nothing of an input is run.
    let (code, _) = run("scenario.json", "$(touch gone)", "ttft_p99=60000");
    assert!(code == 2 && !folder.0.join("gone").exists());
}

#[test]
fn the_hook_fails_where_a_limit_of_any_file_is_broken() {
    let folder = Folder::of("hook", &[("slow.txt", "v=1&isl=8000&c=64"), ("fast.txt", "v=1&isl=100&c=1")]);
    let entry = HOOKS.lines().find_map(|line| line.trim().strip_prefix("entry: ")).unwrap();
    let run = |limit: &str, files: &str| shell(&format!("{entry} --limit {limit} {files}"), &folder, &[]);
    assert_eq!(run("ttft_p99=500", "fast.txt").0, 0);
    let (code, output) = run("ttft_p99=500", "fast.txt slow.txt");
    let said = said(&output);
    assert!(
        code == 3 && said.contains("limit: slow.txt: ttft_p99 is ") && !said.contains("fast.txt"),
        "{said}"
    );
}

#[test]
fn the_manual_lists_every_option() {
    for input in ["config", "limits", "base", "badge"] {
        assert!(
            ACTION.contains(&format!("\n  {input}:\n")) && MANUAL.contains(&format!("{input}: ")),
            "{input}"
        );
    }
    assert!(HOOKS.contains("id: rooflight") && MANUAL.contains("id: rooflight"));
}
