//! Tables, CSV, badges, lists, and the command's own help.

use std::collections::BTreeMap;

use super::{LINK, report, run, said, text};

/// Rows by the names of their columns.
pub fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(csv.as_bytes()).deserialize().map(Result::unwrap).collect()
}

pub fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {row:?}"))
}

#[test]
fn every_format_has_the_same_numbers() {
    let (code, json) = run(&[LINK]);
    let (_, csv) = run(&[LINK, "--format", "csv"]);
    let (_, table) = run(&[LINK, "--format", "table"]);
    let (rows, report) = (rows(&text(&csv)), &report(&json)["report"]);
    assert_eq!((code, rows.len()), (0, 1));
    let near = |column: &str, value: &serde_json::Value, scale: f64| {
        let (ours, theirs) = (number(&rows[0], column), value.as_f64().unwrap() * scale);
        assert!((ours / theirs - 1.0).abs() < 1e-5, "{column}: {ours}, {theirs}");
    };
    near("ttft_mean_ms", &report["headline"]["ttft"], 1e3);
    near("tpot_p99_ms", &report["run"]["metrics"]["tpot"]["p99"], 1e3);
    near("tpot_mean_high_ms", &report["calibrated"]["bands"]["tpot"]["mean"]["high"], 1e3);
    near("output_per_s", &report["headline"]["output_per_s"], 1.0);
    assert!(rows[0]["link"].starts_with("v=1&isl=300"));
    let table = text(&table);
    assert!(
        table.starts_with("meta-llama/Meta-Llama-3.1-8B on 1 × H100") && table.contains("\nttft_p99 "),
        "{table}"
    );
    // A link leaves out what is the default, and the heading does not.
    let heading = text(&run(&["v=1", "--format", "table"]).1);
    assert!(
        heading.lines().next().is_some_and(|line| line.ends_with(": 1024 tokens in, 512 out, 16 clients")),
        "{heading}"
    );
}

/// Programs read these.
#[test]
fn csv_columns_are_stable() {
    let (_, csv) = run(&[LINK, "--format", "csv"]);
    insta::assert_snapshot!(text(&csv).lines().next().unwrap());
}

#[test]
fn a_static_batch_has_means_alone() {
    let (_, csv) = run(&["v=1&b=8", "--format", "csv"]);
    let rows = rows(&text(&csv));
    assert!(number(&rows[0], "ttft_mean_ms") > 0.0 && rows[0]["ttft_p99_ms"].is_empty());
}

#[test]
fn a_badge_has_the_three_numbers() {
    let (code, badge) = run(&[LINK, "--badge"]);
    let badge = text(&badge);
    assert_eq!(code, 0);
    for part in ["<svg ", "TTFT ", "TPOT ", " tok/s", "Llama-3.1-8B on 1 × H100"] {
        assert!(badge.contains(part), "{part}: {badge}");
    }
    assert_ne!(text(&run(&[LINK, "--badge", "--dark"]).1), badge);
}

#[test]
fn a_table_says_what_its_cost_is_of() {
    let table = |link: &str| text(&run(&[link, "--roofline", "--format", "table"]).1);
    for (link, said) in [
        ("v=1&m=qwen3-8b&g=mi300x", "No price is known"),
        ("v=1&g=l4&w=fp8&r=1&np=1000", "tok/s, the output while requests arrive."),
    ] {
        assert!(table(link).contains(said), "{}", table(link));
    }
    assert!(text(&run(&["list", "gpus"]).1).contains("T4 (no engine has known kernels for it)"));
}

#[test]
fn the_catalogs_are_listed() {
    for (what, id) in [("models", "qwen3-32b"), ("gpus", "h100-sxm"), ("engines", "vllm")] {
        let (code, json) = run(&["list", what, "--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(&text(&json)).unwrap();
        let ids = |of: &str| of.lines().skip(1).filter(|line| line.starts_with(id)).count();
        let (_, csv) = run(&["list", what, "--format", "csv"]);
        let (_, table) = run(&["list", what]);
        let csv = rows(&text(&csv));
        let known = json.as_array().unwrap();
        assert!(code == 0 && known.iter().any(|of| of["id"] == id), "{what}");
        assert_eq!(
            (csv.len(), &csv[0]["name"]),
            (known.len(), &known[0]["name"].as_str().unwrap().to_owned())
        );
        assert_eq!(
            ids(&text(&table)),
            known.iter().filter(|of| of["id"].as_str().unwrap().starts_with(id)).count()
        );
    }
    assert_eq!(run(&["list", "nope"]).0, 2);
}

#[test]
fn shells_complete_it_and_it_has_a_manual() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, script) = run(&["completions", shell]);
        assert!(code == 0 && text(&script).contains("quant-config"), "{shell}");
    }
    let (code, page) = run(&["man"]);
    let page = text(&page);
    assert!(code == 0 && page.contains(".TH predict 1") && page.contains("\\-\\-limit"), "{page}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    for arguments in [
        &[LINK, "--badge", "--svg", "roofline"][..],
        &[LINK, "--sweep", "--format", "csv"],
        &[LINK, "--quant-config", "x.json"],
        &["--jsonl", "--format", "table"],
        &["--jsonl", "--study", "breakdown"],
        &[],
    ] {
        let (code, output) = run(arguments);
        assert!(code == 2 && !said(&output).is_empty() && output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_table_says_that_times_grow_in_an_overload() {
    let table = text(&run(&["v=1&m=llama-3.1-8b&r=500", "--roofline", "--format", "table"]).1);
    let row = |name: &str| table.lines().find(|line| line.starts_with(name)).expect("a row").to_owned();
    for name in ["ttft_mean", "ttft_p99", "e2e_p50"] {
        assert!(row(name).trim_end().ends_with("grows"), "{table}");
    }
    assert!(row("tpot_mean").contains("ms"), "{table}");
}
