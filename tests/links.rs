//! Links and the JSON form: what is written reads the same, and no text makes the reader fall over.

use proptest::prelude::*;
use rooflight::config::catalog::catalog;
use rooflight::config::link::keys::KEYS;
use rooflight::config::link::{Link, VERSION, decode, encode, grammar};
use rooflight::config::model::Attention;
use rooflight::config::{
    Dtype, Field, Issue, Lengths, Load, ModelChoice, Overrides, Scenario, Severity, Slos, Workload,
};
use serde_json::Value;

/// Links of schema version 1 and what each means: the JSON form, of all fields where it names its version. Links live
/// for years, so lines are added and none is ever edited: [`SEALED`] notices.
const FROZEN: &str = include_str!("data/links_v1.txt");

/// So many first lines, and their sum by [`fnv1a`]. Lines added stand behind them; a new seal may take them in.
const SEALED: (usize, u64) = (224, 0x4c55_0d8d_3203_6329);

/// The 64-bit FNV-1a hash.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The links, what each means, and what those mean that it sets beside it.
fn frozen() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    FROZEN.lines().filter(|line| !line.starts_with("# ")).map(|line| {
        let mut parts = line.split('\t');
        let (link, json) = (parts.next().unwrap(), parts.next().expect("a link and what it means"));
        (link, json, parts.collect())
    })
}

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
    assert_eq!((scenario.tp, scenario.replicas, scenario.weights), (2, 1, Some(Dtype::Fp8)));
    assert_eq!(scenario.workload.load, Load::Concurrency(32));
    assert_eq!(encode(&scenario), "v=1&m=qwen3-32b&tp=2&w=fp8&kv=fp8&c=32");
    assert_eq!(encode(&Scenario::default()), "v=1");
}

#[test]
fn old_links_keep_their_meaning() {
    let value = |json: &str| serde_json::from_str::<Value>(json).unwrap();
    for (text, json, compared) in frozen() {
        let (expected, issues) = Link::from_json(json);
        assert_eq!(issues, [], "{json}");
        let (link, issues) = decode(text);
        assert_eq!(issues, [], "{text}");
        let meant = |link: &Link| (link.scenario.clone(), link.data_release.clone());
        assert_eq!(Some(meant(&link)), expected.as_ref().map(meant), "{text}");
        // Where every field is named, no default of today's takes part.
        if json.contains("\"version\"") {
            assert_eq!(link.to_json(), value(json), "{text}");
        }
        let found: Vec<Value> = link.compared.iter().map(Scenario::to_json).collect();
        assert_eq!(found, compared.into_iter().map(value).collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn frozen_links_are_never_edited() {
    let (lines, sum) = SEALED;
    let sealed: Vec<&str> = FROZEN.lines().take(lines).collect();
    assert_eq!(sealed.len(), lines, "lines have gone");
    let found = fnv1a(sealed.iter().flat_map(|line| line.bytes()));
    assert!(found == sum, "one of the first {lines} lines was edited: their sum is {found:#x}");
}

#[test]
fn frozen_links_hold_every_key_and_format() {
    let links: Vec<&str> = frozen().map(|(link, ..)| link).collect();
    assert!(links.len() >= 200);
    for key in &KEYS {
        let (first, later) = (format!("#{}=", key.key), format!("&{}=", key.key));
        let holding = links.iter().filter(|link| link.starts_with(&first) || link.contains(&later)).count();
        assert!(holding >= 10, "only {holding} links hold `{}`", key.key);
    }
    for dtype in Dtype::ALL {
        assert!(links.iter().any(|link| link.contains(&format!("&w={}", dtype.id()))), "{dtype:?}");
    }
}

#[test]
fn another_release_is_named_beside_this_one() {
    let said = |link: &str| decode(link).0.then_and_now("2026-11-20");
    assert_eq!((said("#tp=2"), said("#tp=2&d=2026-11-20")), (None, None));
    let issue = said("#tp=2&d=2026-01-31").expect("it was another");
    assert_eq!((issue.field, issue.severity), (Field::Data, Severity::Warning));
    assert!(issue.text.contains("2026-01-31") && issue.text.contains("2026-11-20"), "{}", issue.text);
    // What cannot be read withholds no answer.
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
fn unknown_keys_survive() {
    let (link, issues) = decode("#v=1&zoom=3&tp=2&note=a%20b");
    assert_eq!(issues, []);
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
        ("vs=v~1~tp~x", "no whole number"),
        ("vs=v~2", "of version 2"),
        ("vs=v~1~~v~1~~v~1~~v~1", "more than 3"),
    ] {
        let (link, issues) = decode(given);
        assert!(link.compared.is_empty());
        assert!(
            issues.iter().any(|issue| issue.field == Field::Compared && issue.text.contains(said)),
            "{given}: {issues:?}"
        );
    }
    let (link, issues) = decode("vs=v~1~vs~v~tp~2~future~3");
    assert_eq!((link.compared.len(), link.compared[0].tp, issues), (1, 2, vec![]));
}

#[test]
fn long_links_end_in_an_issue() {
    let long = format!("#tp=2&{}", "a=1&".repeat(3000));
    assert_eq!(findings(&long), [(Field::Link, Severity::Error, None)]);
    assert_eq!(decode(&long).0.scenario.tp, 2);
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
                tp: 128,
                pp: 128,
                dp: 128,
                ep: 128,
                replicas: 1000,
                weights: Some(Dtype::Fp8Block),
                kv: Dtype::Fp8,
                workload: Workload {
                    isl: Lengths::Fixed(100_000),
                    osl: 100_000,
                    load: Load::Rate(99_999.999),
                    spread: 0.125,
                    slos: Slos { ttft_ms: Some(12_345.678), tpot_ms: Some(1_234.567) },
                },
                overrides: Overrides {
                    token_budget: Some(1_000_000),
                    max_seqs: Some(65_536),
                    memory_share: Some(0.925),
                    sustained: Some(0.875),
                    price: Some(12.345),
                },
            };
            let link = Link { data_release: Some("2026-11-20".into()), ..Link::new(scenario) };
            longest = longest.max(link.encode().len());
        }
    }
    assert!(longest < 300, "{longest}");
}

#[test]
fn a_custom_model_travels() {
    let mut scenario = Scenario::default();
    let mut model = catalog().model("qwen3-8b").unwrap().clone();
    model.id = "mine".into();
    scenario.model = ModelChoice::Custom(Box::new(model));
    let text = encode(&scenario);
    assert!(text.len() < 600, "{}", text.len());
    assert_eq!(scenario_of(&text), scenario);
    // Cut off anywhere, it is an issue and not another model.
    for end in 8..text.len() {
        let (link, issues) = decode(&text[..end]);
        assert!(link.scenario != scenario && issues.iter().any(Issue::is_error), "{end}");
    }
}

#[test]
fn the_documentation_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/links.md");
    if std::env::var_os("ROOFLIGHT_WRITE").is_some() {
        std::fs::write(path, grammar()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap();
    assert!(written == grammar(), "docs/links.md is stale: ROOFLIGHT_WRITE=1 cargo test --test links");
}

#[test]
fn json_names_what_it_does_not_know() {
    let issues = |text: &str| {
        let (scenario, issues) = Scenario::from_json(text);
        assert!(scenario.is_none(), "{text}");
        issues.into_iter().map(|issue| (issue.field, issue.text)).collect::<Vec<_>>()
    };
    assert!(issues(r#"{"modle": "qwen3-8b"}"#)[0].1.starts_with("no field is named `modle`"));
    assert_eq!(issues(r#"{"tp": "2"}"#), [(Field::Tp, "`tp` is text: a whole number is right".into())]);
    assert_eq!(issues(r#"{"isl": 0.5}"#), [(Field::Isl, "`0.5` is no whole number".into())]);
    assert_eq!(issues(r#"{"isl": [1, "a"]}"#)[0].0, Field::Isl);
    assert_eq!(issues(r#"{"concurrency": 1, "batch": 2}"#)[0].0, Field::Load);
    assert_eq!(issues(r#"{"tp": 1, "tp": 2}"#)[0].1, "`tp` is given twice");
    assert_eq!(issues(r#"{"model": {"id": "x"}}"#)[0].0, Field::Model);
    assert!(issues("[1]")[0].1.contains("a list"));
    assert!(issues(r#"{"tp": 1"#)[0].1.contains("line 1 column"));
}

fn lengths() -> impl Strategy<Value = Lengths> {
    prop_oneof![
        any::<u32>().prop_map(Lengths::Fixed),
        prop::collection::vec(prop_oneof![Just(512u32), any::<u32>()], 0..40).prop_map(Lengths::Each),
    ]
}

/// A share or a price as one is typed: a decimal of at most 15 digits.
fn decimal() -> impl Strategy<Value = f64> {
    let decimal = (0u64..1_000_000_000_000_000, 0i32..=22);
    decimal.prop_map(|(digits, places)| digits as f64 / 10f64.powi(places))
}

fn number() -> impl Strategy<Value = Option<f64>> {
    prop::option::of(decimal())
}

fn load() -> impl Strategy<Value = Load> {
    prop_oneof![
        any::<u32>().prop_map(Load::Concurrency),
        decimal().prop_map(Load::Rate),
        any::<u32>().prop_map(Load::Batch),
    ]
}

fn model_choice() -> impl Strategy<Value = ModelChoice> {
    let custom =
        (any::<u32>(), any::<u32>(), ".{0,20}", any::<bool>()).prop_map(|(hidden, heads, name, tied)| {
            let mut model = catalog().models.models[0].clone();
            (model.hidden, model.name, model.tied_embeddings) = (hidden, name, tied);
            if let Some(Attention::Gqa(gqa)) = &mut model.blocks[0].attention {
                gqa.heads = heads;
            }
            ModelChoice::Custom(Box::new(model))
        });
    prop_oneof![".{1,40}".prop_map(ModelChoice::Catalog), custom]
}

prop_compose! {
    fn scenario()(
        model in model_choice(),
        gpu in ".{1,30}",
        engine in "[a-z]{1,10}",
        (tp, pp, replicas) in (1u32..=128, 1u32..=128, 0u32..=1_000),
        (dp, ep) in (1u32..=128, 1u32..=128),
        weights in prop::option::of(prop::sample::select(&Dtype::ALL[..])),
        kv in prop::sample::select(&Dtype::ALL[..]),
        isl in lengths(),
        osl in any::<u32>(),
        (load, spread) in (load(), decimal()),
        (ttft_ms, tpot_ms) in (number(), number()),
        (token_budget, max_seqs) in (any::<Option<u32>>(), any::<Option<u32>>()),
        (memory_share, sustained, price) in (number(), number(), number()),
    ) -> Scenario {
        Scenario {
            model, gpu, engine, tp, pp, dp, ep, replicas, weights, kv,
            workload: Workload { isl, osl, spread, load, slos: Slos { ttft_ms, tpot_ms } },
            overrides: Overrides { token_budget, max_seqs, memory_share, sustained, price },
        }
    }
}

proptest! {
    #[test]
    fn every_scenario_survives_its_link(scenario in scenario()) {
        let (link, issues) = decode(&format!("https://example.org/#{}", encode(&scenario)));
        prop_assert_eq!(issues, []);
        prop_assert_eq!(link, Link::new(scenario));
    }

    #[test]
    fn every_comparison_survives_its_link(scenario in scenario(), compared in prop::collection::vec(scenario(), 0..=3)) {
        let link = Link { compared, ..Link::new(scenario) };
        let (read, issues) = decode(&format!("https://example.org/#{}", link.encode()));
        prop_assert_eq!(issues, []);
        prop_assert_eq!(read, link);
    }

    #[test]
    fn every_scenario_survives_its_json(scenario in scenario()) {
        let (read, issues) = Scenario::from_json(&scenario.to_json().to_string());
        prop_assert_eq!(issues, []);
        prop_assert_eq!(read, Some(scenario));
    }

    #[test]
    fn whatever_is_read_is_written_the_same(text in "#?([a-z]{1,3}=[0-9a-zA-Z%.,&#=-]{0,12}&?){0,8}") {
        let (link, _) = decode(&text);
        let (again, _) = decode(&link.encode());
        prop_assert_eq!(again.scenario, link.scenario);
        prop_assert_eq!(again.extra, link.extra);
        prop_assert_eq!(again.version, VERSION);
    }

    #[test]
    fn no_text_panics(text in any::<String>(), json in any::<String>()) {
        decode(&text);
        Scenario::from_json(&text);
        Scenario::from_json(&format!("{{\"isl\": {json}}}"));
    }

    #[test]
    fn no_damaged_link_panics(scenario in scenario(), at in any::<prop::sample::Index>(), byte in any::<char>()) {
        let text = encode(&scenario);
        let mut characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        characters[at] = byte;
        decode(&characters.iter().collect::<String>());
        characters.truncate(at);
        decode(&characters.iter().collect::<String>());
    }
}
