//! Measured latent attention: the kernel, the batched products around it, dense and sparse blocks.

use std::collections::HashMap;
use std::path::Path;

use super::Visitor;
use super::calls::{self, Calls};
use super::siblings::{Point, SUSPECT, Siblings};
use crate::config::Dtype;
use crate::evidence::tables::TableError;
use crate::kernels::{
    BatchedGemm, Indexer, LatentAttention, LatentHeads, LatentModule, Op, Phase, Sequences, SparseModule,
};

/// What of a published model its blocks' shapes follow from.
#[derive(Debug, Clone, Copy)]
struct Published {
    /// With one head; tables give the number on a rank.
    heads: LatentHeads,
    hidden: u64,
    query_rank: u64,
    index_heads: u64,
}

/// DeepSeek-V3 and V3.2, as their `config.json` says; the tables of kernels without a model are of it.
const DEEPSEEK: Published = Published {
    heads: LatentHeads { heads: 1, latent: 512, rope: 64, nope: 128, value: 128 },
    hidden: 7168,
    query_rank: 1536,
    index_heads: 64,
};

/// GLM-5 and GLM-5.2, as their `config.json` says.
const GLM: Published = Published {
    heads: LatentHeads { heads: 1, latent: 512, rope: 64, nope: 192, value: 256 },
    hidden: 6144,
    query_rank: 2048,
    index_heads: 32,
};

/// The indexer of both: `index_head_dim` and `index_topk`.
const INDEX_WIDTH: u64 = 128;
const TOPK: u64 = 2048;

impl Published {
    fn of(model: &str) -> Option<Self> {
        match model {
            "deepseek-ai/DeepSeek-V3" | "deepseek-ai/DeepSeek-V3.2" => Some(DEEPSEEK),
            "zai-org/GLM-5"
            | "zai-org/GLM-5-FP8"
            | "zai-org/GLM-5.2"
            | "zai-org/GLM-5.2-FP8"
            | "nvidia/GLM-5.2-NVFP4" => Some(GLM),
            _ => None,
        }
    }

    fn heads(&self, heads: f64) -> LatentHeads {
        LatentHeads { heads: heads as u64, ..self.heads }
    }
}

/// An engine whose shortest kernel on a GPU is so much longer than another's was timed launch by launch.
const EAGER: f64 = 8.0;

/// Visits the rows of one phase of the attention kernel, but those of engines that were timed launch by
/// launch: what the host adds there is no kernel's time.
pub(super) fn visit(path: &Path, phase: Phase, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let table = calls::read(path, &["dtype", "kv_dtype", "batch", "q_len", "kv_len", "heads"])?;
    let calls = Calls::of(&table)?;
    let Calls { gpu, engine, .. } = calls;
    let (dtype, kv) = (table.texts("dtype")?, table.texts("kv_dtype")?);
    let numbers = |name| table.numbers(name);
    let (batch, heads) = (numbers("batch")?, numbers("heads")?);
    let (q_len, kv_len) = (numbers("q_len")?, numbers("kv_len")?);
    let mut shortest: HashMap<&str, HashMap<&str, f64>> = HashMap::new();
    for (row, &micros) in calls.micros.iter().enumerate() {
        let engines = shortest.entry(gpu.get(row)).or_default();
        let least = engines.entry(engine.get(row)).or_insert(micros);
        *least = least.min(micros);
    }
    let eager = |row: usize| {
        let engines = &shortest[gpu.get(row)];
        let least = engines.values().copied().fold(f64::INFINITY, f64::min);
        engines[engine.get(row)] > EAGER * least
    };
    for row in 0..calls.micros.len() {
        if eager(row) {
            visitor(Err(format!("timed launch by launch ({} on {})", engine.get(row), gpu.get(row))));
            continue;
        }
        let (Some(math), Some(kv)) = (Dtype::from_id(dtype.get(row)), Dtype::from_id(kv.get(row))) else {
            visitor(Err(format!("latent attention in {} over {}", dtype.get(row), kv.get(row))));
            continue;
        };
        let call = LatentAttention {
            phase,
            sequences: vec![sequences(batch[row], q_len[row], kv_len[row] - q_len[row])],
            heads: DEEPSEEK.heads(heads[row]),
            kv,
            reach: None,
        };
        visitor(Ok(calls.measured(row, math, Op::LatentAttention(call))));
    }
    Ok(())
}

/// Visits the batched products: `pre` into the latents, `post` out of them.
pub(super) fn visit_bmm(path: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let table = calls::read(path, &["stage", "dtype", "tokens", "heads"])?;
    let calls = Calls::of(&table)?;
    let (stage, dtype) = (table.texts("stage")?, table.texts("dtype")?);
    let (tokens, heads) = (table.numbers("tokens")?, table.numbers("heads")?);
    for row in 0..calls.micros.len() {
        let Some(weights) = Dtype::from_id(dtype.get(row)) else {
            visitor(Err(format!("weights in {}", dtype.get(row))));
            continue;
        };
        let LatentHeads { latent, nope, value, .. } = DEEPSEEK.heads;
        let (n, k) = match stage.get(row) {
            "pre" => (latent, nope),
            "post" => (value, latent),
            other => {
                visitor(Err(format!("batched products of stage {other}")));
                continue;
            }
        };
        let bmm = BatchedGemm { count: heads[row] as u64, m: tokens[row] as u64, n, k, weights };
        visitor(Ok(calls.measured(row, weights, Op::BatchedGemm(bmm))));
    }
    Ok(())
}

/// Visits the rows of one phase of dense blocks, but those sibling GPUs contradict.
pub(super) fn visit_module(path: &Path, phase: Phase, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    visit_blocks(path, phase, ["q_len", "kv_len"], false, visitor)
}

/// Visits the rows of one phase of sparse blocks, but those sibling GPUs contradict.
pub(super) fn visit_sparse(path: &Path, phase: Phase, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    visit_blocks(path, phase, ["isl", "past_kv"], true, visitor)
}

fn visit_blocks(
    path: &Path,
    phase: Phase,
    lengths: [&str; 2],
    sparse: bool,
    visitor: &mut Visitor<'_>,
) -> Result<(), TableError> {
    let own = ["model", "dtype", "kv_dtype", "gemm_dtype", "batch", "heads"];
    let table = calls::read(path, &[own.as_slice(), &lengths].concat())?;
    let calls = Calls::of(&table)?;
    let Calls { gpu, engine, kernel, micros } = calls;
    let texts = |name| table.texts(name);
    let (model, math) = (texts("model")?, texts("dtype")?);
    let (kv, weights) = (texts("kv_dtype")?, texts("gemm_dtype")?);
    let numbers = |name| table.numbers(name);
    let (batch, heads) = (numbers("batch")?, numbers("heads")?);
    // New tokens; then all tokens of a sequence, or those before the new ones.
    let (new, other) = (numbers(lengths[0])?, numbers(lengths[1])?);
    // Models of one shape are one point.
    let point = |row: usize| -> Point {
        let codes = [engine, kernel, math, kv, weights].map(|texts| u64::from(texts.codes[row]));
        let sizes = [batch, heads, new, other].map(|numbers| numbers[row] as u64);
        let hidden = Published::of(model.get(row)).map(|published| published.hidden);
        codes.into_iter().chain(sizes).chain(hidden).collect()
    };
    let mut siblings = Siblings::default();
    for (row, &micros) in micros.iter().enumerate() {
        siblings.add(point(row), gpu.get(row), micros);
    }
    for (row, &micros) in micros.iter().enumerate() {
        if !siblings.agree(point(row), gpu.get(row), micros) {
            visitor(Err(format!("{SUSPECT} ({} on {})", engine.get(row), gpu.get(row))));
            continue;
        }
        let formats = [math, kv, weights].map(|texts| Dtype::from_id(texts.get(row)));
        let [Some(math), Some(kv), Some(weights)] = formats else {
            visitor(Err(format!("a block in {} over {}", weights.get(row), kv.get(row))));
            continue;
        };
        let Some(published) = Published::of(model.get(row)) else {
            visitor(Err(format!("no shape of {}", model.get(row))));
            continue;
        };
        let past = if sparse { other[row] } else { other[row] - new[row] };
        let module = LatentModule {
            phase,
            sequences: vec![sequences(batch[row], new[row], past)],
            heads: published.heads(heads[row]),
            hidden: published.hidden,
            query_rank: published.query_rank,
            weights,
            kv,
        };
        let op = if sparse {
            let indexer = Indexer { heads: published.index_heads, head_dim: INDEX_WIDTH, topk: TOPK };
            Op::SparseModule(SparseModule { module, indexer, indexes: indexes(kernel.get(row)) })
        } else {
            Op::LatentModule(module)
        };
        visitor(Ok(calls.measured(row, math, op)));
    }
    Ok(())
}

/// Whether a sparse block ran its indexer. SGLang's dense blocks take the same time in layers with one and
/// without.
fn indexes(kernel: &str) -> bool {
    !kernel.contains("skip_indexer") && !kernel.contains("dense_mha")
}

fn sequences(batch: f64, new: f64, past: f64) -> Sequences {
    Sequences { count: batch as u64, new: new as u64, past: past as u64 }
}
