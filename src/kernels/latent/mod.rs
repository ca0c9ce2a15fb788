//! Latent attention (MLA) and its sparse form (DSA), as in DeepSeek, Kimi and GLM: keys and values of all heads are
//! projections of one short latent vector per token. This module has the attention kernel; `bmm` has the batched
//! GEMMs around it, and `block` whole blocks as the sum of their launches.
//!
//! A kernel either reads expanded keys and values, as multi-head attention (DeepSeek-V2, arXiv 2405.04434, section
//! 2.1), or multiplies the projection into the queries and attends to the latents themselves, as multi-query
//! attention (section 2.1.2): fewer bytes, more multiply-adds. Sparse attention follows DeepSeek-V3.2 (arXiv
//! 2512.02556).

mod block;
mod block_columns;
mod block_vector;
mod bmm;
mod kernel;
#[cfg(feature = "tools")]
pub mod measured;
mod reach;
mod scores;
mod span;
mod times;
mod vector;

pub use block::{Indexer, LatentModule, SparseModule};
pub use block_columns::{DENSE_BLOCK, SPARSE_BLOCK};
pub use bmm::{BatchedGemm, FAMILY as BMM};
pub use reach::Reach;
pub use scores::Scores;
pub use span::AttendedSpan;
pub use vector::FAMILY as ATTENTION;

use super::sequences::{first_group, lengths, number};
use super::{CallPoint, Count, Family, Kernel, Launch, Phase, Sequences};
pub(super) use crate::config::catalog::numbers::latent::constants;
use crate::config::kernels::LatentKernel;
use crate::config::model::Mla;
use crate::config::{Dtype, Engine, Gpu, MissingFigure};
use crate::kernels::ACTIVATION_BYTES;
use crate::units::{Bytes, F32_BYTES, Flops};

/// The measured kernel over latents in prefill: FlashAttention-3.
const ABSORBED_PROMPTS: (&str, LatentKernel) = ("flash_attention", LatentKernel::SglangFa3);

/// The f32 scale of an FP8 index key.
pub const INDEX_SCALE_BYTES: f64 = F32_BYTES;

/// Head layout of latent attention on one rank, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LatentHeads {
    /// Query heads on this rank.
    pub heads: u64,
    /// Width of the latent cached per token for keys and values (`kv_lora_rank`).
    pub latent: u64,
    /// Width of queries and keys with rotary embedding; its key is shared by all heads (`qk_rope_head_dim`).
    pub rope: u64,
    /// Width of queries and keys without rotary embedding (`qk_nope_head_dim`).
    pub nope: u64,
    /// Width of a value (`v_head_dim`).
    pub value: u64,
}

impl LatentHeads {
    /// The heads of a model's latent attention, with this many on the rank.
    pub fn of(mla: &Mla, heads: u64) -> Self {
        let [latent, rope, nope, value] = [mla.latent, mla.rope, mla.nope, mla.value].map(u64::from);
        Self { heads, latent, rope, nope, value }
    }

    /// Elements cached per token, independent of the number of heads: replicated on each rank.
    pub fn cached(&self) -> u64 {
        self.latent + self.rope
    }

    /// Width of a query or key after expansion.
    pub fn key(&self) -> u64 {
        self.nope + self.rope
    }
}

/// The attention kernel alone, over all sequences of one phase.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LatentAttention {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    pub heads: LatentHeads,
    pub kv: Dtype,
    /// What queries see of compressed entries, which are both key and value; `None` for the latents of all tokens.
    pub reach: Option<Reach>,
}

/// The attention kernel's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Expanded keys and values of each head.
    Expanded,
    /// The latents, with the expansion multiplied into queries and results.
    Absorbed,
}

impl Form {
    /// The form in which engines serve the phase: expanded in prefill, absorbed in decode.
    pub fn of(phase: Phase) -> Self {
        phase.choose(Self::Expanded, Self::Absorbed)
    }
}

impl Kernel for LatentAttention {
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let form = if self.reach.is_some() { Form::Absorbed } else { Form::of(self.phase) };
        attention(&self.heads, AttendedSpan::of_call(self), self.kv, form, gpu)
    }

    fn launches(&self, _: &Gpu, engine: &Engine) -> f64 {
        engine.host.launches.latent_attention
    }

    fn format(&self) -> Dtype {
        self.kv
    }

    fn shape(&self) -> String {
        let reach = match self.reach {
            None => String::new(),
            Some(Reach { ratio: None, window, .. }) => format!(", window {window}"),
            Some(Reach { ratio: Some(ratio), topk: None, .. }) => format!(", 1 key in {ratio}"),
            Some(Reach { ratio: Some(ratio), topk: Some(topk), .. }) => {
                format!(", top {topk} of 1 key in {ratio}")
            }
        };
        shape(&self.sequences, &self.heads) + &reach
    }

    fn family(&self) -> Option<Family> {
        Some(Family::Mla)
    }

    /// No kernel over compressed keys was measured: one over latents stands in for it.
    fn served<'a>(&self, engine: &'a Engine, launch: Launch<'a>) -> Option<Launch<'a>> {
        let choice = engine.variants_on(launch.gpu.arch)?;
        let own = self.phase.choose(&choice.latent_prefill, &choice.latent_decode);
        let compressed = self.reach.is_some() && self.phase == Phase::Prefill;
        let absorbs = own.id().is_some_and(LatentKernel::absorbs_prompts);
        if !compressed || own.is_empty() || absorbs {
            return Some(launch.with(own));
        }
        let (name, kernel) = ABSORBED_PROMPTS;
        Some(Launch { name, kernel: Some(kernel.into()), ..launch })
    }

    fn vector(&self, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        vector::of(self, launch)
    }

    fn point(&self) -> CallPoint {
        point(&self.sequences, &self.heads, self.phase)
    }

    fn formats(&self, dtype: Dtype) -> String {
        format!("{} {} over {}", self.phase.id(), dtype.id(), self.kv.id())
    }
}

fn shape(sequences: &[Sequences], heads: &LatentHeads) -> String {
    format!("{}, {} heads × {}", lengths(sequences), heads.heads, heads.cached())
}

fn point(sequences: &[Sequences], heads: &LatentHeads, phase: Phase) -> CallPoint {
    CallPoint { shape: [heads.heads, number(sequences), phase as u64, 0], size: first_group(sequences) }
}

/// The attention kernel with the write of the new latents: `2 (key + value)` FLOP per head and pair expanded, `2 (2
/// latent + rope)` absorbed; the past's latents are read from the KV cache once for all heads.
fn attention(
    heads: &LatentHeads,
    span: AttendedSpan,
    kv: Dtype,
    form: Form,
    gpu: &Gpu,
) -> Result<Count, MissingFigure> {
    let count = heads.heads as f64;
    let (cached, latent) = (heads.cached() as f64, heads.latent as f64);
    let (key, value) = (heads.key() as f64, heads.value as f64);
    let math = gpu.math_or_bf16(kv.math());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;
    use crate::kernels::attention::causal_pairs;

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
            query_rank: Some(1536),
            weights,
            kv: Dtype::Bf16,
        }
    }

    #[test]
    fn one_prompt_by_hand() {
        // 2 tokens, 3 pairs, keys of 192 and values of 128 elements, 128 heads.
        let sequences = vec![Sequences { count: 1, new: 2, past: 0 }];
        let call =
            LatentAttention { phase: Phase::Prefill, sequences, heads: HEADS, kv: Dtype::Bf16, reach: None };
        let count = call.count(h100()).expect("complete");
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
        let count = call.count(h100()).expect("complete");
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
            let count = module.count(h100()).expect("complete");
            assert_eq!(count.stored.0, 2.0 * f64::from(weights));
        }
    }

    #[test]
    fn formats_of_a_block_are_kept_apart() {
        let count = module(Phase::Prefill, (1, 512, 0), Dtype::Fp8Block).count(h100()).expect("known");
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
            sparse.count(h100()).expect("complete").flops.0
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
        let (sparse, full) = (sparse.count(gpu), module.count(gpu));
        assert_eq!(sparse.expect("complete").flops, full.expect("complete").flops);
    }
}
