//! The JSON form says what it does not know.

use rooflight::config::{Field, Scenario};

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
        [(Field::Isl, "`0.5` is not a whole number: give one such as 8".into())]
    );
    assert_eq!(issues(r#"{"isl": [1, "a"]}"#)[0].0, Field::Isl);
    assert_eq!(issues(r#"{"concurrency": 1, "batch": 2}"#)[0].0, Field::Load);
    assert_eq!(issues(r#"{"ramp": 1, "stagger": 2}"#)[0].0, Field::Ramp);
    assert_eq!(issues(r#"{"tp": 1, "tp": 2}"#)[0].1, "`tp` is given twice");
    assert_eq!(issues(r#"{"model": {"id": "x"}}"#)[0].0, Field::Model);
    assert!(issues("[1]")[0].1.contains("a list"));
    assert!(issues(r#"{"tp": 1"#)[0].1.contains("line 1 column"));
}
