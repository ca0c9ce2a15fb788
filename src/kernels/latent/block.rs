//! Whole blocks of latent attention, launch by launch.

use super::INDEX_SCALE_BYTES;
use super::{AttendedSpan, BatchedGemm, Form, LatentHeads, attention, block_vector, point, shape};
use crate::config::catalog::numbers::eager_launches;
use crate::config::{Dtype, Engine, Gpu, MissingFigure, model};
use crate::kernels::{CallPoint, Count, Family, Gemm, Kernel, Launch, Phase, Sequences};
use crate::units::{Bytes, Flops};

/// A whole block of latent attention: projections, norms, rotary embedding, KV write, attention.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LatentModule {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    pub heads: LatentHeads,
    /// Width of the residual stream.
    pub hidden: u64,
    /// Width of the compressed queries (`q_lora_rank`), the same on all ranks; `None` if queries are projected at once.
    pub query_rank: Option<u64>,
    /// Weight format of the projections.
    pub weights: Dtype,
    pub kv: Dtype,
}

/// The lightning indexer of sparse attention: scores all past tokens and keeps the top k. Replicated on every rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Indexer {
    pub heads: u64,
    pub head_dim: u64,
    /// Tokens each query attends to at most.
    pub topk: u64,
}

impl From<model::Indexer> for Indexer {
    fn from(of: model::Indexer) -> Self {
        let [heads, head_dim, topk] = [of.heads, of.head_dim, of.topk].map(u64::from);
        Self { heads, head_dim, topk }
    }
}

/// A latent attention block whose queries attend to the tokens selected by an indexer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SparseModule {
    pub module: LatentModule,
    pub indexer: Indexer,
    /// Whether this layer runs its indexer; others reuse the previous layer's selection.
    pub indexes: bool,
}

impl Kernel for LatentModule {
    /// The work in the form with fewer multiply-adds.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        Ok(sum(parts(self, Form::of(self.phase), gpu)?))
    }

    fn launches(&self, _: &Gpu, _: &Engine) -> f64 {
        eager_launches::constants().latent_block
    }

    fn format(&self) -> Dtype {
        self.kv
    }

    fn shape(&self) -> String {
        shape(&self.sequences, &self.heads)
    }

    fn family(&self) -> Option<Family> {
        Some(Family::MlaModule)
    }

    fn served<'a>(&self, engine: &'a Engine, launch: Launch<'a>) -> Option<Launch<'a>> {
        let choice = engine.variants_on(launch.gpu.arch)?;
        Some(launch.with(self.phase.choose(&choice.block_prefill, &choice.block_decode)))
    }

    fn vector(&self, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        block_vector::of_dense(self, launch)
    }

    fn point(&self) -> CallPoint {
        point(&self.sequences, &self.heads, self.phase)
    }

    fn formats(&self, _: Dtype) -> String {
        format!("{} {} over {}", self.phase.id(), self.weights.id(), self.kv.id())
    }
}

impl Kernel for SparseModule {
    /// The work in the cheaper form if there is nothing to select, else over the latents.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let absorbed = sum(sparse_parts(self, Form::Absorbed, gpu)?);
        if !self.keeps_all() {
            return Ok(absorbed);
        }
        let expanded = sum(sparse_parts(self, Form::Expanded, gpu)?);
        Ok(if expanded.flops < absorbed.flops { expanded } else { absorbed })
    }

    fn launches(&self, _: &Gpu, _: &Engine) -> f64 {
        eager_launches::constants().sparse_block
    }

    fn format(&self) -> Dtype {
        self.module.kv
    }

    fn shape(&self) -> String {
        let choice = if self.indexes { "" } else { ", choice borrowed" };
        self.module.shape() + choice
    }

    fn family(&self) -> Option<Family> {
        Some(Family::DsaModule)
    }

    fn served<'a>(&self, engine: &'a Engine, launch: Launch<'a>) -> Option<Launch<'a>> {
        let choice = engine.variants_on(launch.gpu.arch)?;
        let short = self.module.phase == Phase::Prefill && self.keeps_all();
        Some(launch.with(if short { &choice.sparse_short } else { &choice.sparse }))
    }

    fn vector(&self, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        Ok(self.vector_and_wait(launch)?.map(|(vector, _)| vector))
    }

    fn vector_and_wait(&self, launch: &Launch<'_>) -> Result<Option<(Vec<f32>, bool)>, MissingFigure> {
        block_vector::of_sparse(self, launch)
    }

    fn point(&self) -> CallPoint {
        self.module.point()
    }

    fn formats(&self, dtype: Dtype) -> String {
        self.module.formats(dtype)
    }
}

impl SparseModule {
    /// Whether no sequence is longer than `topk`: nothing to select.
    fn keeps_all(&self) -> bool {
        let longest = self.module.sequences.iter().map(|group| group.past + group.new).max();
        longest.unwrap_or(0) <= self.indexer.topk
    }
}

fn sum(parts: Vec<BlockPart>) -> Count {
    parts.into_iter().fold(Count::default(), |sum, part| sum.then(part.count))
}

/// The role of a launch in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    Projection,
    /// The absorbed expansion, applied to queries or results.
    Absorption,
    Attention,
    /// Scores of the indexer.
    Scores,
}

/// One launch in a block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockPart {
    pub kind: PartKind,
    pub count: Count,
}

/// The launches of a block: one down-projection of queries and latents, the up-projection of queries, the expansion
/// or its absorbed GEMMs, attention, output. Norms, rotary embedding and quantisation, which engines fuse
/// differently, are left out.
pub fn parts(module: &LatentModule, form: Form, gpu: &Gpu) -> Result<Vec<BlockPart>, MissingFigure> {
    block(module, AttendedSpan::dense(&module.sequences), form, gpu)
}

/// The launches of a sparse block: those of a dense one over the selected tokens, and the indexer's: projections
/// for every token, and scores if there is something to select.
pub fn sparse_parts(sparse: &SparseModule, form: Form, gpu: &Gpu) -> Result<Vec<BlockPart>, MissingFigure> {
    let SparseModule { module, indexer, indexes } = sparse;
    let span = AttendedSpan::sparse(&module.sequences, indexer.topk);
    let mut parts = block(module, span, form, gpu)?;
    if !indexes {
        return Ok(parts);
    }
    let m = span.new as u64;
    let width = indexer.heads * indexer.head_dim;
    // Queries, keys, and a weight per head.
    let queries = module.query_rank.unwrap_or(module.hidden);
    for (n, k) in [(width, queries), (indexer.head_dim + indexer.heads, module.hidden)] {
        let gemm = Gemm { m, n, k, weights: module.weights };
        parts.push(BlockPart { kind: PartKind::Projection, count: gemm.count(gpu)? });
    }
    parts.push(BlockPart { kind: PartKind::Scores, count: scores(&module.sequences, indexer, gpu)? });
    Ok(parts)
}

fn block(
    module: &LatentModule,
    span: AttendedSpan,
    form: Form,
    gpu: &Gpu,
) -> Result<Vec<BlockPart>, MissingFigure> {
    let heads = &module.heads;
    let weights = module.weights;
    let m = span.new as u64;
    let projection = |m: u64, n: u64, k: u64| -> Result<BlockPart, MissingFigure> {
        let count = Gemm { m, n, k, weights }.count(gpu)?;
        Ok(BlockPart { kind: PartKind::Projection, count })
    };
    let absorption = |n: u64, k: u64| -> Result<BlockPart, MissingFigure> {
        let count = BatchedGemm { count: heads.heads, m, n, k, weights }.count(gpu)?;
        Ok(BlockPart { kind: PartKind::Absorption, count })
    };
    let attention = attention(heads, span, module.kv, form, gpu)?;
    let attention = BlockPart { kind: PartKind::Attention, count: attention };
    let queries = heads.heads * heads.key();
    let mut parts = match module.query_rank {
        Some(rank) => {
            vec![projection(m, rank + heads.cached(), module.hidden)?, projection(m, queries, rank)?]
        }
        None => vec![projection(m, queries + heads.cached(), module.hidden)?],
    };
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

/// Scores of every pair in sequences longer than `topk`, in FP8 if the GPU supports it; the index key cache is read
/// once.
fn scores(sequences: &[Sequences], indexer: &Indexer, gpu: &Gpu) -> Result<Count, MissingFigure> {
    let longer: Vec<Sequences> =
        sequences.iter().copied().filter(|group| group.past + group.new > indexer.topk).collect();
    let span = AttendedSpan::dense(&longer);
    let (heads, width) = (indexer.heads as f64, indexer.head_dim as f64);
    let math = gpu.math_or_bf16(Dtype::Fp8);
    let key = width * Dtype::Fp8.bytes() + INDEX_SCALE_BYTES;
    let activations = span.new * (heads * width * Dtype::Fp8.bytes() + key);
    let flops = Flops(2.0 * heads * width * span.pairs);
    Count::new(flops, Some(math), Bytes(span.past * key), Bytes(activations), gpu)
}
