//! Whether the GPU and the engine support the number formats, and whether this release has kernels for them.

use crate::config::catalog::numbers::formats::constants;
use crate::config::kernels::{WeightRule, WeightUse};
use crate::config::model::{Attention, Ffn};
use crate::config::{Dtype, Field, Gpu, Issue, Model, Parallelism};
use crate::units::counted;

/// Weight formats with a learned kernel model: of dense models, and of mixtures of experts.
const DENSE: [Dtype; 7] =
    [Dtype::Bf16, Dtype::Fp8, Dtype::Fp8Block, Dtype::Nvfp4, Dtype::Int8, Dtype::Int4, Dtype::W8a8];
const EXPERTS: [Dtype; 7] =
    [Dtype::Bf16, Dtype::Fp8, Dtype::Fp8Block, Dtype::Nvfp4, Dtype::Mxfp4, Dtype::Mxfp4Mxfp8, Dtype::Int4];

/// The formats with kernels in this release for `model`.
pub fn of_weights(model: &Model) -> &'static [Dtype] {
    if model.has_experts() { &EXPERTS } else { &DENSE }
}

/// KV cache formats with a learned kernel model.
pub const KV: [Dtype; 2] = [Dtype::Bf16, Dtype::Fp8];

/// The name of an engine, and its rules for weights.
type Rules<'a> = (&'a str, &'a [WeightRule]);

pub fn weights(dtype: Dtype, model: &Model, gpu: &Gpu, engine: Option<Rules<'_>>, issues: &mut Vec<Issue>) {
    let known = of_weights(model);
    let (engine, rules) = engine.unwrap_or(("The engine", &[]));
    let used = |dtype| WeightUse::of(rules, dtype, model, gpu.arch);
    let what = || format!("{} weights of {} on {}", name(dtype), model.name, gpu.name);
    let (why, instead) = match (gpu.multiplies(dtype), used(dtype)) {
        _ if !known.contains(&dtype) => {
            (format!("there are no kernels for {} weights of {}", name(dtype), model.name), "")
        }
        (_, WeightUse::TimedAs(other)) if known.contains(&other) => {
            let text = format!(
                "{} has no {} tensor cores: {engine} runs these weights with 16-bit activations (W8A16), and times are those of {}",
                gpu.name,
                name(dtype),
                other.name()
            );
            issues.push(Issue::warning(Field::Weights, text));
            return;
        }
        (_, WeightUse::TimedAs(_)) => {
            (format!("{engine} multiplies {} in 16 bits, with kernels that were not measured", what()), "")
        }
        (Err(missing), _) => (missing.to_string(), ""),
        (Ok(()), WeightUse::Refused) => {
            (format!("{engine} does not support {}", what()), ", or another engine")
        }
        (Ok(()), WeightUse::Own) => return,
    };
    let able = |dtype: &Dtype| used(*dtype).is_served(*dtype, model, gpu);
    let able: Vec<Dtype> = known.iter().copied().filter(able).collect();
    let text = match able.is_empty() {
        true => why,
        false => format!("{why}; on this GPU {}{instead}", list(&able)),
    };
    issues.push(Issue::error(Field::Weights, text));
}

pub fn kv(dtype: Dtype, gpu: &Gpu, issues: &mut Vec<Issue>) {
    if !KV.contains(&dtype) {
        let text = format!("no engine keeps a KV cache in `{}`; {}", dtype.id(), list(&KV));
        issues.push(Issue::error(Field::Kv, text));
    } else if dtype == Dtype::Fp8 && f64::from(gpu.sm) < constants().fp8_attention {
        let text = format!(
            "an FP8 KV cache is not predicted below compute capability 8.9 (Ada); {} has {}.{}: choose `bf16`",
            gpu.name,
            gpu.sm / 10,
            gpu.sm % 10
        );
        issues.push(Issue::error(Field::Kv, text));
    }
}

/// Engines shard block-scaled weights only at block boundaries, and refuse to load other splits.
pub fn blocks_divide(dtype: Dtype, model: &Model, parallel: Parallelism, issues: &mut Vec<Issue>) {
    if dtype != Dtype::Fp8Block || parallel.tp == 0 {
        return;
    }
    let block = constants().weight_block as u32;
    for blocks in &model.blocks {
        let shards = blocks.attention.iter().flat_map(|attention| attention_shards(attention, parallel.tp));
        let shards = shards.chain(blocks.ffn.iter().flat_map(|ffn| ffn_shards(ffn, parallel)));
        for (what, ranks, share) in shards.filter(|(_, _, share)| !share.is_multiple_of(block)) {
            let whole = if what == EXPERT_COLUMNS { whole_experts(model, parallel) } else { None };
            let instead = match whole {
                // Not even whole.
                _ if !(share * ranks).is_multiple_of(block) => String::new(),
                Some(ep) => format!("EP {ep}, fewer GPUs per layer or "),
                None => "fewer GPUs per layer or ".into(),
            };
            let text = format!(
                "{share} {what} per GPU on {} are not a multiple of {block}, as {block}×{block} weight blocks require: use \
                 {instead}another weight format",
                counted(ranks, "GPU"),
            );
            issues.push(Issue::error(Field::Tp, text));
        }
    }
}

const EXPERT_COLUMNS: &str = "columns of an expert";

/// The degree of EP that leaves experts whole, and each GPU as many of them; every engine has it.
fn whole_experts(model: &Model, parallel: Parallelism) -> Option<u32> {
    let all = parallel.gpus_per_stage();
    let mut ffns = model.blocks.iter().flat_map(|blocks| &blocks.ffn);
    let divides = ffns.all(|ffn| match ffn {
        Ffn::Moe(moe) => moe.experts.is_multiple_of(all),
        Ffn::Dense(_) => true,
    });
    Some(all).filter(|_| divides && parallel.ep != all)
}

/// What is sharded, over how many GPUs, and the columns per shard.
type Shard = (&'static str, u32, u32);

fn attention_shards(attention: &Attention, tp: u32) -> Vec<Shard> {
    let Attention::Gqa(gqa) = attention else { return Vec::new() };
    let kv_heads = (gqa.kv_heads / tp).max(1);
    vec![("columns of Q", tp, gqa.q_width() / tp), ("columns of K", tp, kv_heads * gqa.head_dim)]
}

fn ffn_shards(ffn: &Ffn, parallel: Parallelism) -> Vec<Shard> {
    match ffn {
        Ffn::Dense(dense) => vec![("MLP columns", parallel.tp, dense.intermediate / parallel.tp)],
        Ffn::Moe(moe) => {
            let ranks = parallel.expert_tp();
            vec![(EXPERT_COLUMNS, ranks, moe.intermediate / ranks)]
        }
    }
}

/// As in a sentence about what is supported.
fn name(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Fp8Block => "block-scaled FP8",
        Dtype::Mxfp4Mxfp8 => "MXFP4 with MXFP8 activations",
        other => other.name(),
    }
}

fn list(dtypes: &[Dtype]) -> String {
    let ids: Vec<&str> = dtypes.iter().map(|dtype| dtype.id()).collect();
    match ids.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("choose `{}` or `{last}`", rest.join("`, `")),
        _ => format!("choose `{}`", ids.concat()),
    }
}
