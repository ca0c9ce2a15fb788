//! Measured kernel calls, read from the tables as the calls the core counts.

use std::path::Path;

use super::tables::{Table, TableError};
use crate::config::Dtype;
use crate::features::Family;
use crate::graph::{Attention, Gemm, Phase, Sequences};

/// The source that efficiencies are on the scale of; others carry a bias.
pub const REFERENCE_SOURCE: &str = "aiconfigurator";

/// One measured call.
#[derive(Debug, Clone)]
pub struct Measured {
    pub source: String,
    pub gpu: String,
    /// Catalog id; empty where a source names none.
    pub engine: String,
    /// The attention kernel, as the table names it.
    pub kernel: String,
    /// The format the table gives for the call.
    pub dtype: Dtype,
    pub op: MeasuredOp,
    pub micros: f64,
}

#[derive(Debug, Clone)]
pub enum MeasuredOp {
    Gemm(Gemm),
    /// And the format that queries and keys are multiplied in.
    Attention(Attention, Dtype),
}

impl Measured {
    /// What is held out together: weights' shape, or head layout.
    pub fn shape(&self) -> [u64; 3] {
        match &self.op {
            MeasuredOp::Gemm(gemm) => [gemm.n, gemm.k, 0],
            MeasuredOp::Attention(attention, _) => [attention.heads, attention.kv_heads, attention.head_dim],
        }
    }

    /// The size within the shape, with the shape a point of the sampling grid.
    pub fn size(&self) -> [u64; 3] {
        match &self.op {
            MeasuredOp::Gemm(gemm) => [gemm.m, 0, 0],
            MeasuredOp::Attention(attention, _) => {
                attention.sequences.first().map_or([0; 3], |group| [group.count, group.new, group.past])
            }
        }
    }
}

/// A row that is not a measured call this build can count, and why.
pub type Skipped = String;

/// Visits every row of the family's tables under `data`, or the reason why it is left out.
///
/// # Errors
/// Where a table cannot be read.
pub fn visit(
    family: Family,
    data: &Path,
    mut visitor: impl FnMut(Result<Measured, Skipped>),
) -> Result<(), TableError> {
    let kernels = data.join("kernels");
    match family {
        Family::Gemm => {
            for file in ["gemm.parquet", "gemm_second_source.parquet", "gemm_fp8_pipeweave.parquet"] {
                gemms(&kernels.join(file), &mut visitor)?;
            }
            Ok(())
        }
        Family::AttentionPrefill => {
            attentions(&kernels.join("attention_prefill.parquet"), Phase::Prefill, &mut visitor)?;
            second_attentions(&kernels.join("attention_second_source.parquet"), Phase::Prefill, &mut visitor)
        }
        Family::AttentionDecode => {
            attentions(&kernels.join("attention_decode.parquet"), Phase::Decode, &mut visitor)?;
            second_attentions(&kernels.join("attention_second_source.parquet"), Phase::Decode, &mut visitor)
        }
    }
}

/// Block-scaled products of second sources come from DeepGEMM, which SGLang launches.
const DEEP_GEMM: [&str; 2] = ["deep_gemm", "DeepGEMM"];

fn gemms(path: &Path, visitor: &mut impl FnMut(Result<Measured, Skipped>)) -> Result<(), TableError> {
    let wanted = ["source", "gpu", "engine", "kernel", "dtype", "m", "n", "k", "latency_us"];
    let table = Table::read(path, &wanted)?;
    let (gpu, kernel, dtype) = (table.texts("gpu")?, table.texts("kernel")?, table.texts("dtype")?);
    let (m, n, k) = (table.numbers("m")?, table.numbers("n")?, table.numbers("k")?);
    // The reference table names engines, the second ones sources.
    let (source, engine) = (table.texts("source").ok(), table.texts("engine").ok());
    for (row, &micros) in table.numbers("latency_us")?.iter().enumerate() {
        let Some(weights) = Dtype::from_id(dtype.get(row)) else {
            visitor(Err(format!("weights in {}", dtype.get(row))));
            continue;
        };
        let engine = match engine {
            Some(engine) => engine.get(row),
            None if DEEP_GEMM.contains(&kernel.get(row)) => "sglang",
            None => "",
        };
        visitor(Ok(Measured {
            source: source.map_or(REFERENCE_SOURCE, |source| source.get(row)).into(),
            gpu: gpu.get(row).into(),
            engine: engine.into(),
            kernel: kernel.get(row).into(),
            dtype: weights,
            op: MeasuredOp::Gemm(Gemm { m: m[row] as u64, n: n[row] as u64, k: k[row] as u64, weights }),
            micros,
        }));
    }
    Ok(())
}

fn attentions(
    path: &Path,
    phase: Phase,
    visitor: &mut impl FnMut(Result<Measured, Skipped>),
) -> Result<(), TableError> {
    let wanted = [
        "gpu",
        "engine",
        "kernel",
        "dtype",
        "kv_dtype",
        "batch",
        "q_len",
        "kv_len",
        "heads",
        "kv_heads",
        "head_dim",
        "window",
        "latency_us",
    ];
    let table = Table::read(path, &wanted)?;
    let texts = |name| table.texts(name);
    let (gpu, engine, kernel) = (texts("gpu")?, texts("engine")?, texts("kernel")?);
    let (dtype, kv) = (texts("dtype")?, texts("kv_dtype")?);
    let numbers = |name| table.numbers(name);
    let (batch, q_len, kv_len) = (numbers("batch")?, numbers("q_len")?, numbers("kv_len")?);
    let (heads, kv_heads, head_dim) = (numbers("heads")?, numbers("kv_heads")?, numbers("head_dim")?);
    let window = numbers("window")?;
    for (row, &micros) in numbers("latency_us")?.iter().enumerate() {
        if window[row] != 0.0 {
            visitor(Err("sliding window".into()));
            continue;
        }
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
        };
        visitor(Ok(Measured {
            source: REFERENCE_SOURCE.into(),
            gpu: gpu.get(row).into(),
            engine: engine.get(row).into(),
            kernel: kernel.get(row).into(),
            dtype: math,
            op: MeasuredOp::Attention(attention, math),
            micros,
        }));
    }
    Ok(())
}

/// The second sources whose decode rows say without doubt how long each sequence is.
const CLEAR_DECODE: [&str; 3] = ["infersim", "inference-sim", "llmservingsim-v1.1"];

fn second_attentions(
    path: &Path,
    phase: Phase,
    visitor: &mut impl FnMut(Result<Measured, Skipped>),
) -> Result<(), TableError> {
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
        let sequences = match phase {
            Phase::Prefill if prompt[row] > 1.0 && decoding[row] == 0.0 => {
                Sequences { count: 1, new: prompt[row] as u64, past: prompt_past[row] as u64 }
            }
            Phase::Decode if prompt[row] == 0.0 && CLEAR_DECODE.contains(&source.get(row)) => {
                Sequences { count: decoding[row] as u64, new: 1, past: decode_kv[row] as u64 }
            }
            // The other phase's, which its own family visits.
            Phase::Prefill if prompt[row] == 0.0 => continue,
            Phase::Decode if decoding[row] == 0.0 => continue,
            _ => {
                visitor(Err("prompts and decoding mixed, or lengths in doubt".into()));
                continue;
            }
        };
        let Some(kv) = Dtype::from_id(kv.get(row)) else {
            visitor(Err(format!("KV cache in {}", kv.get(row))));
            continue;
        };
        let attention = Attention {
            phase,
            sequences: vec![sequences],
            heads: heads[row] as u64,
            kv_heads: kv_heads[row] as u64,
            head_dim: head_dim[row] as u64,
            kv,
        };
        visitor(Ok(Measured {
            source: source.get(row).into(),
            gpu: gpu.get(row).into(),
            engine: String::new(),
            kernel: kernel.get(row).into(),
            dtype: Dtype::Bf16,
            op: MeasuredOp::Attention(attention, Dtype::Bf16),
            micros,
        }));
    }
    Ok(())
}
