//! Measured attention kernels.

use serde::Deserialize;

use crate::config::Dtype;
use crate::kernels::Phase::{Decode, Prefill};
use crate::kernels::measured::{Skipped, Table, TableReader, UnreadRow, Visitor, visit};
use crate::kernels::{Attention, Family, Op, Phase, Sequences};

pub const READERS: &[TableReader] = &[
    (Family::AttentionPrefill, "attention_prefill", |table, visitor| visit_phase(table, Prefill, visitor)),
    (Family::AttentionPrefill, "attention_second_source", |table, visitor| {
        visit_second(table, Prefill, visitor)
    }),
    (Family::AttentionDecode, "attention_decode", |table, visitor| visit_phase(table, Decode, visitor)),
    (Family::AttentionDecode, "attention_second_source", |table, visitor| {
        visit_second(table, Decode, visitor)
    }),
];

#[derive(Deserialize)]
struct AttentionRow<'t> {
    dtype: &'t str,
    kv_dtype: &'t str,
    batch: u64,
    /// Tables of power name new tokens and those before them otherwise.
    #[serde(alias = "isl")]
    q_len: u64,
    kv_len: Option<u64>,
    step: Option<u64>,
    heads: u64,
    kv_heads: u64,
    head_dim: u64,
    window: u64,
}

/// Visits the rows of one phase in the reference source's table.
fn visit_phase(table: &Table, phase: Phase, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    visit(table.rows(), visitor, |run, row: AttentionRow| {
        let AttentionRow { dtype, kv_dtype, batch, q_len, kv_len, step, heads, kv_heads, head_dim, window } =
            row;
        let (Some(math), Some(kv)) = (Dtype::from_id(dtype), Dtype::from_id(kv_dtype)) else {
            return Err(format!("attention in {dtype} over {kv_dtype}"));
        };
        let sequences = vec![Sequences { count: batch, new: q_len, past: past(q_len, kv_len, step)? }];
        let window = (window > 0).then_some(window);
        Ok((math, Op::Attention(Attention { phase, sequences, heads, kv_heads, head_dim, kv, window }), run))
    })
}

/// Tokens before the new ones: as given, or all tokens minus the new ones.
pub(in crate::kernels) fn past(new: u64, all: Option<u64>, before: Option<u64>) -> Result<u64, Skipped> {
    before
        .or(all.map(|all| all.saturating_sub(new)))
        .ok_or_else(|| "a call without a length of its history".into())
}

/// The secondary sources whose decode rows state the length of each sequence.
const CLEAR_DECODE: [&str; 3] = ["infersim", "inference-sim", "llmservingsim-v1.1"];

#[derive(Deserialize)]
struct SecondRow<'t> {
    kv_dtype: &'t str,
    heads: u64,
    kv_heads: u64,
    head_dim: u64,
    prefill_tokens: u64,
    prefill_past_kv: u64,
    decode_seqs: u64,
    decode_kv: u64,
}

/// Visits the rows of one phase in the secondary sources' table. Launches that contain prompts as well as decoding
/// sequences count as prefill.
fn visit_second(table: &Table, phase: Phase, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    // The other phase's rows are visited by its own family.
    let others = |row: &SecondRow| (row.prefill_tokens > 0) != (phase == Phase::Prefill);
    let rows = table.rows().filter(|row| !row.as_ref().is_ok_and(|(_, row)| others(row)));
    visit(rows, visitor, |run, row| {
        let SecondRow { heads, kv_heads, head_dim, kv_dtype, .. } = row;
        if phase == Phase::Decode && !CLEAR_DECODE.contains(&run.source) {
            return Err(format!("uncertain sequence lengths in decode ({})", run.source));
        }
        let prompts = Sequences { count: 1, new: row.prefill_tokens, past: row.prefill_past_kv };
        let decodes = Sequences { count: row.decode_seqs, new: 1, past: row.decode_kv };
        let sequences = [prompts, decodes].into_iter().filter(|group| group.count * group.new > 0).collect();
        let kv = Dtype::from_id(kv_dtype).ok_or_else(|| format!("KV cache in {kv_dtype}"))?;
        let attention = Attention { phase, sequences, heads, kv_heads, head_dim, kv, window: None };
        Ok((Dtype::Bf16, Op::Attention(attention), run))
    })
}
