//! Attention over cached tokens against calls measured for this project (`training/measurements`), if they are there.
#![cfg(feature = "tools")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use rooflight::config::{Dtype, Scenario, catalog, check};
use rooflight::efficiency::Rows;
use rooflight::efficiency::onnx::Models;
use rooflight::kernels::{Attention, Family, Kernel, Op, Phase, Sequences};
use rooflight::latency::{Ideal, KernelTime};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A measured call and its time in µs, with nothing in L2.
struct Call {
    attention: Attention,
    micros: f64,
}

/// The prompts of `name` in BF16, without a window.
fn measured(gpu: &str, name: &str) -> Option<Vec<Call>> {
    let text = fs::read_to_string(root().join("training/measurements").join(gpu).join(name)).ok()?;
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let rows = rows.deserialize::<BTreeMap<String, String>>().map(|row| row.expect("a row"));
    let calls = rows.filter(|row| row["dtype"] == "bf16" && row["window"] == "0").map(|row| {
        let of = |name: &str| row[name].parse::<u64>().expect("a number");
        let sequences = match row.get("groups") {
            Some(groups) => serde_json::from_str::<Vec<[u64; 3]>>(groups)
                .expect("groups")
                .into_iter()
                .map(|[count, new, past]| Sequences { count, new, past })
                .collect(),
            None => vec![Sequences { count: of("batch"), new: of("new"), past: of("past") }],
        };
        let [heads, kv_heads, head_dim] = ["heads", "kv_heads", "head_dim"].map(of);
        let (phase, kv, window) = (Phase::Prefill, Dtype::Bf16, None);
        let attention = Attention { phase, sequences, heads, kv_heads, head_dim, kv, window };
        Call { attention, micros: row["cold_us"].parse().expect("a time") }
    });
    Some(calls.collect())
}

/// |ln(predicted / measured)|, as vLLM serves.
fn errors(gpu: &str, calls: &[Call], models: &Models) -> Vec<f64> {
    let scenario = Scenario { gpu: gpu.into(), engine: "vllm".into(), ..Scenario::default() };
    let setup = check(&scenario, catalog()).0.expect("sound");
    let mut rows = Rows::default();
    for Call { attention, .. } in calls {
        let stored = attention.count(&setup.gpu).expect("complete").stored;
        rows.ask(&Op::Attention(attention.clone()), stored, &setup.gpu, &setup.engine).expect("complete");
    }
    let answer = |family: Family| models.run(family, &rows.families()[&family].values).expect("runs");
    let answers = BTreeMap::from([(Family::AttentionPrefill, answer(Family::AttentionPrefill))]);
    let learned = rows.answered("test", &answers, &BTreeMap::new()).expect("complete");
    let compare = |(call, said): (&Call, &rooflight::efficiency::CallAnswer)| {
        let count = call.attention.count(&setup.gpu).expect("complete");
        let ideal = Ideal::of(&count, &setup.gpu).expect("complete");
        let answer = said.answer.expect("learned");
        let time = KernelTime::learned(&count, &ideal, answer, (1.0, said.in_service), true).time;
        (time.micros() / call.micros).ln().abs()
    };
    calls.iter().zip(&learned.calls).map(compare).collect()
}

fn mean(errors: &[f64]) -> f64 {
    errors.iter().sum::<f64>() / errors.len() as f64
}

#[test]
fn prompts_over_cached_tokens_take_as_long_as_measured() {
    let manifest = fs::read_to_string(root().join("models/manifest.json")).expect("a manifest");
    let model = |name: &str| Ok(fs::read(root().join("models").join(name)).expect("a model"));
    let models = Models::new(&manifest, model).expect("the shipped models load");
    for gpu in ["h100-sxm", "h200-sxm"] {
        // Unlike sequences in one call: which of them are split is decided by the longest.
        for (name, most) in [("prefix.csv", 0.1), ("ragged.csv", 0.2)] {
            let Some(calls) = measured(gpu, name) else { continue };
            let cached = |call: &Call| call.attention.sequences.iter().any(|group| group.past > 0);
            let over: Vec<_> = calls.into_iter().filter(cached).collect();
            // Heads that the constants were read from, and others.
            let known = [(32, 8, 128), (64, 8, 128), (64, 8, 64)];
            let fitted = |call: &Call| {
                let Attention { heads, kv_heads, head_dim, .. } = call.attention;
                known.contains(&(heads, kv_heads, head_dim))
            };
            let (fitted, others): (Vec<_>, Vec<_>) = over.into_iter().partition(fitted);
            for (what, calls) in [("fitted", fitted), ("others", others)] {
                let off = mean(&errors(gpu, &calls, &models));
                println!("{gpu} {name} {what}: {} calls, {:.1} %", calls.len(), 100.0 * off);
                assert!(off < most, "{gpu} {name} {what}: {off}");
            }
        }
    }
}
