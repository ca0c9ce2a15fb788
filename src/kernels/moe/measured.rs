//! Measured mixtures of experts.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::gate::through_gate;
use crate::config::model::{self, Ffn, Model};
use crate::config::{Dtype, catalog};
use crate::kernels::measured::{
    RowSource, Table, TableReader, Tie, UnreadRow, Visitor, point, visit, visit_siblings,
};
use crate::kernels::{ExpertLoad, Family, Moe, MoePart, Op, Pool, Routing};

pub const READERS: &[TableReader] =
    &[(Family::Moe, "moe", visit_layers), (Family::Moe, "moe_triton_w13", visit_first)];

/// The name by which the features know the Triton kernel of SGLang, which PipeWeave timed.
const PIPEWEAVE_KERNEL: &str = "sglang_fused_moe_triton";

#[derive(Deserialize)]
struct MoeRow<'t> {
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
fn visit_layers(table: &Table, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    let shared = |run: &RowSource, row: &MoeRow| {
        let MoeRow { dtype, distribution, tokens, hidden, inter, topk, experts, tp, ep } = *row;
        let sizes = [tokens, hidden, inter, topk, experts, tp, ep];
        point((run.engine, &run.kernel, dtype, distribution, sizes))
    };
    let ungated = ungated();
    let deepseek_v3 = routed().find(|(_, model, _)| model.id == "deepseek-v3").map(|(shape, ..)| shape);
    let mut loads: HashMap<(Pool, &str, bool), ExpertLoad> = HashMap::new();
    visit_siblings(table, visitor, Tie::Faster, shared, |run, row| {
        let MoeRow { dtype, distribution, tokens, hidden, inter, topk, experts, tp, ep } = row;
        let weights = weights(dtype).ok_or_else(|| format!("experts in {dtype}"))?;
        let routing = routing(distribution).ok_or_else(|| format!("tokens routed by {distribution}"))?;
        let shape = [hidden, inter, topk, experts];
        let pool = Pool { tokens, experts, topk, ep };
        let gate = grouped_gate(&run.kernel, run.engine, weights, Some(shape) == deepseek_v3);
        let load = *loads.entry((pool, distribution, gate)).or_insert_with(|| match gate {
            true => through_gate(routing, &pool),
            false => routing.load(&pool),
        });
        let gated = !ungated.contains(&shape);
        let part = MoePart::Whole;
        let moe = Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load };
        Ok((weights, Op::Moe(moe), run))
    })
}

/// The routed experts of the catalog's models as `[hidden, inter, topk, experts]`, with their model. Where tokens are
/// projected to latents first, with the width of either: tables have both.
fn routed() -> impl Iterator<Item = ([u64; 4], &'static Model, &'static model::Moe)> {
    let moes = |model: &'static Model| {
        model.blocks.iter().filter_map(|blocks| match &blocks.ffn {
            Some(Ffn::Moe(moe)) => Some(moe),
            _ => None,
        })
    };
    catalog().models.models.iter().flat_map(move |model| {
        moes(model).flat_map(move |moe| {
            let widths = [Some(model.hidden), moe.latent].into_iter().flatten();
            widths.map(move |width| {
                ([width, moe.intermediate, moe.topk, moe.experts].map(u64::from), model, moe)
            })
        })
    })
}

/// Shapes of experts without a gate projection.
fn ungated() -> HashSet<[u64; 4]> {
    routed().filter(|(_, _, moe)| !moe.gated()).map(|(shape, ..)| shape).collect()
}

/// Whether the source put its routing scores through DeepSeek-V3's gate: on TensorRT-LLM's low-latency path always,
/// with the other engines for that model. On A100, in bf16 and int4, it called the kernels directly.
fn grouped_gate(kernel: &str, engine: &str, weights: Dtype, is_deepseek_v3: bool) -> bool {
    let model = is_deepseek_v3 && engine != "trtllm" && matches!(weights, Dtype::Fp8Block | Dtype::Nvfp4);
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
fn visit_first(table: &Table, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    visit(table.rows(), visitor, |mut run, row: FirstRow| {
        let FirstRow { gemm, tokens, experts, topk, hidden, inter } = row;
        if gemm != "w13" {
            return Err(format!("the GEMM {gemm} alone"));
        }
        (run.engine, run.kernel) = ("sglang", PIPEWEAVE_KERNEL.into());
        let load = Routing::Even.load(&Pool { tokens, experts, topk, ep: 1 });
        let (tp, ep, gated, part) = (1, 1, true, MoePart::First);
        let weights = Dtype::Bf16;
        let moe = Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load };
        Ok((weights, Op::Moe(moe), run))
    })
}
