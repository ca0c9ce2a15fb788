//! The `plan` command: its exit status, and what it prints.
#![cfg(feature = "tools")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

const REQUEST: &str = r#"{"model": "llama-3.1-8b", "isl": 300, "osl": 32, "rate": 4, "requests": 100, "slo_ttft": 1000, "slo_tpot": 50,
    "engine": "vllm", "tp": 1, "pp": 1, "vary": {"gpu": ["l40s", "h100-sxm"]}}"#;

/// Runs it away from the repository, so nothing is found there, with `input` on standard input.
fn run(arguments: &[&str], input: &str) -> (i32, Output) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plan"));
    command.args(arguments).current_dir(std::env::temp_dir());
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    (output.status.code().expect("it exits by itself"), output)
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The fields that standard error names errors of.
fn error_fields(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    let errors = text.lines().filter_map(|line| line.strip_prefix("error: ")?.split(':').next());
    errors.map(str::to_owned).collect()
}

#[test]
fn plans_as_a_table_and_as_json_whatever_the_threads() {
    let (code, table) = run(&[REQUEST], "");
    assert_eq!(code, 0);
    let printed = String::from_utf8_lossy(&table.stdout);
    assert!(
        printed.starts_with("meta-llama/Meta-Llama-3.1-8B: 300 tokens in, 32 out, 4 requests/s\n\nplan "),
        "{printed}"
    );
    assert!(printed.contains("best: v=1&"));
    let (_, one) = run(&[REQUEST, "--format", "json", "--threads", "1"], "");
    let (_, two) = run(&["-", "--format", "json", "--threads", "2"], REQUEST);
    assert_eq!(json(&one), json(&two));
    let best = &json(&one)["plans"][0];
    assert!(
        best["dollars_per_hour"].as_f64() > Some(0.0) && best["goodput_share"].as_f64() >= Some(0.99),
        "{best}"
    );
}

#[test]
fn a_line_of_json_for_every_request() {
    let request = REQUEST.replace('\n', " ");
    let (code, output) = run(&["--jsonl"], &format!("{request}\n\n{{\"rate\": 1, \"tp\": \"x\"}}\n"));
    let lines: Vec<serde_json::Value> = output
        .stdout
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    assert_eq!((code, lines.len()), (2, 2));
    assert!(!lines[0]["plans"].as_array().unwrap().is_empty());
    assert_eq!(lines[1]["issues"][0]["field"], "tp");
}

#[test]
fn plans_as_csv() {
    let request = REQUEST.replace('\n', " ");
    let (code, output) = run(
        &["--jsonl", "--format", "csv"],
        &format!("{request}\n{{\"rate\": 1, \"tp\": \"x\"}}\n{request}\n"),
    );
    let mut reader = csv::Reader::from_reader(output.stdout.as_slice());
    let rows: Vec<std::collections::BTreeMap<String, String>> =
        reader.deserialize().map(Result::unwrap).collect();
    let (_, alone) = run(&[REQUEST, "--format", "json"], "");
    let best = &json(&alone)["plans"][0];
    assert_eq!(
        (code, rows[0]["request"].as_str(), rows[0]["link"].as_str()),
        (2, "1", best["link"].as_str().unwrap())
    );
    assert!(rows.iter().any(|row| row["request"] == "3"));
    assert!(rows[0].values().all(|cell| cell.parse::<f64>().is_err() || cell.len() <= 9), "{:?}", rows[0]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("request 2: error: tp: "), "{stderr}");
    let ttft: f64 = rows[0]["ttft_p99_ms"].parse().unwrap();
    assert!((ttft / best["ttft"]["p99"].as_f64().unwrap() - 1e3).abs() < 0.01);
    assert_eq!(run(&["--jsonl", "--format", "table"], "").0, 2);
}

#[test]
fn it_has_completions_and_a_manual() {
    for (arguments, part) in [
        (&["completions", "bash"][..], "--brute-force"),
        (&["man"], ".TH plan 1"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
    ] {
        let (code, output) = run(arguments, "");
        assert!(code == 0 && String::from_utf8_lossy(&output.stdout).contains(part), "{arguments:?}");
    }
}

#[test]
fn a_request_without_plans_exits_with_2_and_names_the_binding_limit() {
    for (more, field) in [
        (r#""slo_tpot": 0.1"#, "slo_tpot"),
        (r#""slo_tpot": 50, "budget_dollars": 0.1"#, "budget_dollars"),
        (r#""slo_tpot": 50, "nope": 1"#, "vary"),
        (r#""slo_tpot": 50, "budget_gpu": 1"#, "budget_gpus"),
    ] {
        let (code, output) =
            run(&[&format!(r#"{{"rate": 4, "gpu": "l40s", "engine": "vllm", "requests": 50, {more}}}"#)], "");
        assert_eq!(code, 2, "{more}");
        assert!(
            error_fields(&output).contains(&field.to_owned()),
            "{more}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert_eq!(run(&[], "").0, 2);
    assert_eq!(run(&[REQUEST, "--jsonl"], "").0, 2);
}

#[test]
fn what_is_wrong_with_a_request_is_named_before_any_search() {
    for (request, field, said) in [
        (r#"{"rate": 5, "gpu": "H100"}"#, "gpu", "h100-pcie"),
        (r#"{"rate": 5, "engine": "nope"}"#, "engine", "nope"),
        ("not json", "link", "this is not JSON"),
    ] {
        let (code, output) = run(&[request], "");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((code, error_fields(&output)), (2, vec![field.to_owned()]), "{stderr}");
        assert!(stderr.contains(said) && !stderr.contains("layouts"), "{stderr}");
    }
}

#[test]
fn the_best_plan_is_ready_to_run() {
    let (code, commands) = run(&[REQUEST, "--format", "commands"], "");
    let text = String::from_utf8_lossy(&commands.stdout).into_owned();
    assert!(code == 0 && text.starts_with("vllm serve meta-llama/Meta-Llama-3.1-8B"), "{text}");
    assert!(text.contains("vllm bench serve") && text.contains("--goodput ttft:1000 tpot:50"), "{text}");
    let (code, yaml) = run(&[REQUEST, "--format", "yaml"], "");
    let text = String::from_utf8_lossy(&yaml.stdout).into_owned();
    assert!(code == 0 && text.contains("kind: Deployment") && text.contains("kind: Service"), "{text}");
    // Nothing keeps to these limits.
    let none = REQUEST.replace("\"slo_tpot\": 50", "\"slo_tpot\": 0.1");
    assert_eq!(run(&[&none, "--format", "yaml"], "").0, 2);
}

#[test]
fn what_is_doubtful_about_the_best_plan_is_told() {
    let drafts = REQUEST.replace(r#""vary": {"#, r#""accepted": 0.8, "vary": {"drafted": [1], "#);
    for format in ["table", "commands"] {
        let (code, output) = run(&[&drafts, "--format", format], "");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(code == 0 && stderr.contains("best plan: warning: drafted: "), "{format}: {stderr}");
    }
}

#[test]
fn capacity_is_asked_for_in_the_request() {
    let most = REQUEST.replace("\"rate\": 4", "\"rate\": \"most\", \"budget_dollars\": 3");
    let (code, output) = run(&[&most, "--format", "json"], "");
    let found = json(&output);
    assert!(code == 0 && found["most"]["load"].as_f64() > Some(4.0) && found["days"].is_null(), "{found}");
    let (code, table) = run(&[&most], "");
    assert!(code == 0 && String::from_utf8_lossy(&table.stdout).contains("most: these 3 GPUs serve up to "));
    let (code, refused) = run(&[&REQUEST.replace("\"rate\": 4", "\"day\": [1, 2, 3]")], "");
    assert_eq!((code, error_fields(&refused)), (2, vec!["day".to_owned()]));
}

#[test]
fn a_failure_exits_with_1() {
    let (code, output) = run(&[REQUEST, "--models", "/no/such/folder"], "");
    assert_eq!(code, 1);
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/folder"));
}

#[test]
fn bounds_are_compared_with_brute_force() {
    let (code, output) = run(&[REQUEST, "--compare"], "");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("0.0 % more expensive"), "{text}");
}

#[test]
fn brute_force_answers_the_question_asked() {
    let request = r#"{"model": "llama-3.1-8b", "isl": 512, "osl": 64, "requests": 200, "gpu": "l40s", "engine": "vllm",
        "tp": 1, "pp": 1, "rate": "most", "slo_ttft": 1000, "slo_tpot": 50, "budget_gpus": 2}"#;
    let most = |arguments: &[&str]| {
        let (code, output) = run(arguments, "");
        let load = json(&output)["most"]["load"].as_f64();
        assert_eq!(code, 0);
        load.unwrap_or_else(|| panic!("{arguments:?}: no largest load"))
    };
    let bounded = most(&[request, "--format", "json"]);
    let exhaustive = most(&[request, "--format", "json", "--brute-force"]);
    assert!((exhaustive / bounded - 1.0).abs() < 0.05, "{exhaustive}, not {bounded}");
}

/// The manual's example: the request between quotes, and what it prints.
#[test]
fn the_manual_shows_current_output() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/plan.md");
    let manual = std::fs::read_to_string(path).unwrap();
    let between = |text: &str, from: &str, to: &str| {
        let begin = text.find(from).expect("there is an example") + from.len();
        (begin, begin + text[begin..].find(to).expect("it ends"))
    };
    let (from, to) = between(&manual, "plan '", "'\n```");
    let (code, output) = run(&[&manual[from..to]], "");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(code, 0);
    let (from, to) = between(&manual, "```text\n", "```");
    if std::env::var_os("ROOFLIGHT_WRITE").is_some() {
        std::fs::write(path, format!("{}{printed}{}", &manual[..from], &manual[to..])).unwrap();
    } else {
        assert_eq!(
            &manual[from..to],
            printed,
            "docs/plan.md is stale: ROOFLIGHT_WRITE=1 cargo test --test plan"
        );
    }
}
