//! Measured attention kernels.

use std::path::Path;

use super::calls::{self, Calls};
use super::{Measured, Visitor};
use crate::config::Dtype;
use crate::evidence::tables::{Table, TableError};
use crate::kernels::{Attention, Op, Phase, Sequences};

/// Visits the rows of one phase in the reference source's table.
pub(super) fn visit(path: &Path, phase: Phase, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let own = ["dtype", "kv_dtype", "batch", "q_len", "kv_len", "heads", "kv_heads", "head_dim", "window"];
    let table = calls::read(path, &own)?;
    let calls = Calls::of(&table)?;
    let (dtype, kv) = (table.texts("dtype")?, table.texts("kv_dtype")?);
    let numbers = |name| table.numbers(name);
    let (batch, q_len, kv_len) = (numbers("batch")?, numbers("q_len")?, numbers("kv_len")?);
    let (heads, kv_heads, head_dim) = (numbers("heads")?, numbers("kv_heads")?, numbers("head_dim")?);
    let window = numbers("window")?;
    for row in 0..calls.micros.len() {
        let (Some(math), Some(kv)) = (Dtype::from_id(dtype.get(row)), Dtype::from_id(kv.get(row))) else {
            visitor(Err(format!("attention in {} over {}", dtype.get(row), kv.get(row))));
            continue;
        };
        let new = q_len[row] as u64;
        let sequences = Sequences { count: batch[row] as u64, new, past: kv_len[row] as u64 - new };
        let attention = Attention {
            phase,
            sequences: vec![sequences],
            heads: heads[row] as u64,
            kv_heads: kv_heads[row] as u64,
            head_dim: head_dim[row] as u64,
            kv,
            window: (window[row] > 0.0).then_some(window[row] as u64),
        };
        visitor(Ok(calls.measured(row, math, Op::Attention(attention))));
    }
    Ok(())
}

/// The second sources whose decode rows say without doubt how long each sequence is.
const CLEAR_DECODE: [&str; 3] = ["infersim", "inference-sim", "llmservingsim-v1.1"];

/// Visits the rows of one phase in the second sources' table. Launches with a prompt and decoding sequences
/// are prompts'.
pub(super) fn visit_second(path: &Path, phase: Phase, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let wanted = [
        "source",
        "gpu",
        "kernel",
        "kv_dtype",
        "heads",
        "kv_heads",
        "head_dim",
        "prefill_tokens",
        "prefill_past_kv",
        "decode_seqs",
        "decode_kv",
        "latency_us",
    ];
    let table = Table::read(path, &wanted)?;
    let texts = |name| table.texts(name);
    let (source, gpu, kernel, kv) = (texts("source")?, texts("gpu")?, texts("kernel")?, texts("kv_dtype")?);
    let numbers = |name| table.numbers(name);
    let (heads, kv_heads, head_dim) = (numbers("heads")?, numbers("kv_heads")?, numbers("head_dim")?);
    let (prompt, prompt_past) = (numbers("prefill_tokens")?, numbers("prefill_past_kv")?);
    let (decoding, decode_kv) = (numbers("decode_seqs")?, numbers("decode_kv")?);
    for (row, &micros) in numbers("latency_us")?.iter().enumerate() {
        let of_prompt = prompt[row] > 0.0;
        // The other phase's, which its own family visits.
        if of_prompt != (phase == Phase::Prefill) {
            continue;
        }
        if !of_prompt && !CLEAR_DECODE.contains(&source.get(row)) {
            visitor(Err(format!("lengths of decoding sequences in doubt in {}", source.get(row))));
            continue;
        }
        let prompts = Sequences { count: 1, new: prompt[row] as u64, past: prompt_past[row] as u64 };
        let decodes = Sequences { count: decoding[row] as u64, new: 1, past: decode_kv[row] as u64 };
        let sequences: Vec<Sequences> =
            [prompts, decodes].into_iter().filter(|group| group.count * group.new > 0).collect();
        let Some(kv) = Dtype::from_id(kv.get(row)) else {
            visitor(Err(format!("KV cache in {}", kv.get(row))));
            continue;
        };
        let attention = Attention {
            phase,
            sequences,
            heads: heads[row] as u64,
            kv_heads: kv_heads[row] as u64,
            head_dim: head_dim[row] as u64,
            kv,
            window: None,
        };
        visitor(Ok(Measured {
            source: source.get(row).into(),
            gpu: gpu.get(row).into(),
            engine: String::new(),
            kernel: kernel.get(row).into(),
            dtype: Dtype::Bf16,
            op: Op::Attention(attention),
            micros,
        }));
    }
    Ok(())
}
