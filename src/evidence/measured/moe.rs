//! Measured mixtures of experts.

use std::collections::HashMap;

use serde::Deserialize;

use super::Visitor;
use super::gate::through_gate;
use super::siblings::point;
use super::visit::{RowSource, visit, visit_siblings};
use crate::config::Dtype;
use crate::evidence::tables::{Table, TableError};
use crate::kernels::{ExpertLoad, Moe, MoePart, Op, Pool, Routing};

/// The name by which the features know the Triton kernel of SGLang, which PipeWeave timed.
const PIPEWEAVE_KERNEL: &str = "sglang_fused_moe_triton";

#[derive(Deserialize)]
struct Row<'t> {
    dtype: &'t str,
    distribution: &'t str,
    tokens: u64,
    hidden: u64,
    inter: u64,
    topk: u64,
    experts: u64,
    tp: u64,
    ep: u64,
}

/// Visits the rows of the reference source's table. Sibling GPUs reveal where a kernel's tuner fell back on one GPU: a
/// whole layer then takes several times as long as on the others.
pub(super) fn visit_layers(table: &Table, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let shared = |run: &RowSource, row: &Row| {
        let Row { dtype, distribution, tokens, hidden, inter, topk, experts, tp, ep } = *row;
        let sizes = [tokens, hidden, inter, topk, experts, tp, ep];
        point((run.engine, &run.kernel, dtype, distribution, sizes))
    };
    let mut loads: HashMap<(Pool, &str, bool), ExpertLoad> = HashMap::new();
    visit_siblings(table, visitor, shared, |run, row| {
        let Row { dtype, distribution, tokens, hidden, inter, topk, experts, tp, ep } = row;
        let weights = weights(dtype).ok_or_else(|| format!("experts in {dtype}"))?;
        let routing = routing(distribution).ok_or_else(|| format!("tokens routed by {distribution}"))?;
        let shape = [hidden, inter, topk, experts];
        let pool = Pool { tokens, experts, topk, ep };
        let gate = grouped_gate(&run.kernel, run.engine, weights, shape);
        let load = *loads.entry((pool, distribution, gate)).or_insert_with(|| match gate {
            true => through_gate(routing, &pool),
            false => routing.load(&pool),
        });
        let gated = !WITHOUT_GATE_PROJECTION.contains(&shape);
        let part = MoePart::Whole;
        let moe = Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load };
        Ok((weights, Op::Moe(moe), run))
    })
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

/// Whether the source put its routing scores through DeepSeek-V3's gate: on TensorRT-LLM's low-latency path always,
/// with the other engines for that model. On A100, in bf16 and int4, it called the kernels directly.
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

#[derive(Deserialize)]
struct FirstRow<'t> {
    gemm: &'t str,
    tokens: u64,
    experts: u64,
    topk: u64,
    hidden: u64,
    inter: u64,
}

/// Visits the rows of PipeWeave's table: the first grouped GEMM alone, in bf16, on one GPU.
pub(super) fn visit_first(table: &Table, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    visit(table.rows(), visitor, |mut run, row: FirstRow| {
        let FirstRow { gemm, tokens, experts, topk, hidden, inter } = row;
        if gemm != "w13" {
            return Err(format!("the product {gemm} alone"));
        }
        (run.engine, run.kernel) = ("sglang", PIPEWEAVE_KERNEL.into());
        let load = Routing::Even.load(&Pool { tokens, experts, topk, ep: 1 });
        let (tp, ep, gated, part) = (1, 1, true, MoePart::First);
        let weights = Dtype::Bf16;
        let moe = Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load };
        Ok((weights, Op::Moe(moe), run))
    })
}
