//! Damaged and strange files.

use proptest::prelude::*;
use rooflight::config::Issue;
use rooflight::config::model::import::import;
use serde_json::{Value, json};

use super::QWEN3;

/// Published configs where the measured data is at hand, and the families' and the inline one always.
fn samples() -> &'static [String] {
    static SAMPLES: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/model_configs");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        let families = include_str!("../data/families.jsonl").lines().filter_map(|line| {
            let fact: Value = serde_json::from_str(line).ok()?;
            Some(fact["config"].to_string())
        });
        texts.chain(families).chain([QWEN3.to_owned()]).collect()
    });
    &SAMPLES
}

/// Half of the damaged files tried, for each of the two tests below: `ROOFLIGHT_FUZZ_CASES`, or 4,000.
fn cases() -> u32 {
    let all = std::env::var("ROOFLIGHT_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok());
    all.unwrap_or(4_000) / 2
}

/// Numbers, names and values that stand somewhere in the files, and odd ones, to put in place of others.
fn stranger() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..200_000).prop_map(Value::from),
        prop::sample::select(vec![json!(1e9), json!(1e308), json!(0.5), json!(-1), json!(u64::MAX)]),
        prop::sample::select(vec![
            json!([]),
            json!({}),
            json!([1, "a", null]),
            json!({"a": {}}),
            json!("NaN")
        ]),
        prop::sample::select(vec![
            json!("full_attention"),
            json!("linear_attention"),
            json!("llama"),
            json!("qwen3_5_moe"),
            json!("deepseek_v3"),
            json!("nemotron_h"),
            json!("gemma4"),
            json!("falcon"),
            json!("hunyuan_v1_moe"),
            json!("granitemoehybrid"),
            json!("M*E-"),
            json!("re:(a|b)*.*+"),
        ]),
    ]
}

/// Puts an unrelated value at a place in the tree.
fn replace(value: &mut Value, path: &[prop::sample::Index], stranger: &Value) {
    let Some((first, rest)) = path.split_first() else {
        *value = stranger.clone();
        return;
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            let place = first.index(map.len());
            if let Some(inner) = map.values_mut().nth(place) {
                replace(inner, rest, stranger);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let place = first.index(list.len());
            replace(&mut list[place], rest, stranger);
        }
        other => *other = stranger.clone(),
    }
}

/// One edit of a file: bytes at a place, removed and put in.
fn edit() -> impl Strategy<Value = (prop::sample::Index, usize, String)> {
    let put = prop_oneof![
        Just(String::new()),
        "[0-9]{1,25}",
        "[\\[\\]{}\",:eE.-]{1,4}",
        Just("null".to_owned()),
        Just("NaN".to_owned()),
        Just("1e308".to_owned()),
        any::<char>().prop_map(String::from),
    ];
    (any::<prop::sample::Index>(), 0usize..12, put)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn no_damage_panics(sample in any::<prop::sample::Index>(), edits in prop::collection::vec(edit(), 1..6)) {
        let mut text: Vec<char> = samples()[sample.index(samples().len())].chars().collect();
        for (place, removed, put) in edits {
            let start = place.index(text.len() + 1);
            let end = (start + removed).min(text.len());
            text.splice(start..end, put.chars());
        }
        let text: String = text.into_iter().collect();
        let (model, issues) = import(&text, Some(&text));
        prop_assert_eq!(model.is_some(), !issues.iter().any(Issue::is_error));
        if let Some(model) = model {
            prop_assert!(model.parameters().is_finite() && model.objections().is_empty());
        }
        let (model, issues) = import(&text, None);
        prop_assert_eq!(model.is_some(), !issues.iter().any(Issue::is_error));
    }

    #[test]
    fn no_strange_value_panics(
        sample in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        edits in prop::collection::vec(
            (prop::collection::vec(any::<prop::sample::Index>(), 1..4), stranger()), 1..8),
    ) {
        let text = &samples()[sample.index(samples().len())];
        let Ok(mut config) = serde_json::from_str::<Value>(text) else { return Ok(()) };
        for (path, stranger) in edits {
            replace(&mut config, &path, &stranger);
        }
        let record = &samples()[other.index(samples().len())];
        for record in [None, Some(record.as_str())] {
            let (model, issues) = import(&config.to_string(), record);
            prop_assert_eq!(model.is_some(), !issues.iter().any(Issue::is_error));
            if let Some(model) = model {
                prop_assert!(model.parameters().is_finite() && model.objections().is_empty());
                prop_assert!(model.layers() > 0 && model.active_parameters() <= model.parameters());
            }
        }
    }
}
