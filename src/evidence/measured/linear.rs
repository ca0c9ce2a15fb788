//! Measured linear attention.

use std::path::Path;

use super::calls::{self, Calls};
use super::siblings::{Point, SUSPECT, Siblings};
use super::{Measured, Visitor};
use crate::config::Dtype;
use crate::evidence::tables::{Table, TableError};
use crate::kernels::{CausalConv, DeltaRule, Op, Phase, Sequences};

/// The SGLang whose convolutions were CUDA kernels yet, with the width of the keys as TensorRT-LLM's.
const CUDA_CONVOLUTION: &str = "0.5.10";

/// Visits the gated delta net: convolutions of queries, keys and values together, and the delta rule.
///
/// TensorRT-LLM's convolutions were measured over the keys alone: their times do not change with the value
/// heads, lie below what the whole width moves, and equal those of Mamba-2 at the width of the keys.
pub(super) fn visit_delta(path: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let table = read(path, &["d_conv", "num_k_heads", "head_k_dim", "num_v_heads", "head_v_dim"])?;
    let numbers = |name| table.numbers(name);
    let (taps, key_heads, key_dim) = (numbers("d_conv")?, numbers("num_k_heads")?, numbers("head_k_dim")?);
    let (value_heads, value_dim) = (numbers("num_v_heads")?, numbers("head_v_dim")?);
    let engine = table.texts("engine")?;
    visit(&table, visitor, &|kernel, row, phase, sequences| {
        let (key_heads, key_dim) = (key_heads[row] as u64, key_dim[row] as u64);
        let (value_heads, value_dim) = (value_heads[row] as u64, value_dim[row] as u64);
        if kernel.starts_with("causal_conv1d") {
            let keys_alone = engine.get(row) == "trtllm" || kernel.ends_with("_cuda");
            let all = 2 * key_heads * key_dim + value_heads * value_dim;
            let channels = if keys_alone { key_heads * key_dim } else { all };
            Op::CausalConv(CausalConv { phase, sequences, channels, taps: taps[row] as u64 })
        } else {
            Op::DeltaRule(DeltaRule { phase, sequences, key_heads, value_heads, key_dim, value_dim })
        }
    })
}

/// Visits Mamba-2: convolutions of values, and of the keys and queries of all groups, together.
pub(super) fn visit_mamba(path: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let table = read(path, &["d_state", "d_conv", "nheads", "head_dim", "n_groups"])?;
    let numbers = |name| table.numbers(name);
    let (state, taps, groups) = (numbers("d_state")?, numbers("d_conv")?, numbers("n_groups")?);
    let (heads, head_dim) = (numbers("nheads")?, numbers("head_dim")?);
    visit(&table, visitor, &|_, row, phase, sequences| {
        let channels = (heads[row] * head_dim[row] + 2.0 * groups[row] * state[row]) as u64;
        Op::CausalConv(CausalConv { phase, sequences, channels, taps: taps[row] as u64 })
    })
}

/// The columns both tables have, and those of its own.
fn read(path: &Path, own: &[&str]) -> Result<Table, TableError> {
    calls::read(path, &[&["engine_version", "phase", "batch", "seq_len"], own].concat())
}

/// What a row's kernel was asked.
type Call<'a> = dyn Fn(&str, usize, Phase, Vec<Sequences>) -> Op + 'a;

fn visit(table: &Table, visitor: &mut Visitor<'_>, call: &Call<'_>) -> Result<(), TableError> {
    let calls = Calls::of(table)?;
    let (version, phase) = (table.texts("engine_version")?, table.texts("phase")?);
    let (batch, length) = (table.numbers("batch")?, table.numbers("seq_len")?);
    let mut all = Vec::new();
    for row in 0..calls.micros.len() {
        let phase = match phase.get(row) {
            "context" => Phase::Prefill,
            "generation" => Phase::Decode,
            other => {
                visitor(Err(format!("linear attention in phase {other}")));
                continue;
            }
        };
        let mut kernel = calls.kernel.get(row).to_owned();
        if version.get(row) == CUDA_CONVOLUTION && kernel.starts_with("causal_conv1d") {
            kernel.push_str("_cuda");
        }
        let new = if phase == Phase::Decode { 1 } else { length[row] as u64 };
        let sequences = vec![Sequences { count: batch[row] as u64, new, past: 0 }];
        let call = call(&kernel, row, phase, sequences);
        let point = point(u64::from(calls.engine.codes[row]), &kernel, &call);
        all.push((point, Measured { kernel, ..calls.measured(row, Dtype::Bf16, call) }));
    }
    let mut siblings = Siblings::default();
    for (point, measured) in &all {
        siblings.add(point.clone(), &measured.gpu, measured.micros);
    }
    for (point, measured) in all {
        if siblings.agree(point, &measured.gpu, measured.micros) {
            visitor(Ok(measured));
        } else {
            visitor(Err(format!("{SUSPECT} ({} on {})", measured.engine, measured.gpu)));
        }
    }
    Ok(())
}

/// What the siblings of a call share with it.
fn point(engine: u64, kernel: &str, call: &Op) -> Point {
    let kernel = kernel.bytes().fold(0u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let point = call.point();
    [engine, kernel].into_iter().chain(point.shape).chain(point.size).collect()
}
