//! Whole blocks of latent attention, launch by launch.

use super::{Form, Span, attention, batched};
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::graph::{BatchedGemm, Gemm, Indexer, LatentModule, Sequences, SparseModule};
use crate::kernels::{Count, gemm};
use crate::units::{Bytes, Flops};

/// Scale of one token in the indexer's FP8 cache: an f32.
const INDEX_SCALE_BYTES: f64 = 4.0;

/// What a part of a block does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Projection,
    /// The expansion multiplied into queries or results.
    Absorption,
    Attention,
    /// Scores of the indexer.
    Scores,
}

/// One launch of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub kind: Kind,
    pub count: Count,
}

/// The launches of a block: down-projections of queries and latents in one, queries up, the expansion or
/// its absorbed products, attention, output. Norms, rotary embedding and quantisation, which engines fuse
/// in different ways, are left out.
///
/// # Errors
/// Where the GPU's record lacks a figure the counting needs.
pub fn parts(module: &LatentModule, form: Form, gpu: &Gpu) -> Result<Vec<Part>, MissingFigure> {
    block(module, Span::dense(&module.sequences), form, gpu)
}

/// The launches of a sparse block: those of a dense one over the tokens kept, and the indexer's: its
/// projections for every token, its scores where there is something to choose.
///
/// # Errors
/// Where the GPU's record lacks a figure the counting needs.
pub fn sparse_parts(sparse: &SparseModule, form: Form, gpu: &Gpu) -> Result<Vec<Part>, MissingFigure> {
    let SparseModule { module, indexer, indexes } = sparse;
    let span = Span::sparse(&module.sequences, indexer.topk);
    let mut parts = block(module, span, form, gpu)?;
    if !indexes {
        return Ok(parts);
    }
    let m = span.new as u64;
    let width = indexer.heads * indexer.head_dim;
    // Queries, keys, and the weight of each head.
    for (n, k) in [(width, module.query_rank), (indexer.head_dim + indexer.heads, module.hidden)] {
        let gemm = Gemm { m, n, k, weights: module.weights };
        parts.push(Part { kind: Kind::Projection, count: gemm::count(&gemm, gpu)? });
    }
    parts.push(Part { kind: Kind::Scores, count: scores(&module.sequences, indexer, gpu)? });
    Ok(parts)
}

fn block(module: &LatentModule, span: Span, form: Form, gpu: &Gpu) -> Result<Vec<Part>, MissingFigure> {
    let heads = &module.heads;
    let weights = module.weights;
    let m = span.new as u64;
    let projection = |m: u64, n: u64, k: u64| -> Result<Part, MissingFigure> {
        let count = gemm::count(&Gemm { m, n, k, weights }, gpu)?;
        Ok(Part { kind: Kind::Projection, count })
    };
    let absorption = |n: u64, k: u64| -> Result<Part, MissingFigure> {
        let count = batched(&BatchedGemm { count: heads.heads, m, n, k, weights }, gpu)?;
        Ok(Part { kind: Kind::Absorption, count })
    };
    let attention = attention(heads, span, module.kv, form, gpu)?;
    let attention = Part { kind: Kind::Attention, count: attention };
    let mut parts = vec![
        projection(m, module.query_rank + heads.cached(), module.hidden)?,
        projection(m, heads.heads * heads.key(), module.query_rank)?,
    ];
    match form {
        Form::Expanded => {
            let width = heads.heads * (heads.nope + heads.value);
            parts.push(projection(m + span.past as u64, width, heads.latent)?);
            parts.push(attention);
        }
        Form::Absorbed => {
            parts.push(absorption(heads.latent, heads.nope)?);
            parts.push(attention);
            parts.push(absorption(heads.value, heads.latent)?);
        }
    }
    parts.push(projection(m, module.hidden, heads.heads * heads.value)?);
    Ok(parts)
}

/// Scores of every pair in sequences longer than what is kept, in FP8 where the GPU multiplies it: the
/// cache of index keys once.
fn scores(sequences: &[Sequences], indexer: &Indexer, gpu: &Gpu) -> Result<Count, MissingFigure> {
    let longer: Vec<Sequences> =
        sequences.iter().copied().filter(|group| group.past + group.new > indexer.topk).collect();
    let span = Span::dense(&longer);
    let (heads, width) = (indexer.heads as f64, indexer.head_dim as f64);
    let math = if gpu.supports(Dtype::Fp8) { Dtype::Fp8 } else { Dtype::Bf16 };
    let key = width * Dtype::Fp8.bytes() + INDEX_SCALE_BYTES;
    let activations = span.new * (heads * width * Dtype::Fp8.bytes() + key);
    let flops = Flops(2.0 * heads * width * span.pairs);
    Count::new(flops, Some(math), Bytes(span.past * key), Bytes(activations), gpu)
}
