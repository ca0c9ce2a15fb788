//! Links and the JSON form: what is written reads back the same, and no text makes the reader panic.

mod frozen;
mod json;
mod properties;
mod unreadable;

use rooflight::config::catalog::catalog;
use rooflight::config::link::{FRESH, Link, VERSION, decode, encode, fields, keys_script};
use rooflight::config::{
    Bin, Drafts, Dtype, Field, Issue, Lengths, Load, Metric, ModelChoice, Overrides, Parallelism, Scenario,
    Severity, Slos, Workload, check,
};

fn scenario_of(link: &str) -> Scenario {
    let (link, issues) = decode(link);
    assert_eq!(issues, []);
    link.scenario
}

/// The issues of a link, as field, severity and what was typed.
fn findings(link: &str) -> Vec<(Field, Severity, Option<String>)> {
    decode(link).1.into_iter().map(|issue| (issue.field, issue.severity, issue.given)).collect()
}

#[test]
fn the_readme_link_reads() {
    let text = "#v=1&m=qwen3-32b&g=h100-sxm&tp=2&e=vllm&w=fp8&kv=fp8&isl=1024&osl=512&c=32";
    let scenario = scenario_of(text);
    assert_eq!(scenario.model.id(), "qwen3-32b");
    assert_eq!((scenario.parallel.tp, scenario.replicas, scenario.weights), (2, 1, Some(Dtype::Fp8)));
    assert_eq!(scenario.workload.load, Load::Concurrency(32));
    assert_eq!(encode(&scenario), "v=1&m=qwen3-32b&tp=2&w=fp8&kv=fp8&c=32");
    assert_eq!(encode(&Scenario::default()), "v=1");
}

#[test]
fn a_gpu_may_be_given_by_name_and_is_written_by_id() {
    for (text, id) in [("g=H200 SXM", "h200-sxm"), ("g=RTX+4090", "rtx-4090"), ("g=B200", "b200")] {
        assert_eq!(encode(&scenario_of(text)), format!("v=1&g={id}"), "{text}");
    }
    let (json, issues) = Link::from_json(r#"{"gpu": "NVIDIA B200", "prefill_gpu": "H200"}"#);
    assert_eq!((json.map(|link| link.encode()), issues), (Some("v=1&g=b200&pg=h200-sxm".into()), Vec::new()));
    // If there are several, none is used.
    let several = scenario_of("g=H100");
    assert_eq!(several.gpu, "H100");
    let (_, issues) = check(&several, catalog());
    assert!(issues.iter().any(|issue| issue.is_error() && issue.text.contains("h100-sxm")), "{issues:?}");
}

#[test]
fn another_release_is_named_beside_this_one() {
    let said = |link: &str| decode(link).0.then_and_now("2026-11-20");
    assert_eq!((said("#tp=2"), said("#tp=2&d=2026-11-20")), (None, None));
    let issue = said("#tp=2&d=2026-01-31").expect("it was another");
    assert_eq!((issue.field, issue.severity), (Field::Data, Severity::Warning));
    assert!(issue.text.contains("2026-01-31") && issue.text.contains("2026-11-20"), "{}", issue.text);
    // What cannot be read does not prevent an answer.
    assert_eq!(findings("#tp=2&d="), [(Field::Data, Severity::Warning, Some(String::new()))]);
}

#[test]
fn addresses_queries_and_fragments_are_read() {
    let wanted = scenario_of("m=qwen3-8b&tp=2");
    for text in [
        "#m=qwen3-8b&tp=2",
        "?m=qwen3-8b&tp=2",
        "https://example.org/rooflight/#v=1&m=qwen3-8b&tp=2",
        "https://example.org/?theme=dark&m=qwen3-8b#tp=2",
        "https://example.org/?m=phi-4&tp=2#m=qwen3-8b",
        "#m=qwen3-8b&amp;tp=2",
        " #m=qwen3%2D8b&tp=2\n",
    ] {
        assert_eq!(scenario_of(text), wanted, "{text}");
    }
    for text in ["", "#", "?", "https://example.org/page"] {
        assert_eq!(scenario_of(text), Scenario::default(), "{text}");
    }
}

#[test]
fn a_link_escaped_as_a_whole_is_read_and_said() {
    let (link, issues) = decode("#m%253Dqwen3-8b%2526tp%253D2");
    assert_eq!(link.scenario, scenario_of("m=qwen3-8b&tp=2"));
    assert_eq!((issues[0].field, issues[0].severity), (Field::Link, Severity::Note));
}

#[test]
fn bad_values_stay_beside_their_field() {
    let bad = |field, given: &str| vec![(field, Severity::Error, Some(given.to_owned()))];
    assert_eq!(findings("#isl=abc"), bad(Field::Isl, "abc"));
    assert_eq!(findings("#tp="), bad(Field::Tp, ""));
    assert_eq!(findings("#tp=-1"), bad(Field::Tp, "-1"));
    assert_eq!(findings("#osl=99999999999"), bad(Field::Osl, "99999999999"));
    assert_eq!(findings("#w=fp16"), bad(Field::Weights, "fp16"));
    for text in ["NaN", "-0.5", ".", "1e3", "0x1", "1234567890123456"] {
        assert_eq!(findings(&format!("#mem={text}")), bad(Field::MemoryShare, text));
    }
    assert_eq!(findings("#isl=1x4000000000"), bad(Field::Isl, "1x4000000000"));
    assert_eq!(findings("#x=AAAA"), bad(Field::Model, "AAAA"));
    assert_eq!(findings("#n=3&tp=2"), bad(Field::Gpus, "3"));
    let (link, _) = decode("#isl=abc&osl=7");
    assert_eq!(link.scenario.workload.osl, 7, "the rest is read");
}

#[test]
fn decimals_read_as_the_nearest_double() {
    for text in ["0.9", "0.85", ".5", "5.", "007.10", "123456789012.345", "0.0000000000000000000001", "0"] {
        let (link, issues) = decode(&format!("usd={text}"));
        assert_eq!((issues, link.scenario.overrides.price), (vec![], text.parse().ok()), "{text}");
    }
    assert_eq!(scenario_of("mem=0.30000000000000004").overrides.memory_share, Some(0.3));
}

#[test]
fn a_histogram_reads_as_prompts_outputs_and_weights() {
    let bins = scenario_of("hl=512-64x3,2048-1").workload.histogram;
    let bin = |prompt, output, weight| Bin { prompt, output, weight };
    assert_eq!(bins, [bin(512, 64, 3), bin(2048, 1, 1)]);
    let bad = |text: &str| {
        let found = findings(&format!("#hl={text}"));
        assert_eq!(found, [(Field::Histogram, Severity::Error, Some(text.to_owned()))]);
    };
    ["", "512", "512-", "512-64x", "512-64,", "-1-64", &"1-1,".repeat(200)].into_iter().for_each(bad);
}

#[test]
fn a_measurement_reads_as_means_and_medians() {
    let measured = scenario_of("me=ttft-123.4-118,tpot--8.1,throughput-1200").measured;
    let figure = |metric| (measured.of(metric).mean, measured.of(metric).median);
    assert_eq!(figure(Metric::Ttft), (Some(123.4), Some(118.0)));
    assert_eq!(figure(Metric::Tpot), (None, Some(8.1)));
    assert_eq!(figure(Metric::Output), (Some(1200.0), None));
    assert_eq!(figure(Metric::E2e), (None, None));
    // The answer needs none of it: what is wrong is said, and left out.
    let bad = |text: &str| {
        let (link, issues) = decode(&format!("#tp=2&me={text}"));
        let found: Vec<_> = issues.iter().map(|issue| (issue.field, issue.severity)).collect();
        assert_eq!(found, [(Field::Measured, Severity::Warning)], "{text}");
        assert!(link.scenario.measured.is_empty() && link.scenario.parallel.tp == 2, "{text}");
    };
    for text in [
        "",
        "ttft",
        "ttft-",
        "ttft--",
        "ttft-0",
        "ttft--5--",
        "ttft-NaN",
        "ttft-1e3",
        "ttft-99999999",
        "speed-5",
        "throughput-5-5",
        "ttft-5,",
        "requests-0.0000001",
    ] {
        bad(text);
    }
}

#[test]
fn a_measurement_is_an_object_in_json_by_the_names_of_its_benchmark() {
    let json =
        r#"{"measured": {"mean_ttft_ms": 123.4, "median_ttft_ms": 118.0, "output_throughput": 1200.0}}"#;
    let (scenario, issues) = Scenario::from_json(json);
    let scenario = scenario.expect("sound");
    assert_eq!((encode(&scenario).as_str(), issues), ("v=1&me=ttft-123.4-118,throughput-1200", vec![]));
    let written = scenario.to_json()["measured"].to_string();
    assert_eq!(written, r#"{"mean_ttft_ms":123.4,"median_ttft_ms":118.0,"output_throughput":1200.0}"#);
    let text = r#"{"measured": "ttft-123.4-118,throughput-1200"}"#;
    assert_eq!(Scenario::from_json(text), (Some(scenario), vec![]));
    for bad in [r#"{"measured": {}}"#, r#"{"measured": 5}"#, r#"{"measured": {"mean_ttft_ms": 0}}"#] {
        let (scenario, issues) = Scenario::from_json(bad);
        assert!(scenario.is_none() && issues.iter().all(|issue| issue.field == Field::Measured), "{bad}");
    }
}

#[test]
fn unknown_keys_survive() {
    let (link, issues) = decode("#v=1&zoom=3&tp=2&note=a%20b");
    let found: Vec<_> = issues.iter().map(|issue| (issue.field, issue.severity)).collect();
    assert_eq!(found, [(Field::Link, Severity::Warning)]);
    assert!(issues[0].text.contains("`zoom`, `note`"), "{issues:?}");
    assert_eq!(link.encode(), "v=1&tp=2&zoom=3&note=a%20b");
}

#[test]
fn newer_versions_and_repeats_are_said() {
    let (link, issues) = decode("#v=7&tp=2&q=1");
    assert_eq!((link.version, issues[0].field, issues[0].severity), (7, Field::Version, Severity::Warning));
    assert!(issues[0].text.contains("newer"));
    assert_eq!(findings("#tp=2&tp=4"), [(Field::Tp, Severity::Warning, None)]);
    assert_eq!(findings("#c=2&b=4"), [(Field::Load, Severity::Warning, None)]);
    assert_eq!(decode("#c=2&b=4").0.scenario.workload.load, Load::Batch(4));
    assert_eq!(decode("#c=2&r=2.5").0.scenario.workload.load, Load::Rate(2.5));
}

#[test]
fn a_comparison_that_does_not_read_is_said() {
    for (given, said) in [
        ("vs=v~1~tp", "has no value"),
        ("vs=v~1~tp~x", "Tensor parallel must be"),
        ("vs=v~2", "version 2"),
        ("vs=v~1~~v~1~~v~1~~v~1", "at most 3"),
    ] {
        let (link, issues) = decode(given);
        assert!(link.compared.is_empty());
        // The prediction does not depend on it.
        let warned = |issue: &Issue| issue.field == Field::Compared && issue.severity == Severity::Warning;
        assert!(issues.iter().any(|issue| warned(issue) && issue.text.contains(said)), "{given}: {issues:?}");
    }
    let (link, issues) = decode("vs=v~1~vs~v~tp~2~future~3");
    assert_eq!((link.compared.len(), link.compared[0].parallel.tp, issues), (1, 2, vec![]));
}

#[test]
fn long_links_end_in_an_issue() {
    let long = format!("#tp=2&{}", "a=1&".repeat(3000));
    let unknown = (Field::Link, Severity::Warning, None);
    assert_eq!(findings(&long), [(Field::Link, Severity::Error, None), unknown]);
    assert_eq!(decode(&long).0.scenario.parallel.tp, 2);
    let huge = "x=".to_owned() + &"A".repeat(1 << 20);
    assert_eq!(findings(&huge), [(Field::Link, Severity::Error, None)]);
}

#[test]
fn catalog_scenarios_stay_short() {
    let mut longest = 0;
    for model in &catalog().models.models {
        for gpu in &catalog().gpus.gpus {
            let scenario = Scenario {
                model: ModelChoice::Catalog(model.id.clone()),
                gpu: gpu.id.clone(),
                engine: "trtllm".into(),
                parallel: Parallelism { tp: 128, pp: 128, dp: 128, ep: 128 },
                replicas: 1000,
                weights: Some(Dtype::Fp8Block),
                kv: Dtype::Fp8,
                workload: Workload {
                    isl: Lengths::Fixed(100_000),
                    osl: 100_000,
                    load: Load::Rate(99_999.999),
                    spread: 0.125,
                    log_spread: [0.125; 2],
                    burstiness: 0.125,
                    cached_share: 0.125,
                    drafts: Drafts { drafted: 16, accepted: 10.25 },
                    slos: Slos { ttft_ms: Some(12_345.678), tpot_ms: Some(1_234.567), ..Slos::default() },
                    ..Workload::default()
                },
                overrides: Overrides {
                    token_budget: Some(1_000_000),
                    max_seqs: Some(65_536),
                    memory_share: Some(0.925),
                    sustained: Some(0.875),
                    price: Some(12.345),
                    ..Overrides::default()
                },
                ..Scenario::default()
            };
            let link = Link { data_release: Some("2026-11-20".into()), ..Link::new(scenario) };
            longest = longest.max(link.encode().len());
        }
    }
    assert!(longest < 350, "{longest}");
}

#[test]
fn every_kind_of_load_travels() {
    for (text, load) in [
        ("v=1&c=8&ru=5&np=200", Load::Concurrency(8)),
        ("v=1&c=8&sg=0.5", Load::Concurrency(8)),
        ("v=1&r=2.5&bu=0.5", Load::Rate(2.5)),
        ("v=1&rc=2.5&np=50", Load::ConstantRate(2.5)),
        ("v=1&bn=1000&mc=64", Load::Burst(1000)),
        ("v=1&on=1000", Load::Offline(1000)),
        ("v=1&b=16", Load::Batch(16)),
        ("v=1&sh=sharegpt&sn=16&tn=5&um=100&tt=2.5&hc=0", Load::Sessions(16)),
        ("v=1&sr=0.5&tn=5", Load::SessionRate(0.5)),
    ] {
        let (link, issues) = decode(text);
        assert_eq!((link.scenario.workload.load, issues), (load, vec![]), "{text}");
        assert_eq!(link.encode(), text);
        let json = link.scenario.to_json().to_string();
        assert_eq!(Scenario::from_json(&json), (Some(link.scenario), vec![]), "{json}");
    }
    assert_eq!(decode("v=1").0.scenario.workload.load, Load::Concurrency(16), "frozen");
    let fresh = decode(FRESH).0;
    assert_eq!((fresh.scenario.workload.load, &*fresh.encode()), (Load::Rate(4.0), FRESH));
}

#[test]
fn a_custom_model_travels() {
    let mut scenario = Scenario::default();
    let mut model = catalog().model("qwen3-8b").unwrap().clone();
    model.id = "mine".into();
    scenario.model = ModelChoice::Custom(Box::new(model));
    let text = encode(&scenario);
    assert!(text.len() < 100, "{}", text.len());
    assert_eq!(scenario_of(&text), scenario);
    // Cut off anywhere, it is an issue and not another model.
    for end in 8..text.len() {
        let (link, issues) = decode(&text[..end]);
        assert!(link.scenario != scenario && issues.iter().any(Issue::is_error), "{end}");
    }
}

#[test]
fn every_catalog_model_travels_shorter_than_its_json() {
    for model in &catalog().models.models {
        let scenario =
            Scenario { model: ModelChoice::Custom(Box::new(model.clone())), ..Scenario::default() };
        let (text, json) = (encode(&scenario), serde_json::to_string(model).unwrap());
        assert!(text.len() < json.len(), "{}: {} of {}", model.id, text.len(), json.len());
        assert_eq!(scenario_of(&text), scenario);
    }
}

#[test]
fn generated_documentation_is_up_to_date() {
    let path = |name: &str| format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    let manual = std::fs::read_to_string(path("docs/links.md")).unwrap();
    let (before, table) = manual.split_once("|---|---|---|---|---|\n").expect("a table");
    let (rows, after) = table.split_once("\n\n").expect("it ends");
    let renewed = manual.replace(&format!("{rows}\n"), &fields());
    for (name, text) in [("docs/links.md", renewed), ("static/boot/keys.js", keys_script())] {
        if std::env::var_os("ROOFLIGHT_WRITE").is_some() {
            std::fs::write(path(name), &text).unwrap();
        }
        let written = std::fs::read_to_string(path(name)).unwrap();
        assert!(written == text, "{name} is stale: ROOFLIGHT_WRITE=1 cargo test --test links");
    }
    // What the text around the table repeats of the code.
    let formats: Vec<String> = Dtype::ALL.iter().map(|dtype| format!("\"{}\"", dtype.id())).collect();
    assert!(before.contains(&format!("format   = {}\n", formats.join(" / "))));
    assert!(before.starts_with(&format!("# Links, version {VERSION}\n")) && after.contains(FRESH));
    assert!(Load::sizes().iter().all(|size| after.contains(&format!("`{}`", size.input().key))));
}
