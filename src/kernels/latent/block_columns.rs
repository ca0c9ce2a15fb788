//! Columns of whole blocks of latent attention.

use super::Form;
use super::block_vector::BlockInputs;
use super::vector::query_tiles;
use crate::config::kernels::LatentKernel;
use crate::config::{Arch, Dtype};
use crate::kernels::features::{Inputs, TILE_ROWS, Term, flag, ln_rounding, names};
use crate::kernels::{FamilySpec, Phase, parsed};

pub const DENSE_BLOCK: FamilySpec =
    FamilySpec { version: 1, columns: || names(DENSE_COLUMNS), kernel: parsed::<LatentKernel>, busy: 0.0 };
pub const SPARSE_BLOCK: FamilySpec =
    FamilySpec { version: 1, columns: || names(SPARSE_COLUMNS), kernel: parsed::<LatentKernel>, busy: 0.0 };

pub const DENSE_COLUMNS: &[&[Term<BlockInputs>]] = &[COMMON, DENSE];
pub const SPARSE_COLUMNS: &[&[Term<BlockInputs>]] = &[COMMON, SPARSE];

impl BlockInputs {
    /// Query tiles of attention.
    fn tiles(&self, rows: f64) -> f64 {
        query_tiles(&self.batch, self.form, self.heads, rows)
    }

    /// Padded query rows over rows.
    fn padding(&self, rows: f64) -> f64 {
        (self.tiles(rows) * rows / (self.batch.tokens * self.heads)).ln()
    }

    /// The last tile of a sequence, over its whole KV, on one SM.
    fn longest_tile(&self) -> f64 {
        let flops = self.pair * TILE_ROWS[1] * self.batch.kv_length() * self.kept;
        self.share(flops * self.device.sms / self.rate)
    }

    /// Padding to whole tiles and waves for a projection to `columns` columns.
    fn waste(&self, rows: f64, columns: f64) -> f64 {
        let tiles = (self.batch.tokens / rows).ceil() * (columns / 128.0).ceil();
        self.device.waste(tiles, (rows, 128.0), self.batch.tokens * columns)
    }

    fn is(&self, kernel: LatentKernel) -> f64 {
        flag(self.kernel == kernel)
    }
}

/// Columns of both families: log ratios unless noted.
const COMMON: &[Term<BlockInputs>] = &[
    ("reference_over_ideal", |l| l.over(l.ideal)),
    ("projections", |l| l.share(l.times.projections)),
    ("projection_compute", |l| l.share(l.times.projection_compute)),
    ("projection_memory", |l| l.share(l.times.projection_memory)),
    ("absorption", |l| l.share(l.times.absorption)),
    ("attention", |l| l.share(l.times.attention)),
    ("attention_compute", |l| l.share(l.times.attention_compute)),
    ("attention_memory", |l| l.share(l.times.attention_memory)),
    ("softmax", |l| l.share(l.times.softmax)),
    ("serial", |l| l.share(l.times.serial)),
    ("elements", |l| l.share(l.times.elements)),
    ("launches", |l| l.share(l.times.launches)),
    // µs.
    ("ln_reference", |l| l.reference().ln()),
    ("ln_tokens", |l| l.batch.tokens.ln()),
    ("ln_new", |l| l.batch.new.ln()),
    ("ln_sequences", |l| l.batch.sequences.ln()),
    ("ln_kv_length", |l| l.batch.kv_length().ln()),
    ("prefix", |l| (l.batch.kv_length() / l.batch.new).ln()),
    ("ln_heads", |l| l.heads.ln()),
    ("tiles_64", |l| l.device.per_sm(l.tiles(TILE_ROWS[0]))),
    ("tiles_128", |l| l.device.per_sm(l.tiles(TILE_ROWS[1]))),
    ("rounding_64", |l| l.device.rounding(l.tiles(TILE_ROWS[0]))),
    ("rounding_128", |l| l.device.rounding(l.tiles(TILE_ROWS[1]))),
    ("padding_64", |l| l.padding(TILE_ROWS[0])),
    ("padding_128", |l| l.padding(TILE_ROWS[1])),
    ("longest_tile", |l| l.longest_tile()),
    ("waste_output", |l| l.waste(TILE_ROWS[1], l.hidden)),
    ("waste_queries", |l| l.waste(TILE_ROWS[1], l.heads * l.key)),
    ("token_padding_64", |l| ln_rounding(l.batch.tokens, TILE_ROWS[0])),
    // Share of weights and cache in L2, in [0, 1].
    ("l2_hits", |l| l.hits),
    ("decode", |l| flag(l.phase == Phase::Decode)),
    ("absorbed", |l| flag(l.form == Form::Absorbed)),
    ("fp8_block", |l| flag(l.weights.math() == Dtype::Fp8)),
    ("nvfp4", |l| flag(l.weights == Dtype::Nvfp4)),
    ("fp8_kv", |l| flag(l.kv.math() == Dtype::Fp8)),
    ("fp8_math", |l| flag(l.fp8_math)),
    ("trtllm", |l| l.is(LatentKernel::Trtllm)),
    ("on_hopper", |l| flag(l.arch == Arch::Hopper)),
    ("on_blackwell", |l| flag(l.arch == Arch::Blackwell)),
    ("trtllm_on_hopper", |l| l.is(LatentKernel::Trtllm) * flag(l.arch == Arch::Hopper)),
];

const DENSE: &[Term<BlockInputs>] = &[
    ("vllm_expanded", |l| l.is(LatentKernel::VllmExpanded)),
    ("vllm_ragged", |l| l.is(LatentKernel::VllmRagged)),
    ("vllm_flashinfer", |l| l.is(LatentKernel::VllmFlashInfer)),
    ("vllm_flashmla", |l| l.is(LatentKernel::VllmFlashMla)),
    ("vllm_triton", |l| l.is(LatentKernel::VllmTriton)),
];

const SPARSE: &[Term<BlockInputs>] = &[
    ("scores", |l| l.share(l.times.scores)),
    ("choice", |l| l.share(l.times.choice)),
    ("dispatch", |l| l.share(l.times.dispatch)),
    ("kept", |l| l.kept.ln()),
    ("indexes", |l| flag(l.indexes)),
    ("ln_hidden", |l| (l.hidden / 7168.0).ln()),
    ("vllm_sparse", |l| l.is(LatentKernel::VllmSparse)),
    ("sglang_dense", |l| l.is(LatentKernel::SglangDense)),
    ("sglang_sparse", |l| l.is(LatentKernel::SglangSparse)),
];
