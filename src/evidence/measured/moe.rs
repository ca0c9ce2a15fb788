//! Measured mixtures of experts.

use std::collections::HashMap;
use std::path::Path;

use super::calls::{self, Calls};
use super::gate::through_gate;
use super::siblings::{Point, SUSPECT, Siblings};
use super::{Measured, Visitor};
use crate::config::Dtype;
use crate::evidence::tables::{Table, TableError};
use crate::kernels::{ExpertLoad, Moe, Op, Part, Pool, Routing};

/// The name by which the features know the Triton kernel of SGLang, which PipeWeave timed.
const PIPEWEAVE_KERNEL: &str = "sglang_fused_moe_triton";

/// Visits the rows of the reference source's table. Siblings tell where a kernel's tuner fell back on one GPU: a whole layer then
/// takes several times as long as on the others.
pub(super) fn visit(path: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let own = ["dtype", "tokens", "hidden", "inter", "topk", "experts", "tp", "ep", "distribution"];
    let table = calls::read(path, &own)?;
    let calls = Calls::of(&table)?;
    let (dtype, distribution) = (table.texts("dtype")?, table.texts("distribution")?);
    let numbers = |name| table.numbers(name);
    let (tokens, hidden, inter) = (numbers("tokens")?, numbers("hidden")?, numbers("inter")?);
    let (topk, experts, tp, ep) = (numbers("topk")?, numbers("experts")?, numbers("tp")?, numbers("ep")?);
    let point = |row: usize| -> Point {
        let names =
            [calls.engine, calls.kernel, dtype, distribution].map(|texts| u64::from(texts.codes[row]));
        let sizes = [tokens, hidden, inter, topk, experts, tp, ep].map(|column| column[row] as u64);
        names.into_iter().chain(sizes).collect()
    };
    let mut siblings = Siblings::default();
    for (row, &micros) in calls.micros.iter().enumerate() {
        siblings.add(point(row), calls.gpu.get(row), micros);
    }
    let mut loads: HashMap<(Pool, u16, bool), ExpertLoad> = HashMap::new();
    for row in 0..calls.micros.len() {
        if !siblings.agree(point(row), calls.gpu.get(row), calls.micros[row]) {
            visitor(Err(format!("{SUSPECT} ({} on {})", calls.engine.get(row), calls.gpu.get(row))));
            continue;
        }
        let Some(weights) = weights(dtype.get(row)) else {
            visitor(Err(format!("experts in {}", dtype.get(row))));
            continue;
        };
        let Some(routing) = routing(distribution.get(row)) else {
            visitor(Err(format!("tokens routed by {}", distribution.get(row))));
            continue;
        };
        let [tokens, hidden, inter] = [tokens[row], hidden[row], inter[row]].map(|number| number as u64);
        let [topk, experts, tp, ep] = [topk[row], experts[row], tp[row], ep[row]].map(|number| number as u64);
        let shape = [hidden, inter, topk, experts];
        let pool = Pool { tokens, experts, topk, ep };
        let gate = grouped_gate(calls.kernel.get(row), calls.engine.get(row), weights, shape);
        let key = (pool, distribution.codes[row], gate);
        let load = *loads.entry(key).or_insert_with(|| match gate {
            true => through_gate(routing, &pool),
            false => routing.load(&pool),
        });
        let gated = !WITHOUT_GATE_PROJECTION.contains(&shape);
        let part = Part::Whole;
        let moe = Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load };
        visitor(Ok(calls.measured(row, weights, Op::Moe(moe))));
    }
    Ok(())
}

/// Layers whose experts have no gate projection, as `[hidden, inter, topk, experts]`: Nemotron 3 Nano,
/// Super, Ultra, and the latent widths of the latter two.
const WITHOUT_GATE_PROJECTION: [[u64; 4]; 5] = [
    [2688, 1856, 6, 128],
    [1024, 2688, 22, 512],
    [4096, 2688, 22, 512],
    [2048, 5120, 22, 512],
    [8192, 5120, 22, 512],
];

/// DeepSeek-V3, as `[hidden, inter, topk, experts]`.
const DEEPSEEK_V3: [u64; 4] = [7168, 2048, 8, 256];

/// Whether the source put its routing scores through DeepSeek-V3's gate: TensorRT-LLM's low-latency lane
/// always, the other engines for that model. On A100, bf16 and int4, it called the kernels directly.
fn grouped_gate(kernel: &str, engine: &str, weights: Dtype, shape: [u64; 4]) -> bool {
    let model =
        shape == DEEPSEEK_V3 && engine != "trtllm" && matches!(weights, Dtype::Fp8Block | Dtype::Nvfp4);
    model || kernel == "moe_torch_flow_min_latency"
}

/// The format by the table's name.
fn weights(name: &str) -> Option<Dtype> {
    match name {
        "int4_wo" => Some(Dtype::Int4),
        "w4a16_mxfp4" => Some(Dtype::Mxfp4),
        "w4a8_mxfp4_mxfp8" => Some(Dtype::Mxfp4Mxfp8),
        _ => Dtype::from_id(name),
    }
}

fn routing(name: &str) -> Option<Routing> {
    match name {
        "balanced" => Some(Routing::Even),
        _ => name.strip_prefix("power_law_")?.parse().ok().map(Routing::PowerLaw),
    }
}

/// Visits the rows of PipeWeave's table: the first grouped product alone, in bf16, on one GPU.
pub(super) fn visit_first(path: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let wanted = ["source", "gpu", "gemm", "tokens", "experts", "topk", "hidden", "inter", "latency_us"];
    let table = Table::read(path, &wanted)?;
    let (source, gpu, product) = (table.texts("source")?, table.texts("gpu")?, table.texts("gemm")?);
    let numbers = |name| table.numbers(name);
    let (tokens, experts, topk) = (numbers("tokens")?, numbers("experts")?, numbers("topk")?);
    let (hidden, inter) = (numbers("hidden")?, numbers("inter")?);
    for (row, &micros) in numbers("latency_us")?.iter().enumerate() {
        if product.get(row) != "w13" {
            visitor(Err(format!("the product {} alone", product.get(row))));
            continue;
        }
        let [tokens, experts, topk] = [tokens[row], experts[row], topk[row]].map(|number| number as u64);
        let [hidden, inter] = [hidden[row], inter[row]].map(|number| number as u64);
        let load = Routing::Even.load(&Pool { tokens, experts, topk, ep: 1 });
        let (tp, ep, gated, part) = (1, 1, true, Part::First);
        let weights = Dtype::Bf16;
        let moe = Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load };
        visitor(Ok(Measured {
            source: source.get(row).into(),
            gpu: gpu.get(row).into(),
            engine: "sglang".into(),
            kernel: PIPEWEAVE_KERNEL.into(),
            dtype: weights,
            op: Op::Moe(moe),
            micros,
        }));
    }
    Ok(())
}
