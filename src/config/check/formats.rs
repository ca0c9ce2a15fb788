//! Number formats against what the GPU multiplies and the release has kernels for.

use super::parallel::Cut;
use crate::config::model::{Attention, Ffn};
use crate::config::{Dtype, Field, Gpu, Issue, Model};

/// Weight formats with a kernel model in this release: of dense models, and of mixtures of experts.
const DENSE: [Dtype; 7] =
    [Dtype::Bf16, Dtype::Fp8, Dtype::Fp8Block, Dtype::Nvfp4, Dtype::Int8, Dtype::Int4, Dtype::W8a8];
const EXPERTS: [Dtype; 7] =
    [Dtype::Bf16, Dtype::Fp8, Dtype::Fp8Block, Dtype::Nvfp4, Dtype::Mxfp4, Dtype::Mxfp4Mxfp8, Dtype::Int4];

/// The formats that this release has kernels for, of `model`.
pub fn of_weights(model: &Model) -> &'static [Dtype] {
    if model.has_experts() { &EXPERTS } else { &DENSE }
}

/// KV cache formats with a kernel model in this release.
pub const KV: [Dtype; 2] = [Dtype::Bf16, Dtype::Fp8];

/// The first compute capability whose attention kernels read FP8.
const FP8_SM: u32 = 89;

/// Side of a weight block that shares one scale.
const BLOCK: u32 = 128;

pub fn weights(dtype: Dtype, model: &Model, gpu: &Gpu, issues: &mut Vec<Issue>) {
    let known = of_weights(model);
    if !known.contains(&dtype) {
        let text = format!(
            "{} weights of {} are not covered by this release; {}",
            name(dtype),
            model.name,
            list(known)
        );
        issues.push(Issue::error(Field::Weights, text));
        return;
    }
    if let Err(missing) = gpu.tensor_rate(dtype) {
        let able: Vec<Dtype> = known.iter().copied().filter(|dtype| gpu.supports(*dtype)).collect();
        let text = match able.is_empty() {
            true => missing.to_string(),
            false => format!("{missing}; on this GPU {}", list(&able)),
        };
        issues.push(Issue::error(Field::Weights, text));
    }
}

pub fn kv(dtype: Dtype, gpu: &Gpu, issues: &mut Vec<Issue>) {
    if !KV.contains(&dtype) {
        let text = format!("KV caches of {} are not covered by this release; {}", name(dtype), list(&KV));
        issues.push(Issue::error(Field::Kv, text));
    } else if dtype == Dtype::Fp8 && gpu.sm < FP8_SM {
        let text = format!(
            "an FP8 KV cache needs compute capability 8.9 (Ada) or later, {} has {}.{}; bf16 is right",
            gpu.name,
            gpu.sm / 10,
            gpu.sm % 10
        );
        issues.push(Issue::error(Field::Kv, text));
    }
}

/// Block-scaled weights are cut at block borders only, or the engines refuse to load them.
pub fn blocks_divide(dtype: Dtype, model: &Model, cut: Cut, issues: &mut Vec<Issue>) {
    if dtype != Dtype::Fp8Block || cut.tp == 0 {
        return;
    }
    for blocks in &model.blocks {
        let shares = blocks.attention.iter().flat_map(|attention| attention_shares(attention, cut.tp));
        let shares = shares.chain(blocks.ffn.iter().flat_map(|ffn| ffn_shares(ffn, cut)));
        for (what, ranks, share) in shares.filter(|(_, _, share)| !share.is_multiple_of(BLOCK)) {
            let text = format!(
                "{share} {what} on each of {ranks} GPUs: weights with {BLOCK}x{BLOCK} blocks of scales need a \
                 multiple of {BLOCK}"
            );
            issues.push(Issue::error(Field::Tp, text));
        }
    }
}

/// What is cut, over how many GPUs, and the columns each gets.
type Share = (&'static str, u32, u32);

fn attention_shares(attention: &Attention, tp: u32) -> Vec<Share> {
    let Attention::Gqa(gqa) = attention else { return Vec::new() };
    let kv_heads = (gqa.kv_heads / tp).max(1);
    vec![("columns of Q", tp, gqa.q_width() / tp), ("columns of K", tp, kv_heads * gqa.head_dim)]
}

fn ffn_shares(ffn: &Ffn, cut: Cut) -> Vec<Share> {
    match ffn {
        Ffn::Dense(dense) => vec![("MLP columns", cut.tp, dense.intermediate / cut.tp)],
        Ffn::Moe(moe) => {
            let ranks = (cut.tp * cut.dp / cut.ep.max(1)).max(1);
            vec![("columns of an expert", ranks, moe.intermediate / ranks)]
        }
    }
}

fn name(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bf16 => "BF16",
        Dtype::Fp8 => "FP8",
        Dtype::Fp8Block => "block-scaled FP8",
        Dtype::Nvfp4 => "NVFP4",
        Dtype::Mxfp4 => "MXFP4",
        Dtype::Mxfp4Mxfp8 => "MXFP4 with MXFP8 activations",
        Dtype::Int8 => "weight-only INT8",
        Dtype::Int4 => "weight-only INT4",
        Dtype::W8a8 => "INT8 (W8A8)",
    }
}

fn list(dtypes: &[Dtype]) -> String {
    let ids: Vec<&str> = dtypes.iter().map(|dtype| dtype.id()).collect();
    match ids.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last} is right", rest.join(", ")),
        _ => format!("{} is right", ids.concat()),
    }
}
