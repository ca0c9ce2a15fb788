//! Breaks a finished step down: one line per kernel, shares, and what limits it.

use std::collections::BTreeMap;

use crate::config::Setup;
use crate::graph::Phase;
use crate::kernels::{Count, Op};
use crate::latency::{PowerModel, Resource};
use crate::units::{Bytes, Flops, Seconds, Watts, percent};

use super::report::{KernelLine, LEAST_SAVING, PassReport};
use super::step::{FinishedStep, PlannedCall, PlannedStep};

/// Reports `step`, timed by `finished`.
pub fn breakdown(setup: &Setup, step: &PlannedStep, finished: &FinishedStep, phase: Phase) -> PassReport {
    let total = finished.time.total;
    let mut kernels: Vec<KernelLine> = Vec::new();
    for (planned, time) in step.calls.iter().zip(&finished.times) {
        let launches = planned.call.count;
        let in_l2 = time.limit == Resource::Launch && in_l2(setup, &planned.count) > time.ideal;
        let (ceiling, schedule) = match time.beats_ceiling() {
            true => (time.ideal, None),
            false => (time.ceiling, planned.count.schedule.clone()),
        };
        let line = KernelLine {
            block: planned.call.block,
            name: planned.call.name,
            shape: planned.call.op.shape(),
            count: launches,
            flops: planned.count.flops,
            bytes: planned.count.operands,
            traffic: planned.count.bytes,
            intensity: intensity(planned.count.flops, planned.count.bytes),
            roofline: time.ideal,
            ceiling,
            time: time.time,
            efficiency: time.efficiency(),
            share: time.time * launches as f64 / total,
            limit: if in_l2 { Resource::Memory } else { time.limit },
            in_l2,
            provenance: time.provenance,
            bounds: time.bounds,
            outside: time.outside,
            schedule,
            math: planned.count.math,
        };
        // The same kernel in several groups of layers is one line.
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
    let of_host = finished.time.host + finished.time.beside;
    let is_set_by_host = total - of_host < total * LEAST_SAVING;
    let (limit, limit_share) = match is_set_by_host {
        true => (Resource::Launch, of_host / total),
        false => limiting(&kernels, finished.time.host / total),
    };
    let tokens = step.batch.tokens();
    let sequences = step.batch.count();
    let past: u64 = step.batch.sequences.iter().map(|group| group.count * group.past).sum();
    PassReport {
        phase,
        sequences,
        padding: step.batch.padding,
        tokens,
        past: past as f64 / sequences.max(1) as f64,
        time: total,
        host: finished.time.host,
        beside: finished.time.beside,
        power: power(setup, finished),
        sentence: match is_set_by_host {
            true => format!(
                "{}: its work takes as long as the step, so faster kernels would not shorten it.",
                by_host(phase)
            ),
            false => sentence(phase, (limit, limit_share), &kernels, finished.time.host / total),
        },
        limit,
        limit_share,
        mfu: mfu(setup, step, total),
        mbu: mbu(setup, step, total),
        kernels,
    }
}

/// The time to read from L2 what the previous kernel left there; `None` if the L2 bandwidth is unknown.
fn in_l2(setup: &Setup, count: &Count) -> Seconds {
    let bytes = (count.operands - count.bytes).max(Bytes::ZERO);
    setup.gpu.l2_bandwidth().map_or(Seconds::ZERO, |bandwidth| bytes / bandwidth)
}

/// Pipeline stages work in turn, and idle otherwise.
fn power(setup: &Setup, finished: &FinishedStep) -> Option<Watts> {
    let idle = PowerModel::of(setup).ok()?.idle;
    Some(idle + Watts(finished.joules.0 / finished.time.total.0 / f64::from(setup.parallel.pp)))
}

/// FLOP per compulsory byte; `None` if nothing is multiplied or moved.
fn intensity(flops: Flops, bytes: Bytes) -> Option<f64> {
    (flops.0 > 0.0 && bytes.0 > 0.0).then(|| flops.0 / bytes.0)
}

/// FLOP of the model per GPU over the dense peak of the weights' format. Experts count with a balanced share: the
/// additional work of the busiest rank is not the model's.
fn mfu(setup: &Setup, step: &PlannedStep, total: Seconds) -> f64 {
    let share = |call: &PlannedCall| match &call.call.op {
        Op::Moe(experts) => experts.balance(),
        _ => 1.0,
    };
    let flops: Flops =
        step.calls.iter().map(|call| call.count.flops * call.call.count as f64 * share(call)).sum();
    // Pipeline stages work in turn on a step: each has its share of the kernels.
    let stages = f64::from(setup.parallel.pp);
    setup.peak().map_or(f64::NAN, |peak| (flops / peak) / total / stages)
}

/// Weight and KV bytes touched over step time and peak bandwidth.
fn mbu(setup: &Setup, step: &PlannedStep, total: Seconds) -> f64 {
    let stored: Bytes = step.calls.iter().map(|call| call.count.stored * call.call.count as f64).sum();
    let stages = f64::from(setup.parallel.pp);
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

fn by_host(phase: Phase) -> String {
    format!("{} is limited by the host", phase.name())
}

/// `host`: the share of the step that is host time not hidden.
fn sentence(phase: Phase, (limit, share): (Resource, f64), kernels: &[KernelLine], host: f64) -> String {
    let small = share - host;
    if limit == Resource::Launch && host > small {
        let rest = format!("kernels too small to fill the GPU take another {}", percent(small));
        return format!("{}: the GPU waits for it {} of the step; {rest}.", by_host(phase), percent(host));
    }
    let (resource, kind) = match limit {
        Resource::Compute => ("the tensor cores", "compute-bound kernels"),
        Resource::Memory => ("memory bandwidth", "kernels that wait for memory"),
        Resource::Network => ("the links between GPUs", "collectives"),
        Resource::Launch => ("launch latency and the host", "the host and kernels too small to fill the GPU"),
    };
    let largest =
        kernels.iter().filter(|line| line.limit == limit).max_by(|a, b| a.share.total_cmp(&b.share));
    let most =
        largest.map_or(String::new(), |line| format!(" ({} alone: {})", line.name, percent(line.share)));
    let phase = phase.name();
    format!("{phase} is limited by {resource}: {} of the step goes to {kind}{most}.", percent(share))
}
