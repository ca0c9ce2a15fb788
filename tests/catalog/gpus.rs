//! Records of GPUs: figures in their ranges, and peak rates that agree with what the vendor prints.

use std::collections::BTreeSet;

use rooflight::config::catalog::catalog;
use rooflight::config::{Dtype, Gpu, LinkKind};
use serde_json::Value;

use super::GPUS;

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
