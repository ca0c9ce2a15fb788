//! Latent attention: the kernel, the batched products around it, and whole blocks as the sum of their parts.
//!
//! Keys and values of a head are projections of a token's latent vector (DeepSeek-V2, arXiv 2405.04434,
//! section 2.1). A kernel either reads them expanded, as multi-head attention, or multiplies the projection
//! into the queries and attends to the latents themselves, as multi-query attention (section 2.1.2): fewer
//! bytes, more multiply-adds. Sparse attention is that of DeepSeek-V3.2 (arXiv 2512.02556).

mod block;
mod reach;

pub use block::{Kind, Part, parts, sparse_parts};
pub use reach::scores;

use super::Count;
use super::attention::causal_pairs;
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::graph::{BatchedGemm, Latent, LatentAttention, LatentHeads, Phase, Sequences, SparseModule};
use crate::units::{Bytes, Flops};

/// Activations are bf16.
const ACTIVATION_BYTES: f64 = 2.0;

/// What the attention kernel reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Keys and values of each head, expanded before.
    Expanded,
    /// The latents, the expansion multiplied into queries and results.
    Absorbed,
}

/// Totals over the sequences of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Span {
    /// New tokens.
    pub new: f64,
    /// Past tokens of which latents are read.
    pub past: f64,
    /// Query-key pairs, per query head.
    pub pairs: f64,
}

impl Span {
    /// Each new token attends to all before it and itself.
    pub fn dense(sequences: &[Sequences]) -> Self {
        Self::of(sequences, u64::MAX)
    }

    /// What the queries of a call see.
    pub fn of_call(call: &LatentAttention) -> Self {
        match call.reach {
            Some(reach) => reach.span(&call.sequences),
            None => Self::dense(&call.sequences),
        }
    }

    /// Each new token attends to `topk` tokens at most.
    pub fn sparse(sequences: &[Sequences], topk: u64) -> Self {
        Self::of(sequences, topk)
    }

    fn of(sequences: &[Sequences], topk: u64) -> Self {
        sequences.iter().fold(Self::default(), |sum, group| {
            let count = group.count as f64;
            let read = group.past.min(topk.saturating_mul(group.new));
            Self {
                new: sum.new + count * group.new as f64,
                past: sum.past + count * read as f64,
                pairs: sum.pairs + count * kept_pairs(group.new, group.past, topk),
            }
        })
    }
}

/// Query-key pairs of `new` tokens after `past` where each keeps `topk` at most.
pub fn kept_pairs(new: u64, past: u64, topk: u64) -> f64 {
    let dense = topk.saturating_sub(past).min(new);
    causal_pairs(dense, past, None) + (new - dense) as f64 * topk as f64
}

/// Counts a call of the latent attention families, blocks in the form that multiplies less.
///
/// # Errors
/// Where the GPU's record lacks a figure the counting needs.
pub fn count(latent: &Latent, gpu: &Gpu) -> Result<Count, MissingFigure> {
    match latent {
        Latent::Attention(call) => {
            let form = if call.reach.is_some() { Form::Absorbed } else { Form::of(call.phase) };
            attention(&call.heads, Span::of_call(call), call.kv, form, gpu)
        }
        Latent::Bmm(bmm) => batched(bmm, gpu),
        Latent::Module(module) => Ok(sum(parts(module, Form::of(module.phase), gpu)?)),
        Latent::Sparse(sparse) => {
            let absorbed = sum(sparse_parts(sparse, Form::Absorbed, gpu)?);
            if !dense(sparse) {
                return Ok(absorbed);
            }
            let expanded = sum(sparse_parts(sparse, Form::Expanded, gpu)?);
            Ok(if expanded.flops < absorbed.flops { expanded } else { absorbed })
        }
    }
}

impl Form {
    /// As engines serve the phase: prompts expanded, single new tokens absorbed.
    pub fn of(phase: Phase) -> Self {
        match phase {
            Phase::Prefill => Self::Expanded,
            Phase::Decode => Self::Absorbed,
        }
    }
}

/// Whether no sequence is longer than what a query keeps: nothing to choose.
pub fn dense(sparse: &SparseModule) -> bool {
    let longest = sparse.module.sequences.iter().map(|group| group.past + group.new).max();
    longest.unwrap_or(0) <= sparse.indexer.topk
}

/// The attention kernel with the write of the new latents: `2 (key + value)` FLOP per head and pair
/// expanded, `2 (2 latent + rope)` absorbed; the past's latents from the KV cache, once for all heads.
///
/// # Errors
/// Where the GPU's record lacks its L2 size.
pub fn attention(
    heads: &LatentHeads,
    span: Span,
    kv: Dtype,
    form: Form,
    gpu: &Gpu,
) -> Result<Count, MissingFigure> {
    let count = heads.heads as f64;
    let (cached, latent) = (heads.cached() as f64, heads.latent as f64);
    let (key, value) = (heads.key() as f64, heads.value as f64);
    let math = if gpu.supports(kv.math()) { kv.math() } else { Dtype::Bf16 };
    // Elements read and written per new token besides the latents, those read per key, and FLOP per pair.
    let (token, expanded, pair) = match form {
        Form::Expanded => (count * (key + value), count * (key + value), 2.0 * (key + value)),
        Form::Absorbed => (count * (cached + latent), 0.0, 2.0 * (cached + latent)),
    };
    let write = span.new * cached * (ACTIVATION_BYTES + kv.bytes());
    let activations = (span.new * token + (span.new + span.past) * expanded) * ACTIVATION_BYTES + write;
    let stored = span.past * cached * kv.bytes();
    Count::new(Flops(count * pair * span.pairs), Some(math), Bytes(stored), Bytes(activations), gpu)
}

/// Counts batched products: `2 m n k` FLOP each; every B from device memory, A and C as activations.
///
/// # Errors
/// Where the GPU's record lacks its L2 size.
pub fn batched(bmm: &BatchedGemm, gpu: &Gpu) -> Result<Count, MissingFigure> {
    let (count, m, n, k) = (bmm.count as f64, bmm.m as f64, bmm.n as f64, bmm.k as f64);
    let weights = count * n * k * bmm.weights.bytes();
    let activations = count * (m * k + m * n) * ACTIVATION_BYTES;
    let math = if gpu.supports(bmm.weights) { bmm.weights.math() } else { Dtype::Bf16 };
    Count::new(Flops(2.0 * count * m * n * k), Some(math), Bytes(weights), Bytes(activations), gpu)
}

fn sum(parts: Vec<Part>) -> Count {
    parts.into_iter().fold(Count::nothing(), |sum, part| sum.then(part.count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::graph::{Indexer, LatentModule};

    /// DeepSeek-V3 on one GPU.
    const HEADS: LatentHeads = LatentHeads { heads: 128, latent: 512, rope: 64, nope: 128, value: 128 };

    fn h100() -> &'static Gpu {
        catalog().gpu("h100-sxm").expect("in the catalog")
    }

    fn module(phase: Phase, group: (u64, u64, u64), weights: Dtype) -> LatentModule {
        let (count, new, past) = group;
        LatentModule {
            phase,
            sequences: vec![Sequences { count, new, past }],
            heads: HEADS,
            hidden: 7168,
            query_rank: 1536,
            weights,
            kv: Dtype::Bf16,
        }
    }

    #[test]
    fn pairs_stop_at_what_is_kept() {
        // Of 5 tokens keeping 3: 1 + 2 + 3 + 3 + 3; after 2 more: all keep 3.
        assert_eq!(kept_pairs(5, 0, 3), 12.0);
        assert_eq!(kept_pairs(5, 2, 3), 15.0);
        assert_eq!(kept_pairs(5, 9, 3), 15.0);
        assert_eq!(kept_pairs(5, 9, 100), causal_pairs(5, 9, None));
        assert_eq!(kept_pairs(1, 9, u64::MAX), 10.0);
    }

    #[test]
    fn one_prompt_by_hand() {
        // 2 tokens, 3 pairs, keys of 192 and values of 128 elements, 128 heads.
        let sequences = vec![Sequences { count: 1, new: 2, past: 0 }];
        let call =
            LatentAttention { phase: Phase::Prefill, sequences, heads: HEADS, kv: Dtype::Bf16, reach: None };
        let count = count(&Latent::Attention(call), h100()).expect("complete");
        assert_eq!(count.flops.0, 2.0 * 320.0 * 3.0 * 128.0);
        // Queries, keys, values and results of 2 tokens; latents read and written.
        let bytes = 2.0 * 2.0 * (128.0 * 2.0 * 320.0) + 2.0 * 576.0 * 4.0;
        assert_eq!((count.operands.0, count.stored.0), (bytes, 0.0));
    }

    #[test]
    fn decoding_reads_latents_once_for_all_heads() {
        let sequences = vec![Sequences { count: 4, new: 1, past: 1000 }];
        let call =
            LatentAttention { phase: Phase::Decode, sequences, heads: HEADS, kv: Dtype::Fp8, reach: None };
        let count = count(&Latent::Attention(call), h100()).expect("complete");
        assert_eq!(count.stored.0, 4.0 * 1000.0 * 576.0);
        assert_eq!(count.flops.0, 2.0 * 1088.0 * 4.0 * 1001.0 * 128.0);
        assert_eq!(count.math, Some(Dtype::Fp8));
    }

    #[test]
    fn a_block_holds_its_published_weights() {
        // DeepSeek-V3's attention has 187,107,328 weights a layer besides its norms.
        let weights = 7168 * (1536 + 576) + 1536 * 128 * 192 + 512 * 128 * 256 + 128 * 128 * 7168;
        assert_eq!(weights, 187_105_280);
        for phase in [Phase::Prefill, Phase::Decode] {
            let module = module(phase, (1, 1, 0), Dtype::Bf16);
            let count = count(&Latent::Module(module), h100()).expect("complete");
            assert_eq!(count.stored.0, 2.0 * f64::from(weights));
        }
    }

    #[test]
    fn formats_of_a_block_are_told_apart() {
        let count = count(&Latent::Module(module(Phase::Prefill, (1, 512, 0), Dtype::Fp8Block)), h100())
            .expect("known");
        let attention: f64 = count.other_math.iter().map(|(_, flops)| flops.0).sum();
        assert_eq!(count.math, Some(Dtype::Fp8));
        assert_eq!(attention, 2.0 * 320.0 * 128.0 * causal_pairs(512, 0, None));
        let peak = |dtype| h100().peak(dtype).expect("known").0;
        let time = (count.flops.0 - attention) / peak(Dtype::Fp8) + attention / peak(Dtype::Bf16);
        assert!((count.compute(h100()).expect("known").0 / time - 1.0).abs() < 1e-12);
    }

    #[test]
    fn sparse_attention_stops_growing_and_its_indexer_does_not() {
        let indexer = Indexer { heads: 64, head_dim: 128, topk: 2048 };
        let of = |past, indexes| {
            let module = module(Phase::Decode, (8, 1, past), Dtype::Bf16);
            let sparse = SparseModule { module, indexer, indexes };
            count(&Latent::Sparse(sparse), h100()).expect("complete").flops.0
        };
        assert_eq!(of(4096, false), of(65_536, false));
        assert!(of(1024, false) < of(4096, false));
        // 64 heads of 128 over 61,440 more tokens of 8 sequences.
        let more = of(65_536, true) - of(4096, true);
        assert_eq!(more, 2.0 * 64.0 * 128.0 * 8.0 * 61_440.0);
    }

    #[test]
    fn short_prompts_are_counted_as_the_dense_kernels_run_them() {
        let indexer = Indexer { heads: 64, head_dim: 128, topk: 2048 };
        let module = module(Phase::Prefill, (1, 1024, 0), Dtype::Bf16);
        let sparse = SparseModule { module: module.clone(), indexer, indexes: false };
        let gpu = h100();
        let (sparse, full) = (count(&Latent::Sparse(sparse), gpu), count(&Latent::Module(module), gpu));
        assert_eq!(sparse.expect("complete").flops, full.expect("complete").flops);
    }
}
