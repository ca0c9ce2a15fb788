//! The catalogs are data: every file parses, every figure states its source, and the peak rates that follow from the
//! figures agree with what the vendor prints.

use std::collections::BTreeSet;

use rooflight::config::catalog::{Catalog, Recorded, catalog, collectives, prices};
use rooflight::config::{Arch, Dtype, ESTIMATE, Gpu, LinkKind};
use serde_json::Value;

const GPUS: &str = include_str!("../static/catalog/gpus.json");
const ENGINES: &str = include_str!("../static/catalog/engines.json");
const OLDER: &str = include_str!("../static/catalog/older.json");
const CONSTANTS: &str = include_str!("../static/catalog/constants.json");
const PRICES: &str = include_str!("../static/catalog/prices.json");
const OPTIONS: &str = include_str!("../static/catalog/options.json");
const LAUNCH: &str = include_str!("../static/catalog/launch.json");
const MODELS: &str = include_str!("../static/catalog/models.json");
const COLLECTIVES: &str = include_str!("../static/catalog/collectives.json");

/// Ids the measured tables, the links and the documentation use.
const REQUIRED_GPUS: [&str; 33] = [
    "v100-pcie-16gb",
    "v100-sxm-32gb",
    "t4",
    "a100-sxm-40gb",
    "a100-sxm-80gb",
    "a100-pcie-80gb",
    "a30",
    "a40",
    "a10",
    "rtx-3090",
    "rtx-a6000",
    "l4",
    "l20",
    "l40",
    "l40s",
    "rtx-4090",
    "rtx-6000-ada",
    "h20",
    "h800",
    "h100-pcie",
    "h100-nvl",
    "h100-sxm",
    "h200-sxm",
    "b200",
    "b300",
    "gb200",
    "gb300",
    "rtx-5090",
    "rtx-pro-6000-server",
    "mi300x",
    "mi325x",
    "mi350x",
    "mi355x",
];

/// Formats a GPU does not multiply: no rate may appear by accident.
#[rustfmt::skip]
const NO_RATE: [(&str, Dtype); 7] = [
    ("mi300x", Dtype::Nvfp4), // no FP4 matrix cores
    ("mi325x", Dtype::Nvfp4), // no FP4 matrix cores
    ("mi355x", Dtype::Nvfp4), // MXFP4 only
    ("a100-sxm-80gb", Dtype::Fp8), // no FP8 tensor cores
    ("h100-sxm", Dtype::Nvfp4), // no FP4 tensor cores
    ("t4", Dtype::Bf16), // FP16 only
    ("v100-sxm-32gb", Dtype::Bf16), // FP16 only
];

/// Share by which the catalog's peak may differ from the published one.
const TOLERANCE: f64 = 0.03;

/// GPUs whose catalog clock, with which the reference vectors were computed, is not the published one; and how far
/// below the published rate theirs is.
const OTHER_CLOCK: [(&str, Dtype, f64); 3] = [
    ("rtx-pro-6000-server", Dtype::Bf16, 0.062),
    ("rtx-pro-6000-server", Dtype::Fp8, 0.062),
    ("rtx-pro-6000-server", Dtype::Nvfp4, 0.10),
];

/// What the datasheets print is in each record: dense TFLOP/s, halved if only the figure with sparsity is printed; for
/// GeForce parts with FP32 accumulation, which serving kernels use.
#[test]
fn peaks_agree_with_the_datasheets() {
    let file: Value = serde_json::from_str(GPUS).expect("gpus.json");
    for record in file["gpus"].as_array().expect("a list") {
        let id = record["id"].as_str().expect("an id");
        let gpu = catalog().gpu(id).unwrap_or_else(|| panic!("{id} is missing"));
        let published = record["published_tflops"].as_object();
        assert!(published.is_some() || !gpu.supports(Dtype::Bf16), "{id} has a peak that nothing checks");
        for (format, figure) in published.into_iter().flatten() {
            let dtype = match format.as_str() {
                "bf16" => Dtype::Bf16,
                "fp8" => Dtype::Fp8,
                "fp4" => Dtype::Nvfp4,
                "int8" => Dtype::W8a8,
                other => panic!("{id}: {other}"),
            };
            let peak = gpu.peak(dtype).expect(id).0 / 1e12;
            let off = peak / figure[0].as_f64().expect(id) - 1.0;
            match OTHER_CLOCK.iter().find(|entry| entry.0 == id && entry.1 == dtype) {
                Some(&(_, _, below)) => assert!((off + below).abs() < 0.002, "{id} {dtype:?}: {off:+.4}"),
                None => assert!(off.abs() <= TOLERANCE, "{id} {dtype:?}: {peak:.1} against {figure}"),
            }
        }
    }
    for (id, dtype) in NO_RATE {
        assert!(!catalog().gpu(id).expect(id).supports(dtype), "{id} {dtype:?}");
    }
}

/// The sustained clock of a card under a lower limit, which nobody measured, follows from the measured card with the
/// same chip.
#[test]
fn estimated_clocks_follow_from_the_power_limit() {
    let gpu = |id: &str| catalog().gpu(id).expect(id);
    let (measured, capped) = (gpu("rtx-pro-6000-server"), gpu("rtx-pro-6000-max-q"));
    let held = |gpu: &Gpu| gpu.sustained().expect("known") * gpu.clock_hz().expect("known");
    let under = measured.clock_under(capped.power().expect("known").0).expect("known");
    assert!((held(measured) * under / held(capped) - 1.0).abs() < 0.002, "{}", held(measured) * under);
}

#[test]
fn gpu_ids_are_complete_and_unique() {
    let ids: Vec<&str> = catalog().gpus.gpus.iter().map(|gpu| gpu.id.as_str()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    for id in REQUIRED_GPUS {
        assert!(ids.contains(&id), "{id} is missing");
    }
}

#[test]
fn gpu_figures_are_in_their_ranges() {
    for gpu in &catalog().gpus.gpus {
        let id = &gpu.id;
        let (memory, l2) = (gpu.memory().expect(id), gpu.l2().expect(id));
        assert!((15e9..400e9).contains(&memory.0) && l2.0 < 0.01 * memory.0, "{id}");
        let hbm = gpu.bandwidth().expect(id);
        if let Ok(cache) = gpu.l2_bandwidth() {
            assert!(cache.0 > hbm.0, "{id}: an L2 slower than the memory behind it");
        }
        // The smallest are Jetson's.
        assert!(gpu.sm_count().expect(id) >= 14.0 && gpu.clock_hz().expect(id) > 0.9e9, "{id}");
        assert!(gpu.smem().expect(id).0 >= 64.0 * 1024.0, "{id}");
        assert!(gpu.fma().expect(id) > 0.0 && gpu.xu().expect(id) > 0.0, "{id}");
        let sustained = gpu.sustained_clock.0.unwrap_or(1.0);
        assert!((0.5..=1.0).contains(&sustained), "{id}: {sustained}");
        let reached = gpu.cold_bandwidth().expect(id).0 / hbm.0;
        assert!((0.8..1.0).contains(&reached), "{id}: {reached}");
        match gpu.link.domain {
            1 => assert_eq!((gpu.link.gb_per_s.0, gpu.link.pcie), (None, None), "{id}"),
            _ => assert!(gpu.link.gb_per_s.0.is_some_and(|rate| rate >= 16.0), "{id}"),
        }
        if let Some([generation, lanes]) = gpu.link.pcie {
            // 1 GB/s a lane in the third generation, twice as much in each further one.
            let rate = f64::from(lanes << (generation - 3));
            assert_eq!(gpu.link.gb_per_s.0, Some(rate), "{id}");
        }
        assert_eq!(gpu.link.pcie.is_some(), gpu.link.kind == LinkKind::Pcie && gpu.link.domain > 1, "{id}");
        assert!(gpu.free_memory().expect(id).0 > 0.7 * memory.0, "{id}");
        assert!(gpu.power_w.0.is_some_and(|watts| watts >= 40.0), "{id}");
        let [idle, memory, compute] = gpu.power_shares().expect(id);
        assert!(
            (0.05..0.4).contains(&idle) && (0.3..2.5).contains(&memory) && (0.5..2.5).contains(&compute),
            "{id}"
        );
    }
}

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
    let read = Catalog::shipped().expect("the files fit their records");
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
fn every_constant_of_the_kernels_is_listed_with_its_source() {
    let recorded: Recorded = serde_json::from_str(CONSTANTS).expect("it reads");
    let listed: Vec<_> = recorded.kernels.values().flat_map(|part| part.values()).collect();
    assert!(listed.len() > 60, "{}", listed.len());
    for constant in listed {
        let source = &recorded.sources[&constant.source];
        assert!(is_address(&source.url) && !source.title.is_empty(), "{constant:?}");
    }
}
