//! Quantities behind the columns of whole blocks, dense and sparse.

use super::block::{BlockPart, LatentModule, PartKind, SparseModule, parts, sparse_parts};
use super::block_columns::{DENSE_COLUMNS, SPARSE_COLUMNS};
use super::times::{BlockTimes, BlockWork};
use super::{AttendedSpan, Form};
use crate::config::kernels::{KernelId, LatentKernel};
use crate::config::{Arch, Dtype, MissingFigure};
use crate::kernels::features::{DeviceSpec, Equivalent, Inputs, vector};
use crate::kernels::{Family, Kernel as _, Launch, Phase};

/// One block, in elements, bytes and µs.
#[derive(Debug, Clone, Copy)]
pub struct BlockInputs {
    pub device: DeviceSpec,
    pub arch: Arch,
    pub kernel: LatentKernel,
    pub phase: Phase,
    pub form: Form,
    pub batch: Equivalent,
    pub heads: f64,
    pub hidden: f64,
    pub key: f64,
    pub weights: Dtype,
    pub kv: Dtype,
    /// Attention multiplies in FP8.
    pub fp8_math: bool,
    /// FLOP of attention per µs at the sustained clock.
    pub rate: f64,
    /// FLOP per head and query-key pair.
    pub pair: f64,
    /// Share of the pairs that are computed; 1 for all.
    pub kept: f64,
    /// Runs an indexer.
    pub indexes: bool,
    pub times: BlockTimes,
    /// Share of weights and cache that stays in L2 between launches.
    pub hits: f64,
    pub ideal: f64,
}

/// The vector of a dense block; `None` if the kernel has no learned model or there is nothing to do.
pub fn of_dense(module: &LatentModule, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    let Some(KernelId::Latent(kernel)) = launch.kernel else { return Ok(None) };
    let form = kernel.form(module.phase);
    let block = BlockSpec {
        module,
        sparse: None,
        kernel,
        form,
        parts: parts(module, form, launch.gpu)?,
        ideal: module.count(launch.gpu)?.ideal(launch.gpu)?.micros(),
        family: Family::MlaModule,
    };
    Ok(block.inputs(launch)?.map(|inputs| vector(DENSE_COLUMNS, &inputs, &inputs.device)))
}

/// The vector of a sparse block, and whether the host takes longer to launch the block's kernels than the GPU to run
/// them; `None` if the kernel has no learned model or there is nothing to do.
pub fn of_sparse(
    sparse: &SparseModule,
    launch: &Launch<'_>,
) -> Result<Option<(Vec<f32>, bool)>, MissingFigure> {
    let Some(KernelId::Latent(kernel)) = launch.kernel else { return Ok(None) };
    // Blocks without a kernel for short prompts attend to the latents of all tokens.
    let form = if kernel == LatentKernel::SglangDense { Form::Expanded } else { Form::Absorbed };
    // SGLang's dense blocks never run the indexer.
    let launched = SparseModule { indexes: sparse.indexes && form == Form::Absorbed, ..sparse.clone() };
    let block = BlockSpec {
        module: &launched.module,
        sparse: Some(&launched),
        kernel,
        form,
        parts: sparse_parts(&launched, form, launch.gpu)?,
        ideal: sparse.count(launch.gpu)?.ideal(launch.gpu)?.micros(),
        family: Family::DsaModule,
    };
    Ok(block.inputs(launch)?.map(|inputs| {
        let vector = vector(SPARSE_COLUMNS, &inputs, &inputs.device);
        (vector, inputs.times.dispatch > inputs.times.work())
    }))
}

/// The parts of a block.
struct BlockSpec<'a> {
    module: &'a LatentModule,
    sparse: Option<&'a SparseModule>,
    kernel: LatentKernel,
    form: Form,
    parts: Vec<BlockPart>,
    ideal: f64,
    family: Family,
}

impl BlockSpec<'_> {
    fn inputs(&self, launch: &Launch<'_>) -> Result<Option<BlockInputs>, MissingFigure> {
        let Some(batch) = Equivalent::of_sequences(&self.module.sequences) else { return Ok(None) };
        let batch = if self.module.phase == Phase::Decode { batch.by_query() } else { batch };
        let gpu = launch.gpu;
        let device = DeviceSpec::new(gpu, self.family)?;
        let module = self.module;
        let wanted = match launch.math {
            Dtype::Fp8 => Dtype::Fp8,
            _ => self.kernel.math(module.kv),
        };
        let math = gpu.math_or_bf16(wanted);
        let span = match self.sparse {
            Some(sparse) => AttendedSpan::sparse(&module.sequences, sparse.indexer.topk),
            None => AttendedSpan::dense(&module.sequences),
        };
        let round: f64 = self.parts.iter().map(|part| part.count.operands.0).sum();
        let hits = device.resident(round);
        let indexes = self.sparse.is_some_and(|sparse| sparse.indexes);
        let work = BlockWork {
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
        let attention = self.parts.iter().find(|part| part.kind == PartKind::Attention);
        let flops = attention.map_or(0.0, |part| part.count.flops.0);
        Ok(Some(BlockInputs {
            device,
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
            rate: gpu.peak(math)?.0 * 1e-6 * device.sustained,
            pair: flops / (heads * span.pairs),
            kept: span.pairs / batch.pairs,
            indexes,
            times: BlockTimes::of(&work, &device, gpu)?,
            hits,
            ideal: self.ideal,
        }))
    }
}

impl Inputs for BlockInputs {
    fn reference(&self) -> f64 {
        self.times.total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::features::checks::{column, launch_on, vector_of};
    use crate::kernels::{Indexer, LatentHeads, Sequences};

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
            query_rank: Some(1536),
            weights,
            kv: Dtype::Fp8,
        }
    }

    fn launch(kernel: LatentKernel) -> Launch<'static> {
        Launch { kernel: Some(kernel.into()), ..launch_on("b200") }
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
                let (module, launch) = (module(phase, group, weights), launch(LatentKernel::Trtllm));
                assert!(vector_of(&module, &launch).is_some(), "{group:?}");
                let sparse = SparseModule { module, indexer: INDEXER, indexes: true };
                assert!(vector_of(&sparse, &launch).is_some(), "{group:?}");
            }
        }
    }

    #[test]
    fn drafts_share_the_latents_of_their_sequence() {
        let of = |group| {
            let row =
                vector_of(&module(Phase::Decode, group, Dtype::Fp8Block), &launch(LatentKernel::Trtllm));
            let at = |name| column(Family::MlaModule, name);
            let row = row.expect("learned");
            (row[at("ln_tokens")], row[at("ln_new")], row[at("ln_reference")])
        };
        let ((tokens, new, once), (same, single, each)) = (of((64, 4, 65_536)), of((256, 1, 65_536)));
        assert_eq!((tokens, new), (same, single));
        assert!(once < each);
    }

    #[test]
    fn a_layer_that_borrows_the_selection_of_another_is_faster() {
        let of = |indexes| {
            let module = module(Phase::Decode, (64, 1, 65_536), Dtype::Bf16);
            let sparse = SparseModule { module, indexer: INDEXER, indexes };
            let row = vector_of(&sparse, &launch(LatentKernel::SglangSparse)).expect("learned");
            row[column(Family::DsaModule, "ln_reference")]
        };
        assert!(of(true) > of(false) + 0.5);
    }
}
