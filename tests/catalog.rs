//! The catalogs are data: every file parses, every figure says where it comes from, and the peak
//! rates that follow from them agree with what the vendor prints.

use std::collections::BTreeSet;

use rooflight::config::catalog::{Catalog, catalog, collectives, prices, sources};
use rooflight::config::{Arch, Dtype};
use serde_json::Value;

const GPUS: &str = include_str!("../static/catalog/gpus.json");
const ENGINES: &str = include_str!("../static/catalog/engines.json");
const CONSTANTS: &str = include_str!("../static/catalog/constants.json");
const PRICES: &str = include_str!("../static/catalog/prices.json");
const OPTIONS: &str = include_str!("../static/catalog/options.json");
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

/// Dense TFLOP/s as published, halved where only the figure with sparsity is printed. GeForce parts:
/// with FP32 accumulation, which is what serving kernels use.
#[rustfmt::skip]
const PUBLISHED: [(&str, Dtype, f64, &str); 66] = [
    ("a100-sxm-40gb", Dtype::Bf16, 312.0, "A100 datasheet"),
    ("a100-sxm-80gb", Dtype::Bf16, 312.0, "A100 datasheet"),
    ("a100-pcie-80gb", Dtype::Bf16, 312.0, "A100 datasheet"),
    ("a30", Dtype::Bf16, 165.0, "A30 datasheet"),
    ("a40", Dtype::Bf16, 149.7, "A40 datasheet"),
    ("a10", Dtype::Bf16, 125.0, "A10 datasheet"),
    ("rtx-3090", Dtype::Bf16, 71.0, "GA102 whitepaper"),
    ("rtx-a6000", Dtype::Bf16, 154.8, "RTX A6000 datasheet, 309.7 with sparsity"),
    ("l4", Dtype::Bf16, 121.0, "L4 datasheet, 242 with sparsity"),
    ("l4", Dtype::Fp8, 242.5, "L4 datasheet, 485 with sparsity"),
    ("l20", Dtype::Bf16, 119.5, "SemiAnalysis table of 2023-11-09"),
    ("l20", Dtype::Fp8, 239.0, "SemiAnalysis table of 2023-11-09"),
    ("l40", Dtype::Bf16, 181.05, "L40 datasheet"),
    ("l40", Dtype::Fp8, 362.0, "L40 datasheet"),
    ("l40s", Dtype::Bf16, 362.05, "L40S datasheet"),
    ("l40s", Dtype::Fp8, 733.0, "L40S datasheet"),
    ("rtx-4090", Dtype::Bf16, 165.2, "Ada whitepaper"),
    ("rtx-4090", Dtype::Fp8, 330.3, "Ada whitepaper"),
    ("rtx-6000-ada", Dtype::Bf16, 364.25, "RTX 6000 Ada datasheet, a quarter of 1457 FP8 with sparsity"),
    ("rtx-6000-ada", Dtype::Fp8, 728.5, "RTX 6000 Ada datasheet, 1457 with sparsity"),
    ("h20", Dtype::Bf16, 148.0, "SemiAnalysis table of 2023-11-09"),
    ("h20", Dtype::Fp8, 296.0, "SemiAnalysis table of 2023-11-09"),
    ("h800", Dtype::Bf16, 989.5, "H100 SXM datasheet: H800 differs in NVLink only"),
    ("h800", Dtype::Fp8, 1979.0, "H100 SXM datasheet: H800 differs in NVLink only"),
    ("h100-pcie", Dtype::Bf16, 756.5, "H100 datasheet, 1513 with sparsity"),
    ("h100-pcie", Dtype::Fp8, 1513.0, "H100 datasheet, 3026 with sparsity"),
    ("h100-nvl", Dtype::Bf16, 835.5, "H100 product page, 1671 with sparsity"),
    ("h100-nvl", Dtype::Fp8, 1670.5, "H100 product page, 3341 with sparsity"),
    ("h100-sxm", Dtype::Bf16, 989.5, "H100 datasheet, 1979 with sparsity"),
    ("h100-sxm", Dtype::Fp8, 1979.0, "H100 datasheet, 3958 with sparsity"),
    ("h200-sxm", Dtype::Bf16, 989.5, "H200 datasheet, 1979 with sparsity"),
    ("h200-sxm", Dtype::Fp8, 1979.0, "H200 datasheet, 3958 with sparsity"),
    ("b200", Dtype::Bf16, 2250.0, "HGX B200, 36 PFLOP/s with sparsity on eight"),
    ("b200", Dtype::Fp8, 4500.0, "HGX B200, 72 PFLOP/s with sparsity on eight"),
    ("b200", Dtype::Nvfp4, 9000.0, "HGX B200, 72 PFLOP/s dense on eight"),
    ("b300", Dtype::Bf16, 2250.0, "HGX B300, 36 PFLOP/s with sparsity on eight"),
    ("b300", Dtype::Fp8, 4500.0, "HGX B300, 72 PFLOP/s with sparsity on eight"),
    ("b300", Dtype::Nvfp4, 13_500.0, "HGX B300, 108 PFLOP/s dense on eight"),
    ("gb200", Dtype::Bf16, 2500.0, "GB200 NVL72, 360 PFLOP/s with sparsity on 72"),
    ("gb200", Dtype::Fp8, 5000.0, "GB200 NVL72, 720 PFLOP/s with sparsity on 72"),
    ("gb200", Dtype::Nvfp4, 10_000.0, "GB200 NVL72, 720 PFLOP/s dense on 72"),
    ("gb300", Dtype::Bf16, 2500.0, "GB300 NVL72, 360 PFLOP/s with sparsity on 72"),
    ("gb300", Dtype::Fp8, 5000.0, "GB300 NVL72, 720 PFLOP/s with sparsity on 72"),
    ("gb300", Dtype::Nvfp4, 15_000.0, "GB300 NVL72, 1080 PFLOP/s dense on 72"),
    ("rtx-5090", Dtype::Bf16, 209.5, "RTX Blackwell whitepaper"),
    ("rtx-5090", Dtype::Fp8, 419.0, "RTX Blackwell whitepaper"),
    ("rtx-5090", Dtype::Nvfp4, 1676.0, "RTX Blackwell whitepaper"),
    ("rtx-pro-6000-server", Dtype::Bf16, 480.0, "product page, four times 120 TFLOP/s of FP32"),
    ("rtx-pro-6000-server", Dtype::Fp8, 960.0, "product page, eight times 120 TFLOP/s of FP32"),
    ("rtx-pro-6000-server", Dtype::Nvfp4, 2000.0, "product page, 4 PFLOP/s with sparsity"),
    ("mi300x", Dtype::Bf16, 1307.4, "MI300X datasheet"),
    ("mi300x", Dtype::Fp8, 2614.9, "MI300X datasheet"),
    ("mi300x", Dtype::W8a8, 2614.9, "MI300X datasheet"),
    ("mi325x", Dtype::Bf16, 1307.4, "MI325X datasheet"),
    ("mi325x", Dtype::Fp8, 2614.9, "MI325X datasheet"),
    ("mi350x", Dtype::Bf16, 2306.9, "MI350X datasheet, 2.3 PFLOP/s"),
    ("mi350x", Dtype::Fp8, 4613.7, "MI350X datasheet, 4.6 PFLOP/s"),
    ("mi355x", Dtype::Bf16, 2516.6, "MI355X datasheet, 2.5 PFLOP/s"),
    ("mi355x", Dtype::Fp8, 5033.2, "MI355X datasheet, 5 PFLOP/s"),
    // Formats a GPU does not multiply: no rate may appear by accident.
    ("mi300x", Dtype::Nvfp4, 0.0, "no FP4 matrix cores"),
    ("mi325x", Dtype::Nvfp4, 0.0, "no FP4 matrix cores"),
    ("mi355x", Dtype::Nvfp4, 0.0, "MXFP4 only"),
    ("a100-sxm-80gb", Dtype::Fp8, 0.0, "no FP8 tensor cores"),
    ("h100-sxm", Dtype::Nvfp4, 0.0, "no FP4 tensor cores"),
    ("t4", Dtype::Bf16, 0.0, "FP16 only"),
    ("v100-sxm-32gb", Dtype::Bf16, 0.0, "FP16 only"),
];

/// Share by which the catalog's peak may differ from the published one.
const TOLERANCE: f64 = 0.03;

/// GPUs whose catalog clock, which the reference vectors were computed with, is not the published
/// one: how far below the published rate they lie.
const OTHER_CLOCK: [(&str, Dtype, f64); 3] = [
    ("rtx-pro-6000-server", Dtype::Bf16, 0.062),
    ("rtx-pro-6000-server", Dtype::Fp8, 0.062),
    ("rtx-pro-6000-server", Dtype::Nvfp4, 0.10),
];

#[test]
fn peaks_agree_with_the_datasheets() {
    for (id, dtype, published, source) in PUBLISHED {
        let gpu = catalog().gpu(id).unwrap_or_else(|| panic!("{id} is missing"));
        if published == 0.0 {
            assert!(!gpu.supports(dtype), "{id}: {source}");
            continue;
        }
        let peak = gpu.peak(dtype).expect(id).0 / 1e12;
        let off = peak / published - 1.0;
        match OTHER_CLOCK.iter().find(|entry| entry.0 == id && entry.1 == dtype) {
            Some(&(_, _, below)) => assert!((off + below).abs() < 0.002, "{id} {dtype:?}: {off:+.4}"),
            None => {
                assert!(off.abs() <= TOLERANCE, "{id} {dtype:?}: {peak:.1} against {published} ({source})")
            }
        }
    }
    for gpu in &catalog().gpus.gpus {
        let listed = PUBLISHED.iter().any(|entry| entry.0 == gpu.id);
        assert!(listed || !gpu.supports(Dtype::Bf16), "{} has a peak that nothing checks", gpu.id);
    }
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
        assert!(gpu.sm_count().expect(id) >= 40.0 && gpu.clock_hz().expect(id) > 1e9, "{id}");
        assert!(gpu.smem().expect(id).0 >= 64.0 * 1024.0, "{id}");
        assert!(gpu.fma().expect(id) > 0.0 && gpu.xu().expect(id) > 0.0, "{id}");
        let sustained = gpu.sustained_clock.0.unwrap_or(1.0);
        assert!((0.5..=1.0).contains(&sustained), "{id}: {sustained}");
        let reached = gpu.cold_bandwidth().expect(id).0 / hbm.0;
        assert!((0.8..1.0).contains(&reached), "{id}: {reached}");
        assert!(gpu.link.gb_per_s.0.is_some_and(|rate| rate >= 16.0) && gpu.link.domain >= 2, "{id}");
        assert!(gpu.power_w.0.is_some_and(|watts| watts >= 70.0), "{id}");
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
        ("constants.json", CONSTANTS),
        ("collectives.json", COLLECTIVES),
        ("prices.json", PRICES),
        ("options.json", OPTIONS),
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
            assert!(url.starts_with("https://"), "{name}: source {id} has no address");
        }
    }
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
        let archs: Vec<Arch> = engine.kernels.iter().map(|choice| choice.arch).collect();
        assert!(archs.iter().enumerate().all(|(index, arch)| !archs[..index].contains(arch)));
        let share = engine.scheduler.memory_share.0.expect(&engine.id);
        assert!((0.5..1.0).contains(&share), "{}", engine.id);
    }
}

#[test]
fn the_records_hold_what_the_files_say() {
    let read = Catalog::shipped().expect("the files fit their records");
    // They print as the files stand.
    let file = |text: &str, list: &str| serde_json::from_str::<Value>(text).expect(list)[list].clone();
    let printed = |value: serde_json::Result<Value>| value.expect("serialises");
    assert_eq!(printed(serde_json::to_value(&read.gpus.gpus)), numbers_as_floats(file(GPUS, "gpus")));
    assert_eq!(printed(serde_json::to_value(&read.models.models)), file(MODELS, "models"));
    assert_eq!(printed(serde_json::to_value(&read.models.refused)), file(MODELS, "refused"));
}

/// Figures are floats in the records, and may be written as whole numbers in the file.
fn numbers_as_floats(value: Value) -> Value {
    match value {
        Value::Array(items) => match items.as_slice() {
            [Value::Number(number), source] => serde_json::json!([number.as_f64(), source]),
            _ => items.into_iter().map(numbers_as_floats).collect(),
        },
        Value::Object(fields) => {
            fields.into_iter().map(|(key, field)| (key, numbers_as_floats(field))).collect()
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
    let listed = sources();
    assert!(listed.len() > 60, "{}", listed.len());
    for constant in &listed {
        assert!(constant.url.starts_with("https://") && !constant.source.is_empty(), "{constant:?}");
    }
}
