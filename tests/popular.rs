//! What pickers offer first follows from the evidence: the models and GPUs with the most measurements.
#![cfg(feature = "tools")]

use std::collections::BTreeMap;
use std::fs;

use rooflight::config::{ModelChoice, link};
use rooflight::study::accuracy::Accuracy;

const EVIDENCE: &str = include_str!("../models/evidence.json");
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/static/catalog/popular.json");
/// As many as fit above the others without hiding them.
const MODELS: usize = 6;
const GPUS: usize = 4;

/// The ids that occur most, the most frequent first.
fn most(ids: impl Iterator<Item = String>, number: usize) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for id in ids {
        *counts.entry(id).or_insert(0_u32) += 1;
    }
    let mut all: Vec<(String, u32)> = counts.into_iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all.into_iter().take(number).map(|(id, _)| id).collect()
}

#[test]
fn popular_choices_are_those_measured_most() {
    let evidence = Accuracy::parse(EVIDENCE).expect("the shipped report");
    let scenarios: Vec<_> =
        evidence.points.iter().map(|point| link::decode(&point.link).0.scenario).collect();
    let models = scenarios.iter().filter_map(|scenario| match &scenario.model {
        ModelChoice::Catalog(id) => Some(id.clone()),
        _ => None,
    });
    let expected = serde_json::json!({
        "source": "most measured runs in models/evidence.json",
        "models": most(models, MODELS),
        "gpus": most(scenarios.iter().map(|scenario| scenario.gpu.clone()), GPUS),
    });
    if std::env::var_os("ROOFLIGHT_WRITE").is_some() {
        let text = format!("{expected}\n");
        fs::write(FILE, text).expect("static/catalog can be written");
    } else {
        let held: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(FILE).expect("shipped")).expect("JSON");
        assert_eq!(held, expected, "stale: ROOFLIGHT_WRITE=1 cargo test --test popular");
    }
}
