//! Texts that set nothing, or set something twice: none of them is predicted as if it were the default configuration.

use rooflight::config::link::{Link, decode};
use rooflight::config::{Field, Issue, Load, Severity};

/// The only error of a text that cannot be read.
#[track_caller]
fn refusal(text: &str) -> String {
    let (link, issues) = Link::read(text);
    let errors: Vec<&Issue> = issues.iter().filter(|issue| issue.is_error()).collect();
    assert!(link.is_none() && errors.len() == 1 && errors[0].field == Field::Link, "{text}: {issues:?}");
    errors[0].text.clone()
}

#[test]
fn a_text_without_a_known_key_is_an_error_that_offers_the_nearest_input() {
    for (text, offered) in [
        ("qwen3-32b", "`m=qwen3-32b`"),
        ("Qwen3-32B", "`m=qwen3-32b`"),
        ("model: qwen3-32b\ntp: 4\n", "`m=qwen3-32b`"),
        ("h200-sxm", "`g=h200-sxm`"),
        ("scenario.json", "pairs such as"),
        ("/configs/scenario.json", "pairs such as"),
        ("https://example.org/#main", "pairs such as"),
        ("", "empty"),
        ("\u{feff} \n", "empty"),
    ] {
        let said = refusal(text);
        assert!(said.contains(offered), "{text}: {said}");
    }
    // The page's own address sets nothing, and means the defaults.
    assert_eq!(decode("https://example.org/rooflight/?utm_source=x").1, []);
}

#[test]
fn a_name_of_the_json_form_in_a_link_is_an_error() {
    let said = refusal("model=qwen3-32b&tp=4");
    assert!(said.contains("`model`") && said.contains("`m`"), "{said}");
    let (link, _) = decode("#model=qwen3-32b&tp=4");
    assert_eq!((link.scenario.parallel.tp, link.extra), (4, vec![]));
}

#[test]
fn pairs_joined_by_something_else_are_an_error() {
    for text in ["v=1;m=qwen3-32b", "#v=1,m=qwen3-32b&tp=2", "v=1 m=qwen3-32b", "d=2026-01-01;m=qwen3-32b"] {
        let said = refusal(text);
        assert!(said.contains("m=qwen3-32b") && said.ends_with("separate them with `&`"), "{text}: {said}");
    }
    // Where nothing that follows is lost, a warning is enough.
    for text in [
        "v=1;&m=qwen3-32b",
        "v=1==&m=qwen3-32b",
        "v=x&m=qwen3-32b",
        "https://example.org/?v=b64=#m=qwen3-32b",
    ] {
        let (link, issues) = Link::read(text);
        assert_eq!(
            link.map(|link| link.scenario.model.id().to_owned()).as_deref(),
            Some("qwen3-32b"),
            "{text}"
        );
        assert!(issues.iter().all(|issue| !issue.is_error()), "{text}: {issues:?}");
    }
}

#[test]
fn json_has_to_be_an_object() {
    for text in ["[1, 2]", "[]", "\"qwen3-32b\"", "\u{feff}[]"] {
        let said = refusal(text);
        assert!(said.contains("object"), "{text}: {said}");
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    for text in ["\u{feff}{\"model\": \"qwen3-8b\"}", "\u{feff}#m=qwen3-8b"] {
        let (link, issues) = Link::read(text);
        assert_eq!((link.map(|link| link.encode()), issues), (Some("v=1&m=qwen3-8b".into()), vec![]));
    }
}

#[test]
fn unknown_keys_are_a_warning_that_offers_the_nearest() {
    let (_, issues) = decode("#TP=2&isl=5&future=1");
    assert_eq!((issues.len(), issues[0].field, issues[0].severity), (1, Field::Link, Severity::Warning));
    assert!(issues[0].text.contains("`TP` (did you mean `tp`?), `future`"), "{issues:?}");
}

#[test]
fn a_benchmark_alone_is_no_scenario_and_says_what_goes_before_it() {
    let (_, issues) = decode("vllm bench serve --model Qwen/Qwen3-32B --random-input-len 2000");
    assert!(issues[0].is_error() && issues[0].text.ends_with("`vllm serve`"), "{issues:?}");
}

#[test]
fn loads_that_exclude_each_other_are_named_and_the_last_counts() {
    for (text, keys, load) in [
        ("c=3&r=4", ["`c`", "`r`, counts"], Load::Rate(4.0)),
        ("r=3&b=4", ["`r`", "`b`, counts"], Load::Batch(4)),
        ("b=3&c=4", ["`b`", "`c`, counts"], Load::Concurrency(4)),
    ] {
        let (link, issues) = decode(text);
        assert_eq!(link.scenario.workload.load, load, "{text}");
        assert_eq!((issues.len(), issues[0].field, issues[0].severity), (1, Field::Load, Severity::Warning));
        assert!(keys.iter().all(|key| issues[0].text.contains(key)), "{text}: {issues:?}");
    }
}
