//! The JSON form says what it does not know.

use rooflight::config::link::Link;
use rooflight::config::{Field, Load, Scenario};

#[test]
fn json_names_what_it_does_not_know() {
    let issues = |text: &str| {
        let (scenario, issues) = Scenario::from_json(text);
        assert!(scenario.is_none(), "{text}");
        issues.into_iter().map(|issue| (issue.field, issue.text)).collect::<Vec<_>>()
    };
    assert!(issues(r#"{"modle": "qwen3-8b"}"#)[0].1.starts_with("`modle` is not a known name"));
    assert_eq!(issues(r#"{"tp": "2"}"#), [(Field::Tp, "`tp` must be a whole number, not text".into())]);
    assert_eq!(
        issues(r#"{"isl": 0.5}"#),
        [(
            Field::Isl,
            "Input length must be a whole number between 1 and 100\u{202f}000\u{202f}000, not `0.5`".into()
        )]
    );
    assert_eq!(issues(r#"{"isl": [1, "a"]}"#)[0].0, Field::Isl);
    assert_eq!(issues(r#"{"concurrency": 1, "batch": 2}"#)[0].0, Field::Load);
    let (open, _) = Scenario::from_json(r#"{"rate": null, "concurrency": 8}"#);
    assert_eq!(open.map(|open| open.workload.load), Some(Load::Concurrency(8)), "null is not given");
    assert_eq!(issues(r#"{"ramp": 1, "stagger": 2}"#)[0].0, Field::Ramp);
    assert_eq!(issues(r#"{"tp": 1, "tp": 2}"#)[0].1, "`tp` is given twice");
    assert_eq!(issues(r#"{"model": {"id": "x"}}"#)[0].0, Field::Model);
    assert!(issues("[1]")[0].1.contains("a list"));
    assert!(issues(r#"{"tp": 1"#)[0].1.contains("line 1 column"));
}

#[test]
fn a_command_of_several_lines_is_one_line_as_a_string() {
    let (link, issues) =
        Link::read("\"vllm serve Qwen/Qwen3-8B \\\\\\n  -tp 2\\nvllm bench serve --max-concurrency 8\"");
    assert_eq!(link.map(|link| link.encode()), Some("v=1&m=qwen3-8b&tp=2&osl=128&c=8".into()), "{issues:?}");
}
