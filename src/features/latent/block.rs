//! Whole blocks of latent attention, dense and sparse: what their columns read.

use super::kernel::Kernel;
use super::terms::{DENSE_BLOCK, SPARSE_BLOCK};
use super::times::{Times, Work};
use crate::config::{Arch, Dtype, MissingFigure};
use crate::features::equivalent::Equivalent;
use crate::features::silicon::Silicon;
use crate::features::term::{self, Term};
use crate::features::{Family, Launching};
use crate::graph::{Latent, LatentModule, Phase, SparseModule};
use crate::kernels::latent::{self, Form, Kind, Part, Span};

/// One block, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launch {
    pub silicon: Silicon,
    pub arch: Arch,
    pub kernel: Kernel,
    pub phase: Phase,
    pub form: Form,
    pub batch: Equivalent,
    pub heads: f64,
    pub hidden: f64,
    pub key: f64,
    pub weights: Dtype,
    pub kv: Dtype,
    /// The attention kernel multiplies in FP8.
    pub fp8_math: bool,
    /// FLOP of attention per µs at the sustained clock.
    pub rate: f64,
    /// FLOP per head and query-key pair.
    pub pair: f64,
    /// Share of the pairs that are kept; 1 where all are.
    pub kept: f64,
    /// Runs an indexer.
    pub indexes: bool,
    pub times: Times,
    /// Share of weights and cache that stays in the L2 from one launch to the next.
    pub hits: f64,
    /// What efficiency is relative to: peak rates, compulsory bytes, the launch floor.
    pub ideal: f64,
}

/// The row of a dense block, or none where no model has learned the kernel or there is nothing to do.
///
/// # Errors
/// Where the GPU's record lacks a figure the features need.
pub(super) fn row(
    module: &LatentModule,
    launching: &Launching<'_>,
) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(kernel) = Kernel::from_name(launching.kernel) else { return Ok(None) };
    let form = kernel.form(module.phase);
    let block = Block {
        module,
        sparse: None,
        kernel,
        form,
        parts: latent::parts(module, form, launching.gpu)?,
        least: ideal(&Latent::Module(module.clone()), launching)?,
        family: Family::MlaModule,
    };
    block.row(DENSE_BLOCK, launching)
}

/// The row of a sparse block, or none where no model has learned the kernel or there is nothing to do.
///
/// # Errors
/// Where the GPU's record lacks a figure the features need.
pub(super) fn sparse_row(
    sparse: &SparseModule,
    launching: &Launching<'_>,
) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(kernel) = Kernel::from_name(launching.kernel) else { return Ok(None) };
    // Blocks without an own kernel for short prompts attend to the latents of all tokens.
    let form = if kernel == Kernel::SglangDense { Form::Expanded } else { Form::Absorbed };
    // SGLang's dense blocks run no indexer, whatever the layer.
    let launched = SparseModule { indexes: sparse.indexes && form == Form::Absorbed, ..sparse.clone() };
    let block = Block {
        module: &launched.module,
        sparse: Some(&launched),
        kernel,
        form,
        parts: latent::sparse_parts(&launched, form, launching.gpu)?,
        least: ideal(&Latent::Sparse(sparse.clone()), launching)?,
        family: Family::DsaModule,
    };
    block.row(SPARSE_BLOCK, launching)
}

fn ideal(latent: &Latent, launching: &Launching<'_>) -> Result<f64, MissingFigure> {
    let &Launching { gpu, floor, .. } = launching;
    let least = latent::count(latent, gpu)?;
    Ok(least.compute(gpu)?.max(least.bytes / gpu.bandwidth()?).max(floor).micros())
}

/// What a block is made of.
struct Block<'a> {
    module: &'a LatentModule,
    sparse: Option<&'a SparseModule>,
    kernel: Kernel,
    form: Form,
    parts: Vec<Part>,
    least: f64,
    family: Family,
}

impl Block<'_> {
    fn row(
        &self,
        terms: &[&[Term<Launch>]],
        launching: &Launching<'_>,
    ) -> Result<Option<Vec<f32>>, MissingFigure> {
        let Some(batch) = Equivalent::of_sequences(&self.module.sequences) else { return Ok(None) };
        let launch = self.launch(batch, launching)?;
        let own = terms.iter().flat_map(|terms| term::values(terms, &launch));
        Ok(Some(own.chain(launch.silicon.identity()).collect()))
    }

    fn launch(&self, batch: Equivalent, launching: &Launching<'_>) -> Result<Launch, MissingFigure> {
        let &Launching { gpu, .. } = launching;
        let silicon = Silicon::new(gpu, self.family)?;
        let module = self.module;
        let wanted = match launching.math {
            Dtype::Fp8 => Dtype::Fp8,
            _ => self.kernel.math(module.kv),
        };
        let math = if gpu.supports(wanted) { wanted } else { Dtype::Bf16 };
        let span = match self.sparse {
            Some(sparse) => Span::sparse(&module.sequences, sparse.indexer.topk),
            None => Span::dense(&module.sequences),
        };
        let round: f64 = self.parts.iter().map(|part| part.count.operands.0).sum();
        let hits = silicon.resident(round);
        let indexes = self.sparse.is_some_and(|sparse| sparse.indexes);
        let work = Work {
            module,
            kernel: self.kernel,
            parts: &self.parts,
            sparse: self.sparse.is_some(),
            indexes,
            math,
            hits,
            span,
            batch,
        };
        let heads = module.heads.heads as f64;
        let attention = self.parts.iter().find(|part| part.kind == Kind::Attention);
        let flops = attention.map_or(0.0, |part| part.count.flops.0);
        Ok(Launch {
            silicon,
            arch: gpu.arch,
            kernel: self.kernel,
            phase: module.phase,
            form: self.form,
            batch,
            heads,
            hidden: module.hidden as f64,
            key: module.heads.key() as f64,
            weights: module.weights,
            kv: module.kv,
            fp8_math: math == Dtype::Fp8,
            rate: gpu.peak(math)?.0 * 1e-6 * silicon.sustained,
            pair: flops / (heads * span.pairs),
            kept: span.pairs / batch.pairs,
            indexes,
            times: Times::of(&work, &silicon, gpu)?,
            hits,
            ideal: self.least,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::graph::{Indexer, LatentHeads, Sequences};
    use crate::units::Seconds;

    const HEADS: LatentHeads = LatentHeads { heads: 16, latent: 512, rope: 64, nope: 128, value: 128 };
    const INDEXER: Indexer = Indexer { heads: 64, head_dim: 128, topk: 2048 };

    fn module(phase: Phase, group: (u64, u64, u64), weights: Dtype) -> LatentModule {
        let (count, new, past) = group;
        let sequences = vec![Sequences { count, new, past }];
        LatentModule {
            phase,
            sequences,
            heads: HEADS,
            hidden: 7168,
            query_rank: 1536,
            weights,
            kv: Dtype::Fp8,
        }
    }

    fn launching<'a>(kernel: &'a str) -> Launching<'a> {
        let gpu = catalog().gpu("b200").expect("in the catalog");
        Launching { gpu, engine: "", kernel, math: Dtype::Bf16, floor: Seconds(1.5e-6) }
    }

    fn reference(family: Family, row: &[f32]) -> f32 {
        row[family.schema().names.iter().position(|name| *name == "ln_reference").expect("a column")]
    }

    #[test]
    fn rows_are_finite_and_as_wide_as_the_schema() {
        let calls = [
            (Phase::Prefill, (1, 1, 0)),
            (Phase::Prefill, (8, 4096, 9000)),
            (Phase::Decode, (64, 1, 131_072)),
        ];
        for (phase, group) in calls {
            for weights in [Dtype::Bf16, Dtype::Fp8Block, Dtype::Nvfp4] {
                let module = module(phase, group, weights);
                let dense = row(&module, &launching("default")).expect("complete");
                let sparse = SparseModule { module, indexer: INDEXER, indexes: true };
                let sparse = sparse_row(&sparse, &launching("default")).expect("complete");
                for (family, row) in [(Family::MlaModule, dense), (Family::DsaModule, sparse)] {
                    let row = row.expect("learned");
                    assert_eq!(row.len(), family.schema().names.len());
                    assert!(row.iter().all(|value| value.is_finite()), "{family:?} {group:?} {row:?}");
                }
            }
        }
    }

    #[test]
    fn a_layer_that_takes_the_choice_of_another_is_shorter() {
        let of = |indexes| {
            let module = module(Phase::Decode, (64, 1, 65_536), Dtype::Bf16);
            let sparse = SparseModule { module, indexer: INDEXER, indexes };
            let row = sparse_row(&sparse, &launching("sglang_dsa_indexer_trtllm"));
            reference(Family::DsaModule, &row.expect("complete").expect("learned"))
        };
        assert!(of(true) > of(false) + 0.5);
    }
}
