//! Files of a model, and traces.

use super::{Folder, error_fields, report, run, said, text};

const CONFIG: &str = r#"{"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072}"#;
const FORMATS: &str = r#"{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}}"#;

#[test]
fn a_config_is_read_with_its_formats() {
    let weights = |arguments: &[&str]| {
        let (code, output) = run(&[&["v=1&g=b200", "--roofline"], arguments].concat());
        assert_eq!(code, 0, "{}", said(&output));
        report(&output)["report"]["memory"]["weights"].as_f64().unwrap()
    };
    let plain = Folder::of("plain", &[("config.json", CONFIG), ("formats.json", FORMATS)]);
    let whole = Folder::of("whole", &[("config.json", CONFIG), ("hf_quant_config.json", FORMATS)]);
    let published = weights(&["--model-config", &plain.path("config.json")]);
    let narrow = weights(&["--model-config", &whole.path("config.json")]);
    assert!(narrow < 0.5 * published, "{narrow} of {published}");
    let named = ["--model-config", &plain.path("config.json"), "--quant-config", &plain.path("formats.json")];
    assert_eq!(weights(&named), narrow);
}

#[test]
fn a_config_is_of_the_only_model() {
    let folder = Folder::of("only", &[("config.json", CONFIG), ("wrong.json", r#"{"model_type": "odd"}"#)]);
    let file = folder.path("config.json");
    for (scenario, file, status) in [
        ("m=qwen3-32b", file.clone(), 2),
        ("v=1", folder.path("wrong.json"), 2),
        ("v=1", folder.path("none.json"), 1),
    ] {
        let (code, output) = run(&[scenario, "--model-config", &file]);
        assert_eq!(code, status, "{}", said(&output));
        assert!(status == 1 || error_fields(&output).contains(&"model".to_owned()));
    }
    assert_eq!(run(&["v=1", "--model-config", &file, "--study", "breakdown"]).0, 0);
}

#[test]
fn a_trace_is_replayed() {
    let lines: String = (0..50).map(|at| format!("{at},100,20\n")).collect();
    let folder = Folder::of(
        "trace",
        &[("good.csv", &format!("arrival,prompt,output\n{lines}")), ("bad.csv", "arrival,prompt\n1,2\n")],
    );
    let (code, output) = run(&["v=1", "--roofline", "--trace", &folder.path("good.csv")]);
    assert_eq!((code, &report(&output)["report"]["run"]["requests"]), (0, &50.into()));
    let (_, table) = run(&["v=1", "--roofline", "--format", "table", "--trace", &folder.path("good.csv")]);
    let table = text(&table);
    assert!(table.lines().next().is_some_and(|line| line.ends_with(": the trace")), "{table}");
    let (code, output) = run(&["v=1", "--roofline", "--trace", &folder.path("bad.csv")]);
    assert_eq!((code, error_fields(&output)), (2, vec!["trace".to_owned()]));
    assert_eq!(run(&["v=1", "--trace", &folder.path("none.csv")]).0, 1);
}

#[test]
fn runs_that_are_not_json_are_bad_input() {
    let folder = Folder::of("runs", &[("runs.jsonl", "{}\n{\n")]);
    let (code, output) = run(&["v=1", "--measured", &folder.path("runs.jsonl")]);
    assert!(code == 2 && said(&output).contains("line 2"), "{}", said(&output));
}
