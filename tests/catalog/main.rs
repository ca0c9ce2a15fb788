//! The catalogs are data: every file parses, every figure states its source, and records name what exists.

mod gpus;

use std::collections::BTreeSet;

use rooflight::config::catalog::{Catalog, Recorded, catalog, collectives, kernels, prices};
use rooflight::config::{Arch, ESTIMATE, Gpu};
use serde_json::Value;

const GPUS: &str = include_str!("../../static/catalog/gpus.json");
const ENGINES: &str = include_str!("../../static/catalog/engines.json");
const OLDER: &str = include_str!("../../static/catalog/older.json");
const CONSTANTS: &str = include_str!("../../static/catalog/constants.json");
const KERNELS: &str = include_str!("../../static/catalog/kernels.json");
const PRICES: &str = include_str!("../../static/catalog/prices.json");
const OPTIONS: &str = include_str!("../../static/catalog/options.json");
const LAUNCH: &str = include_str!("../../static/catalog/launch.json");
const MODELS: &str = include_str!("../../static/catalog/models.json");
const COLLECTIVES: &str = include_str!("../../static/catalog/collectives.json");

#[test]
fn reserved_prices_are_of_known_gpus() {
    for (id, price) in &prices().reserved_dollars_per_hour {
        assert!(catalog().gpu(id).is_some(), "{id}");
        assert!(price.0.is_some_and(|dollars| (0.1..20.0).contains(&dollars)), "{id}");
    }
}

#[test]
fn every_figure_has_a_source_or_a_reason() {
    for (name, text) in [
        ("gpus.json", GPUS),
        ("engines.json", ENGINES),
        ("older.json", OLDER),
        ("constants.json", CONSTANTS),
        ("kernels.json", KERNELS),
        ("collectives.json", COLLECTIVES),
        ("prices.json", PRICES),
        ("options.json", OPTIONS),
        ("launch.json", LAUNCH),
    ] {
        let file: Value = serde_json::from_str(text).expect(name);
        let sources = file["sources"].as_object().expect(name);
        let mut used = BTreeSet::new();
        check_figures(name, &file, sources, &mut used);
        for id in sources.keys().filter(|_| !used.is_empty()) {
            assert!(used.contains(id), "{name}: source {id} is never cited");
        }
        for (id, source) in sources {
            let url = source["url"].as_str().unwrap_or_default();
            assert!(is_address(url), "{name}: source {id} has no address");
        }
    }
}

/// Of a page, or of a document of this repository.
fn is_address(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("docs/") && std::path::Path::new(url).exists()
}

/// Walks to every `[number or null, text]`.
fn check_figures(
    at: &str,
    value: &Value,
    sources: &serde_json::Map<String, Value>,
    used: &mut BTreeSet<String>,
) {
    match value {
        Value::Array(items) => match items.as_slice() {
            [Value::Number(_), Value::String(source)] => {
                assert!(sources.contains_key(source), "{at}: unknown source {source}");
                used.insert(source.clone());
            }
            [Value::Null, Value::String(reason)] => {
                assert!(reason.len() > 8 && !sources.contains_key(reason), "{at}: '{reason}' says no reason");
            }
            _ => {
                for item in items {
                    let name = item["id"].as_str().unwrap_or(at);
                    check_figures(name, item, sources, used);
                }
            }
        },
        // A record of one source.
        Value::Object(fields)
            if fields.get("source").is_some_and(Value::is_string) && !fields.contains_key("value") =>
        {
            let source = fields["source"].as_str().unwrap_or_default();
            assert!(sources.contains_key(source), "{at}: unknown source {source}");
            used.insert(source.into());
            fields.iter().for_each(|(name, field)| check_figures(name, field, sources, used));
        }
        Value::Object(fields) if fields.contains_key("value") => {
            let source = fields["source"].as_str().unwrap_or_default();
            assert!(sources.contains_key(source), "{at}: unknown source {source}");
            for text in ["unit", "what"] {
                assert!(fields[text].as_str().is_some_and(|text| !text.is_empty()), "{at} has no {text}");
            }
            used.insert(source.into());
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                check_figures(&format!("{at}.{key}"), field, sources, used);
            }
        }
        _ => {}
    }
}

#[test]
fn engines_name_their_kernels_on_every_architecture_they_serve() {
    let engines = &catalog().engines.engines;
    let ids: BTreeSet<&str> = engines.iter().map(|engine| engine.id.as_str()).collect();
    assert_eq!(ids, BTreeSet::from(["sglang", "trtllm", "vllm"]));
    assert_eq!(ids.len(), engines.len());
    for engine in engines {
        for arch in [Arch::Hopper, Arch::Ampere, Arch::Ada, Arch::Blackwell, Arch::BlackwellRtx] {
            let kernels = engine.kernels_on(arch).unwrap_or_else(|| panic!("{} on {arch:?}", engine.id));
            assert!(!kernels.attention_prefill.is_empty() && !kernels.attention_decode.is_empty());
        }
        for arch in [Arch::Cdna3, Arch::Cdna4] {
            assert_eq!(engine.kernels_on(arch).is_some(), engine.id != "trtllm", "{arch:?}");
            assert_eq!(engine.variants_on(arch).is_some(), engine.id != "trtllm", "{arch:?}");
        }
        assert_eq!(engine.kernels_on(Arch::Xe2).is_some(), engine.id == "vllm");
        let archs: Vec<Arch> = engine.kernels.iter().map(|choice| choice.arch).collect();
        assert!(archs.iter().enumerate().all(|(index, arch)| !archs[..index].contains(arch)));
        let share = engine.scheduler.memory_share.0.expect(&engine.id);
        assert!((0.5..1.0).contains(&share), "{}", engine.id);
    }
}

#[test]
fn the_records_hold_what_the_files_say() {
    // They print as the files stand.
    let file = |text: &str, list: &str| serde_json::from_str::<Value>(text).expect(list)[list].clone();
    let printed = |value: serde_json::Result<Value>| value.expect("serialises");
    let mut gpus = file(GPUS, "gpus");
    for gpu in gpus.as_array_mut().expect("a list") {
        gpu.as_object_mut().expect("a record").remove("published_tflops");
        // Alone, so that the fault is beside the GPU's name.
        if let Err(fault) = serde_json::from_value::<Gpu>(gpu.clone()) {
            panic!("gpus.json, {}: {fault}", gpu["id"]);
        }
    }
    let read = Catalog::shipped();
    assert_eq!(printed(serde_json::to_value(&read.gpus.gpus)), as_carried(gpus));
    assert_eq!(printed(serde_json::to_value(&read.models.models)), file(MODELS, "models"));
    assert_eq!(printed(serde_json::to_value(&read.models.refused)), file(MODELS, "refused"));
}

/// Figures are floats in the records, and may be written as whole numbers in the file. Of their sources a build carries
/// only that of estimates and of prices.
fn as_carried(value: Value) -> Value {
    match value {
        Value::Array(items) => match items.as_slice() {
            [Value::Number(number), source @ Value::String(_)] => {
                let source = if source == ESTIMATE { ESTIMATE } else { "" };
                serde_json::json!([number.as_f64(), source])
            }
            _ => items.into_iter().map(as_carried).collect(),
        },
        Value::Object(fields) => {
            let carried = |(key, field)| match key {
                key if key == "dollars_per_hour" => (key, field),
                key => (key, as_carried(field)),
            };
            fields.into_iter().map(carried).collect()
        }
        other => other,
    }
}

#[test]
fn collective_curves_rise_and_belong_to_known_gpus() {
    let known = collectives();
    assert!(known.sizes.is_sorted_by(|a, b| a < b));
    for (gpu, curves) in &known.curves {
        let domain = catalog().gpu(gpu).unwrap_or_else(|| panic!("{gpu} is in no GPU record")).link.domain;
        for (key, micros) in curves {
            let parts: Vec<&str> = key.split('/').collect();
            let [collective, ranks, lane] = parts[..] else { panic!("{gpu} {key}") };
            assert!(
                ["all_reduce", "all_gather", "alltoall", "send_recv"].contains(&collective),
                "{gpu} {key}"
            );
            assert!(ranks.parse::<u32>().is_ok_and(|ranks| (2..=domain).contains(&ranks)), "{gpu} {key}");
            assert!(lane == "nccl" || catalog().engine(lane).is_some(), "{gpu} {key}");
            assert!(
                micros.len() <= known.sizes.len() && micros[0] > 0.0 && micros.is_sorted(),
                "{gpu} {key}"
            );
        }
    }
}

#[test]
fn every_constant_is_listed_with_its_source() {
    let recorded: Recorded = serde_json::from_str(CONSTANTS).expect("it reads");
    for (parts, sources) in
        [(&recorded.constants, &recorded.sources), (&kernels().constants, &kernels().sources)]
    {
        let listed: Vec<_> = parts.values().flat_map(|part| part.values()).collect();
        assert!(listed.len() > 60, "{}", listed.len());
        for constant in listed {
            let source = &sources[&constant.source];
            assert!(is_address(&source.url) && !source.title.is_empty(), "{constant:?}");
        }
    }
}
