//! Contributed runs: what the checker accepts and what it reports, and that its schema and its documentation agree with
//! it.
#![cfg(feature = "tools")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use rooflight::efficiency::onnx::Models;
use rooflight::evidence::contributed::{Predicted, checked, report, schema};
use rooflight::evidence::models::shipped_models;
use serde_json::{Value, json};

const EXAMPLE: &str = "tests/data/contributed/example.json";

static MODELS: LazyLock<Models> = LazyLock::new(|| shipped_models().expect("the shipped models"));

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn example() -> Value {
    serde_json::from_str(&read(EXAMPLE)).expect("JSON")
}

/// The runs of files, and the findings as they are printed.
fn check_all(texts: &[String]) -> (Vec<Predicted>, Vec<String>) {
    let files: Vec<_> =
        texts.iter().enumerate().map(|(at, text)| (format!("{at}.json"), text.clone())).collect();
    let ask = |rows: &_| MODELS.answer(rows).map_err(|error| error.to_string());
    let (runs, findings) = checked(&files, &ask);
    (runs, findings.iter().map(ToString::to_string).collect())
}

/// The findings of the example after a change, and how many of its runs are left.
fn changed(change: impl FnOnce(&mut Value)) -> (usize, Vec<String>) {
    let mut file = example();
    change(&mut file);
    let (runs, findings) = check_all(&[file.to_string()]);
    (runs.len(), findings)
}

/// Leaves an input of a run out.
fn without(run: &mut Value, key: &str) {
    run["scenario"].as_object_mut().expect("a scenario").remove(key);
}

fn names(findings: &[String], wanted: &[&str]) {
    for text in wanted {
        assert!(findings.iter().any(|finding| finding.contains(text)), "{text}: {findings:#?}");
    }
}

fn evaluate(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evaluate"));
    command.arg("contributed").args(arguments).output().expect("it runs")
}

fn temporary(name: &str) -> String {
    let folder = std::env::temp_dir().join(format!("rooflight-contributed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(name).display().to_string()
}

#[test]
fn the_schema_is_that_of_the_checker() {
    let fresh = format!("{}\n", serde_json::to_string_pretty(&schema()).expect("JSON"));
    if std::env::var_os("ROOFLIGHT_WRITE").is_some() {
        std::fs::write(path("runs/schema.json"), &fresh).expect("the schema");
    }
    assert_eq!(
        read("runs/schema.json"),
        fresh,
        "stale: ROOFLIGHT_WRITE=1 cargo test --features tools --test contributed"
    );
}

#[test]
fn the_documented_example_is_accepted() {
    let document = read("docs/contributing.md");
    let (_, rest) = document.split_once("```json\n").expect("an example");
    let (shown, _) = rest.split_once("```").expect("its end");
    let shown: Value = serde_json::from_str(shown).expect("JSON");
    assert_eq!(shown, example());
    let (runs, findings) = check_all(&[shown.to_string()]);
    assert_eq!((runs.len(), findings), (2, vec![]));
    let report = report(&runs);
    assert_eq!((report.cases, report.by_source.keys().next()), (2, Some(&runs[0].contributor)));
    for run in &runs {
        assert!(!run.is_known, "nobody measured the example");
        assert_eq!(run.known.point.version, "0.11", "the version that ran, not that of the catalog");
        for (metric, [predicted, low, high, measured]) in run.figures() {
            assert!(low < predicted && predicted < high && low < measured && measured < high, "{metric:?}");
        }
    }
}

#[test]
fn all_missing_keys_are_named_at_once() {
    let (runs, findings) = changed(|file| {
        ["contributor", "licence", "how"].iter().for_each(|key| file[key] = Value::Null);
        let first = &mut file["runs"][0];
        ["engine_version", "launch", "benchmark"].iter().for_each(|key| first[key] = Value::Null);
        ["gpu", "weights", "osl", "concurrency"].iter().for_each(|key| without(first, key));
        file["runs"][1]["scenario"]["measured"] = Value::Null;
    });
    assert_eq!(runs, 0);
    names(&findings, &["0.json: `contributor` is missing", "`licence` is missing", "`how` is missing"]);
    names(&findings, &["run 1: `engine_version`", "run 1: `launch`", "run 1: `benchmark`", "run 1: `gpu`"]);
    names(&findings, &["run 1: `weights`", "run 1: `osl`", "no load that calibration learns from"]);
    names(&findings, &["run 2: `measured` is missing"]);
}

#[test]
fn unknown_and_malformed_keys_are_named() {
    let (runs, findings) = changed(|file| {
        (file["email"], file["licence"], file["date"]) = (json!("x"), json!("GPL-3.0"), json!("20.11.2026"));
        (file["runs"][0]["tp"], file["runs"][0]["engine_version"]) = (json!(2), json!("latest"));
        file["runs"][1]["scenario"]["tokens"] = json!(5);
    });
    assert_eq!(runs, 0);
    names(
        &findings,
        &["`email` is not a key here", "`licence` must be one of", "`date` must be a day as YYYY-MM-DD"],
    );
    names(
        &findings,
        &["`tp` is not a key here: it belongs in `scenario`", "`engine_version` must be an exact version"],
    );
    names(&findings, &["run 2: `tokens` is not a known name"]);
    let (runs, findings) = changed(|file| {
        file["runs"][0]["scenario"]["model"] = json!("Qwen/Qwen9-1T");
        file["runs"][1]["scenario"]["gpu"] = json!("h900");
    });
    assert_eq!((runs, findings.len()), (0, 2), "{findings:#?}");
    names(&findings, &["no model `Qwen/Qwen9-1T`", "no GPU `h900`"]);
}

#[test]
fn impossible_results_are_refused() {
    for (measured, expected) in [
        (json!({"mean_tpot_ms": 2.0}), "its TPOT is better than the hardware's peak rates allow"),
        (
            json!({"mean_ttft_ms": 0.001, "mean_tpot_ms": 2.0}),
            "its TPOT is better than the hardware's peak rates",
        ),
        (json!({"mean_ttft_ms": 0.001, "mean_tpot_ms": 16.0}), "less than a hundredth of the prediction"),
        (json!({"mean_tpot_ms": 80.0}), "times the prediction, too far off to learn from"),
        (
            json!({"mean_ttft_ms": 400, "mean_tpot_ms": 0}),
            "`mean_tpot_ms` is 0: leave out what was not measured",
        ),
        (json!({"mean_ttft_ms": 0, "mean_tpot_ms": 16}), "not `0`"),
        (json!({"mean_tpot_ms": -4}), "not `-4`"),
        (json!({"mean_e2el_ms": 2000}), "it has no measurement to calibrate on"),
        (json!({"mean_tpot_ms": 16, "max_concurrency": 64}), "measured with 64 concurrent requests"),
        (json!({"mean_tpot_ms": 16, "failed": 8, "completed": 72}), "of the measured requests failed"),
        (json!(16), "`measured` must be an object, not a number"),
    ] {
        let (runs, findings) = changed(|file| file["runs"][0]["scenario"]["measured"] = measured);
        assert_eq!(runs, 1, "the other run counts: {findings:#?}");
        names(&findings, &["error: 0.json, run 1: ", expected]);
    }
    let (runs, findings) = changed(|file| {
        file["runs"][0]["scenario"]["gpu"] = json!("l4");
    });
    assert_eq!((runs, findings.len()), (1, 1), "{findings:#?}");
    names(&findings, &["error: 0.json, run 1: Does not fit: weights"]);
}

#[test]
fn commands_that_contradict_the_run_are_named() {
    let (runs, findings) = changed(|file| {
        let [first, second] = file["runs"].as_array_mut().expect("runs").as_mut_slice() else {
            panic!("two")
        };
        first["launch"] =
            json!("vllm serve Qwen/Qwen3-32B -tp 4 --max-num-seqs 64 --enforce-eager --frobnicate");
        second["launch"] = json!("python serve.py");
        second["benchmark"] =
            json!("vllm bench serve --max-concurrency 16 \\\n --random-input-len 2048 --request-rate inf");
    });
    assert_eq!(runs, 0);
    names(&findings, &["`tp`: `launch` says `4`, `scenario` `2`", "`token_budget`: `launch` says nothing"]);
    names(
        &findings,
        &[
            "`max_seqs`: `launch` says `64`",
            "`largest_graph`: `launch` says `0`",
            "warning: 0.json, run 1: `launch`: not recognised and ignored",
        ],
    );
    names(&findings, &["run 2: `launch` starts no known engine", "`concurrency`: `benchmark` says `16`"]);
    names(&findings, &["`isl`: `benchmark` says `2048`, `scenario` `1024`"]);
}

#[test]
fn what_the_commands_imply_is_compared_too() {
    let (runs, findings) = changed(|file| {
        let [first, second] = file["runs"].as_array_mut().expect("runs").as_mut_slice() else {
            panic!("two")
        };
        for (run, key, more) in [
            (&mut *first, "launch", " --data-parallel-size 4 --enable-lora"),
            (&mut *second, "benchmark", " --random-range-ratio 0.8 --random-prefix-len 1024"),
        ] {
            run[key] = json!(run[key].as_str().expect("a command").to_owned() + more);
        }
    });
    assert_eq!(runs, 0);
    names(
        &findings,
        &["`gpus`: `launch` says `8`, `scenario` nothing", "error: 0.json, run 1: `launch`: ignored"],
    );
    names(&findings, &["`spread`: `benchmark` says `0.8`", "`isl`: `benchmark` says `2048`"]);

    // SGLang draws lengths from 0 up, so the mean is half of what the command says.
    let (runs, findings) = changed(|file| {
        let first = &mut file["runs"][0];
        first["benchmark"] = json!(
            "python3 -m sglang.bench_serving --dataset-name random --random-input-len 1024 \
            --random-output-len 128 --max-concurrency 8 --num-prompts 80"
        );
        let scenario = &mut first["scenario"];
        (scenario["isl"], scenario["osl"], scenario["spread"]) = (json!(512), json!(64), json!(0.95));
        scenario["measured"] = json!({"mean_ttft_ms": 110, "mean_tpot_ms": 15});
        file["runs"][1]["benchmark"] = json!("echo hi");
    });
    assert_eq!(runs, 2, "{findings:#?}");
    names(&findings, &["warning: 0.json, run 2: `benchmark` is not compared"]);
}

#[test]
fn limits_of_a_benchmark_need_not_be_stated() {
    let (runs, findings) = changed(|file| {
        let benchmark = &mut file["runs"][1]["benchmark"];
        *benchmark =
            json!(benchmark.as_str().expect("a command").to_owned() + " --goodput ttft:1000 e2el:9000");
    });
    assert_eq!(runs, 2, "{findings:#?}");
}

#[test]
fn runs_that_repeat_or_contradict_others_are_named() {
    let mut file = example();
    let one = file["runs"][0].clone();
    file["runs"].as_array_mut().expect("runs").push(one.clone());
    let (runs, findings) = check_all(&[example().to_string(), file.to_string()]);
    assert_eq!((runs.len(), findings.len()), (2, 3), "{findings:#?}");
    names(&findings, &["error: 1.json, run 3: the same run as 0.json, run 1: leave one of them out"]);

    let (runs, findings) = changed(|file| {
        let mut other = one;
        other["scenario"]["measured"]["mean_tpot_ms"] = json!(40);
        file["runs"].as_array_mut().expect("runs").push(other);
    });
    assert_eq!(runs, 3, "they count, for less");
    names(&findings, &["warning: 0.json, run 3: contradicts the others: its TPOT is"]);
}

#[test]
fn loads_without_a_step_to_learn_are_refused_and_offline_queues_learned_from() {
    let (runs, findings) = changed(|file| {
        let first = &mut file["runs"][0];
        without(first, "concurrency");
        first["scenario"]["burst"] = json!(80);
        first["benchmark"] = json!("vllm bench serve --num-prompts 80");
    });
    assert_eq!(runs, 1);
    names(&findings, &["no load that calibration learns from: give one of concurrency, rate"]);
    let mut file = example();
    let first = &mut file["runs"][0];
    ["concurrency", "requests"].iter().for_each(|key| without(first, key));
    first["scenario"]["offline"] = json!(80);
    first["scenario"]["measured"] = json!({"output_throughput": 1500});
    first["benchmark"] = json!("vllm bench throughput --input-len 1024 --output-len 128 --num-prompts 80");
    let (runs, findings) = check_all(&[file.to_string()]);
    assert_eq!(findings, Vec::<String>::new());
    assert!(runs[0].response()["observed"]["throughput"].is_array(), "{}", runs[0].response());
}

#[test]
fn broken_files_are_named_and_the_others_read() {
    let texts = ["{\"schema\": 1, \"runs\": [", "", "[]", "\u{0}"].map(str::to_owned);
    let (runs, findings) = check_all(&[&texts[..], &[example().to_string()]].concat());
    assert_eq!((runs.len(), findings.len()), (2, 4), "{findings:#?}");
    names(&findings, &["0.json: not JSON", "1.json: the text is empty", "2.json: this is a list"]);
    for runs in [json!([]), json!(7), json!([1, "two", null])] {
        let (left, findings) = changed(|file| file["runs"] = runs);
        assert!(left == 0 && findings.iter().all(|text| text.starts_with("error: ")), "{findings:#?}");
    }
}

#[test]
fn the_tool_exits_with_1_and_writes_nothing_where_something_is_wrong() {
    let output = evaluate(&[path("runs").to_str().expect("a path")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));

    let (example, lines) = (path(EXAMPLE).display().to_string(), temporary("lines.jsonl"));
    let output = evaluate(&[&example, "--json", "--responses", &lines]);
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["runs"][1]["figures"][0]["metric"], "ttft", "{report}");
    let text = std::fs::read_to_string(&lines).expect("responses");
    let first: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!((text.lines().count(), &first["point"]["version"]), (2, &json!("0.11")));
    let [ratio, prefill, decode] =
        [0, 1, 2].map(|at| first["observed"]["tpot"][at].as_f64().expect("a number"));
    assert!(ratio.abs() < 0.5 && prefill.abs() < 0.5 && (0.5..1.5).contains(&decode), "{first}");

    let (big, never) = (temporary("big.json"), temporary("never.jsonl"));
    std::fs::write(&big, format!("{{\"how\": \"{}\"}}", "x".repeat(10_000_000))).expect("a file");
    let output = evaluate(&[&big, "--responses", &never]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("9765 KiB") && said.contains("1024 KiB"), "{said}");
    assert!(!Path::new(&never).exists());
    std::fs::remove_dir_all(Path::new(&big).parent().expect("a folder")).expect("it is there");
}
