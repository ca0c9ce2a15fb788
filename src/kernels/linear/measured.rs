//! Measured linear attention.

use serde::Deserialize;

use crate::config::Dtype;
use crate::kernels::measured::{
    RowSource, Skipped, Table, TableReader, Tie, UnreadRow, Visitor, point, visit_siblings,
};
use crate::kernels::{CausalConv, DeltaRule, Family, Op, Phase, Sequences};

pub const READERS: &[TableReader] = &[
    (Family::LinearAttention, "gated_delta_net", visit_delta),
    (Family::LinearAttention, "mamba2", visit_mamba),
];

/// The SGLang version whose convolutions were still CUDA kernels, as wide as the keys, like TensorRT-LLM's.
const CUDA_CONVOLUTION: &str = "0.5.10";

#[derive(Deserialize)]
struct DeltaRow<'t> {
    engine_version: &'t str,
    phase: &'t str,
    batch: u64,
    seq_len: u64,
    d_conv: u64,
    num_k_heads: u64,
    head_k_dim: u64,
    num_v_heads: u64,
    head_v_dim: u64,
}

/// Visits the gated delta net: convolutions of queries, keys and values together, and the delta rule.
///
/// TensorRT-LLM's convolutions were measured over the keys alone: their times do not change with the value
/// heads, lie below what the whole width moves, and equal those of Mamba-2 at the width of the keys.
fn visit_delta(table: &Table, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    visit_calls(table, visitor, |run, row: &DeltaRow| {
        let (phase, sequences) = start(run, row.engine_version, row.phase, row.batch, row.seq_len)?;
        let (key_heads, key_dim) = (row.num_k_heads, row.head_k_dim);
        let (value_heads, value_dim) = (row.num_v_heads, row.head_v_dim);
        if !run.kernel.starts_with("causal_conv1d") {
            let delta = DeltaRule { phase, sequences, key_heads, value_heads, key_dim, value_dim };
            return Ok(Op::DeltaRule(delta));
        }
        let keys_alone = run.engine == "trtllm" || run.kernel.ends_with("_cuda");
        let all = 2 * key_heads * key_dim + value_heads * value_dim;
        let channels = if keys_alone { key_heads * key_dim } else { all };
        Ok(Op::CausalConv(CausalConv { phase, sequences, channels, taps: row.d_conv }))
    })
}

#[derive(Deserialize)]
struct MambaRow<'t> {
    engine_version: &'t str,
    phase: &'t str,
    batch: u64,
    seq_len: u64,
    d_conv: u64,
    d_state: u64,
    nheads: u64,
    head_dim: u64,
    n_groups: u64,
}

/// Visits Mamba-2: convolutions of values, and of the keys and queries of all groups, together.
fn visit_mamba(table: &Table, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    visit_calls(table, visitor, |run, row: &MambaRow| {
        let (phase, sequences) = start(run, row.engine_version, row.phase, row.batch, row.seq_len)?;
        if !run.kernel.starts_with("causal_conv1d") {
            return Err(format!("the scan of Mamba-2 by {}", run.kernel));
        }
        let channels = row.nheads * row.head_dim + 2 * row.n_groups * row.d_state;
        Ok(Op::CausalConv(CausalConv { phase, sequences, channels, taps: row.d_conv }))
    })
}

/// Phase and sequences of a row, with the kernel named as the models know it.
fn start(
    run: &mut RowSource<'_>,
    version: &str,
    phase: &str,
    batch: u64,
    length: u64,
) -> Result<(Phase, Vec<Sequences>), Skipped> {
    let (phase, new) = match phase {
        "context" => (Phase::Prefill, length),
        "generation" => (Phase::Decode, 1),
        other => return Err(format!("linear attention in phase {other}")),
    };
    if version == CUDA_CONVOLUTION && run.kernel.starts_with("causal_conv1d") {
        run.kernel.to_mut().push_str("_cuda");
    }
    Ok((phase, vec![Sequences { count: batch, new, past: 0 }]))
}

fn visit_calls<'t, R: Deserialize<'t>>(
    table: &'t Table,
    visitor: &mut Visitor<'_>,
    read: impl Fn(&mut RowSource<'t>, &R) -> Result<Op, Skipped>,
) -> Result<(), UnreadRow> {
    let shared = |run: &RowSource<'t>, row: &R| {
        let mut run = run.clone();
        let op = read(&mut run, row).map(|op| (op.point().shape, op.point().size));
        point((run.engine, &run.kernel, op))
    };
    visit_siblings(table, visitor, Tie::Faster, shared, |mut run, row| {
        let op = read(&mut run, &row)?;
        Ok((Dtype::Bf16, op, run))
    })
}
