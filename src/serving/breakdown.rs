//! A finished step taken apart: one line a kernel, shares, and what limits it.

use std::collections::BTreeMap;

use crate::config::Setup;
use crate::graph::{Collective, Elementwise, Latent, LatentHeads, Linear, Op, Phase, Reach, Sequences};
use crate::latency::Resource;
use crate::units::{Bytes, Flops, Seconds, count, percent};

use super::report::{KernelLine, PassReport};
use super::step::{FinishedStep, PlannedStep};

/// Reports `step`, whose times are `finished`.
pub fn breakdown(setup: &Setup, step: &PlannedStep, finished: &FinishedStep, phase: Phase) -> PassReport {
    let total = finished.time.total();
    let mut kernels: Vec<KernelLine> = Vec::new();
    for (planned, time) in step.calls.iter().zip(&finished.times) {
        let launches = planned.call.count;
        let line = KernelLine {
            block: planned.call.block,
            name: planned.call.name,
            shape: shape(&planned.call.op),
            count: launches,
            flops: planned.count.flops,
            bytes: planned.count.bytes,
            intensity: intensity(planned.count.flops, planned.count.bytes),
            roofline: time.ideal,
            ceiling: time.ceiling,
            time: time.time,
            efficiency: time.efficiency(),
            share: time.time * launches as f64 / total,
            limit: time.limit,
            provenance: time.provenance,
            bounds: time.bounds,
            outside: time.outside,
            schedule: planned.count.schedule.clone(),
            math: planned.count.math,
        };
        // The same kernel of several groups of layers is one line.
        let twin = kernels
            .iter_mut()
            .find(|other| (other.block, other.name, &other.shape) == (line.block, line.name, &line.shape));
        match twin {
            Some(twin) => {
                twin.count += line.count;
                twin.share += line.share;
            }
            None => kernels.push(line),
        }
    }
    let (limit, limit_share) = limiting(&kernels, finished.time.host / total);
    let tokens = step.batch.tokens();
    let sequences = step.batch.count();
    let past: u64 = step.batch.sequences.iter().map(|group| group.count * group.past).sum();
    PassReport {
        phase,
        sequences,
        tokens,
        past: past as f64 / sequences.max(1) as f64,
        time: total,
        host: finished.time.host,
        sentence: sentence(phase, limit, limit_share, &kernels),
        limit,
        limit_share,
        mfu: mfu(setup, step, total),
        mbu: mbu(setup, step, total),
        kernels,
    }
}

/// FLOP per compulsory byte; none where nothing is multiplied or nothing must be moved.
fn intensity(flops: Flops, bytes: Bytes) -> Option<f64> {
    (flops.0 > 0.0 && bytes.0 > 0.0).then(|| flops.0 / bytes.0)
}

/// Against the dense peak of the weights' format: FLOP of all kernels over what the GPU could do.
fn mfu(setup: &Setup, step: &PlannedStep, total: Seconds) -> f64 {
    let flops: Flops = step.calls.iter().map(|call| call.count.flops * call.call.count as f64).sum();
    // Pipeline stages work one after another on a step: each holds its share of the kernels.
    let stages = f64::from(setup.pp);
    setup.gpu.peak(setup.weights).map_or(f64::NAN, |peak| (flops / peak) / total / stages)
}

/// Weight and KV bytes touched over step time and peak bandwidth.
fn mbu(setup: &Setup, step: &PlannedStep, total: Seconds) -> f64 {
    let stored: Bytes = step.calls.iter().map(|call| call.count.stored * call.call.count as f64).sum();
    let stages = f64::from(setup.pp);
    setup.gpu.bandwidth().map_or(f64::NAN, |peak| (stored / peak) / total / stages)
}

fn limiting(kernels: &[KernelLine], host_share: f64) -> (Resource, f64) {
    let mut shares = BTreeMap::from([(Resource::Launch, host_share)]);
    for line in kernels {
        *shares.entry(line.limit).or_default() += line.share;
    }
    let most = shares.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    most.unwrap_or((Resource::Launch, 0.0))
}

fn sentence(phase: Phase, limit: Resource, share: f64, kernels: &[KernelLine]) -> String {
    let phase = match phase {
        Phase::Prefill => "Prefill",
        Phase::Decode => "Decode",
    };
    let (resource, kind) = match limit {
        Resource::Compute => ("the tensor cores", "compute-bound kernels"),
        Resource::Memory => ("memory bandwidth", "kernels that wait for device memory"),
        Resource::Network => ("the links between GPUs", "collectives"),
        Resource::Launch => ("launch latency and the host", "kernels too small to fill the GPU and the host"),
    };
    let largest =
        kernels.iter().filter(|line| line.limit == limit).max_by(|a, b| a.share.total_cmp(&b.share));
    let most = largest.map_or(String::new(), |line| format!(", {} alone {}", line.name, percent(line.share)));
    format!("{phase} is limited by {resource}: {} of the step goes to {kind}{most}.", percent(share))
}

/// A call's size in words.
fn shape(op: &Op) -> String {
    match op {
        Op::Gemm(gemm) => format!("{} × {} × {}", gemm.m, gemm.n, gemm.k),
        Op::Attention(attention) => {
            let heads = format!("{}/{} heads × {}", attention.heads, attention.kv_heads, attention.head_dim);
            let window = attention.window.map_or(String::new(), |keys| format!(", window {keys}"));
            format!("{}, {heads}{window}", lengths(&attention.sequences))
        }
        Op::Moe(moe) => {
            let (experts, width) = (moe.local_experts(), moe.width());
            format!("{} tokens, {experts} experts × {} × {width}", moe.tokens, moe.hidden)
        }
        Op::Latent(latent) => latent_shape(latent),
        Op::Linear(linear) => match linear {
            Linear::Conv(conv) => format!("{}, {} channels", lengths(&conv.sequences), conv.channels),
            Linear::Delta(delta) => {
                let heads = format!("{}/{} heads", delta.key_heads, delta.value_heads);
                format!("{}, {heads} × {}", lengths(&delta.sequences), delta.value_dim)
            }
        },
        Op::Scan(scan) => {
            format!("{}, {} heads × {} × {}", lengths(&scan.sequences), scan.heads, scan.head_dim, scan.state)
        }
        Op::Scores(scores) => {
            format!("{}, {} heads × {}", lengths(&scores.sequences), scores.heads, scores.head_dim)
        }
        Op::Elementwise(op) => {
            let (rows, width) = match *op {
                Elementwise::Norm { rows, width }
                | Elementwise::AddNorm { rows, width }
                | Elementwise::Add { rows, width }
                | Elementwise::QkNorm { rows, width }
                | Elementwise::SiluMul { rows, width }
                | Elementwise::Rope { rows, width }
                | Elementwise::Embedding { rows, width }
                | Elementwise::Mix { rows, width }
                | Elementwise::Sampling { rows, width } => (rows, width),
            };
            format!("{rows} × {width}")
        }
        Op::Collective(collective) => match collective {
            Collective::AllReduce { ranks, bytes }
            | Collective::AllGather { ranks, bytes }
            | Collective::ReduceScatter { ranks, bytes }
            | Collective::AllToAll { ranks, bytes } => {
                format!("{} over {ranks} GPUs", bytes.print())
            }
            Collective::SendRecv { bytes, .. } => bytes.print().to_string(),
        },
    }
}

fn latent_shape(latent: &Latent) -> String {
    let block = |sequences: &[Sequences], heads: &LatentHeads| {
        format!("{}, {} heads × {}", lengths(sequences), heads.heads, heads.cached())
    };
    match latent {
        Latent::Attention(call) => {
            let reach = match call.reach {
                None => String::new(),
                Some(Reach { ratio: None, window, .. }) => format!(", window {window}"),
                Some(Reach { ratio: Some(ratio), topk: None, .. }) => format!(", 1 key in {ratio}"),
                Some(Reach { ratio: Some(ratio), topk: Some(topk), .. }) => {
                    format!(", top {topk} of 1 key in {ratio}")
                }
            };
            block(&call.sequences, &call.heads) + &reach
        }
        Latent::Bmm(bmm) => format!("{} × ({} × {} × {})", bmm.count, bmm.m, bmm.n, bmm.k),
        Latent::Module(module) => block(&module.sequences, &module.heads),
        Latent::Sparse(sparse) => {
            let choice = if sparse.indexes { "" } else { ", choice borrowed" };
            block(&sparse.module.sequences, &sparse.module.heads) + choice
        }
    }
}

fn lengths(sequences: &[Sequences]) -> String {
    let number: u64 = sequences.iter().map(|group| group.count).sum();
    let new: u64 = sequences.iter().map(|group| group.count * group.new).sum();
    let past: u64 = sequences.iter().map(|group| group.count * group.past).sum();
    let each = |tokens: u64| count((tokens as f64 / number.max(1) as f64).round());
    match past {
        0 => format!("{number} × {} tokens", each(new)),
        _ => format!("{number} × {} tokens on {} cached", each(new), each(past)),
    }
}
