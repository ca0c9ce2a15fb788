//! Feature vectors of kernel calls: what the learned models read. Versioned per family.
//!
//! A vector holds logarithms of ratios wherever it can: ideal times of each resource over a reference
//! time, work over what the SMs take at once, working set over L2. Such ratios mean the same on every
//! GPU, which is what carries a model to GPUs without measurements. What names a GPU (its `identity`
//! columns) is zero unless its measurements trained the model.

pub mod attention;
pub mod elementwise;
mod equivalent;
mod executed;
pub mod gemm;
mod kernel;
mod latent;
mod linear;
pub mod moe;
mod silicon;
mod term;
mod variants;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

pub use silicon::measured;

use crate::config::ids::ids;
use crate::config::{Dtype, Engine, Gpu, MissingFigure};
use crate::graph::{Op, Phase};
use crate::units::{Bytes, Seconds};
use silicon::Silicon;

/// A family of kernels that one model covers.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Family {
    #[default]
    Gemm,
    AttentionPrefill,
    AttentionDecode,
    Elementwise,
    Moe,
    Mla,
    MlaBmm,
    MlaModule,
    DsaModule,
    LinearAttention,
}

ids!(Family);

impl Family {
    /// The family whose model covers `op`; none for what is timed by other means.
    pub fn of(op: &Op) -> Option<Self> {
        match op {
            Op::Gemm(_) => Some(Self::Gemm),
            Op::Attention(attention) => Some(match attention.phase {
                Phase::Prefill => Self::AttentionPrefill,
                Phase::Decode => Self::AttentionDecode,
            }),
            Op::Elementwise(_) => Some(Self::Elementwise),
            Op::Moe(_) => Some(Self::Moe),
            Op::Latent(latent) => Some(latent::family(latent)),
            Op::Linear(_) => Some(Self::LinearAttention),
            Op::Scan(_) | Op::Scores(_) | Op::Collective(_) => None,
        }
    }

    /// What this build computes for the family.
    pub fn schema(self) -> Schema {
        let own: Vec<&'static str> = match self {
            Self::Gemm => term::names(gemm::TERMS).collect(),
            Self::AttentionPrefill => attention::names(attention::PREFILL),
            Self::AttentionDecode => attention::names(attention::DECODE),
            Self::Elementwise => term::names(elementwise::TERMS).collect(),
            Self::Moe => term::names(moe::TERMS).collect(),
            Self::Mla => latent::schema::attention(),
            Self::MlaBmm => latent::schema::bmm(),
            Self::MlaModule => latent::schema::dense_block(),
            Self::DsaModule => latent::schema::sparse_block(),
            Self::LinearAttention => term::names(linear::TERMS).collect(),
        };
        let identity_from = own.len();
        let names = own.into_iter().chain(silicon::names()).collect();
        let version = match self {
            Self::Gemm => gemm::VERSION,
            Self::AttentionPrefill => attention::PREFILL_VERSION,
            Self::AttentionDecode => attention::DECODE_VERSION,
            Self::Elementwise => elementwise::VERSION,
            Self::Moe => moe::VERSION,
            Self::Mla => latent::schema::ATTENTION,
            Self::MlaBmm => latent::schema::BMM,
            Self::MlaModule | Self::DsaModule => latent::schema::BLOCK,
            Self::LinearAttention => linear::VERSION,
        };
        Schema { family: self, version, names, identity_from }
    }
}

/// The columns of a family's vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schema {
    pub family: Family,
    /// Raised whenever a column changes its meaning: a model belongs to one version.
    pub version: u32,
    pub names: Vec<&'static str>,
    /// The columns from here on name the GPU: zero on GPUs without measurements of their own.
    pub identity_from: usize,
}

/// How a call is launched, beside the call itself.
#[derive(Debug, Clone, Copy)]
pub struct Launching<'a> {
    pub gpu: &'a Gpu,
    /// Catalog id of the engine.
    pub engine: &'a str,
    /// The kernel, as tables and the engine catalog name it; empty where the engine decides alone.
    pub kernel: &'a str,
    /// The format multiplied in, where the kernel leaves a choice.
    pub math: Dtype,
    /// The least time of a launch.
    pub floor: Seconds,
}

/// Whether the latent attention kernel of this name attends to the latents in prompts too.
pub fn absorbs_prompts(kernel: &str) -> bool {
    latent::absorbs_prompts(kernel)
}

/// The row of one call in service, as `engine` launches it by default on `gpu`, or none where no model
/// covers the call.
///
/// # Errors
/// Where the GPU's record lacks a figure the features need.
pub fn row(
    op: &Op,
    gpu: &Gpu,
    engine: &Engine,
    floor: Seconds,
) -> Result<Option<(Family, Vec<f32>)>, MissingFigure> {
    let launching = Launching { gpu, engine: &engine.id, kernel: "", math: Dtype::Bf16, floor };
    let launching = match op {
        Op::Gemm(call) => Launching { engine: engine.products_as(call.weights, gpu.arch), ..launching },
        Op::Attention(call) => {
            let Some(choice) = engine.kernels_on(gpu.arch) else { return Ok(None) };
            let kernel = match call.phase {
                Phase::Prefill => &choice.attention_prefill,
                Phase::Decode => &choice.attention_decode,
            };
            Launching { kernel, math: kernel::math(call, gpu, kernel), ..launching }
        }
        Op::Moe(call) => {
            let Some(choice) = engine.kernels_on(gpu.arch) else { return Ok(None) };
            let Some(kernel) = choice.moe(call.weights, call.tokens, call.ep) else { return Ok(None) };
            Launching { kernel, math: call.weights.math(), ..launching }
        }
        Op::Latent(_) | Op::Linear(_) => {
            let Some(choice) = engine.variants_on(gpu.arch) else { return Ok(None) };
            Launching { kernel: variants::kernel(op, choice), ..launching }
        }
        _ => launching,
    };
    row_in(op, &launching)
}

/// What `op` takes longer in service than in the measuring loop that its row is of; below zero where shorter.
///
/// Weights and cached keys come from device memory, for the rest of the model ran since they were last read.
/// This is added to the learned time rather than told to the model: no loop measured a small launch with
/// cold operands, and a model asked for one extrapolates (attention over 3 MB of cache by half too slow).
/// Where the engine quantises activations in the kernel before, the launch that did so in the loop is gone.
///
/// # Errors
/// Where the GPU's record lacks a figure.
pub fn in_service(op: &Op, stored: Bytes, gpu: &Gpu, engine: &Engine) -> Result<Seconds, MissingFigure> {
    let Some(family) = Family::of(op) else { return Ok(Seconds::ZERO) };
    let rounds = match op {
        Op::Gemm(call) => gemm::rotated_weights(engine.products_as(call.weights, gpu.arch)),
        _ => 1.0,
    };
    let silicon = Silicon::new(gpu, family)?;
    let saved = match op {
        Op::Gemm(call) if engine.quantises_before => gemm::quantising(call, &silicon),
        _ => 0.0,
    };
    Ok(Seconds::from_micros(silicon.missed(stored.0, rounds) - saved))
}

/// The row of one call as `launching` says, or none where no model covers it.
///
/// # Errors
/// Where the GPU's record lacks a figure the features need.
pub fn row_in(op: &Op, launching: &Launching<'_>) -> Result<Option<(Family, Vec<f32>)>, MissingFigure> {
    let Some(family) = Family::of(op) else { return Ok(None) };
    let row = match op {
        Op::Gemm(gemm) => gemm::row(gemm, launching)?,
        Op::Attention(attention) => attention::row(attention, launching)?,
        Op::Elementwise(elementwise) => elementwise::row(elementwise, launching)?,
        Op::Moe(moe) => moe::row(moe, launching)?,
        Op::Latent(latent) => latent::row(latent, launching)?,
        Op::Linear(linear) => linear::row(linear, launching)?,
        Op::Scan(_) | Op::Scores(_) | Op::Collective(_) => None,
    };
    Ok(row.map(|row| (family, row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_round_trip() {
        for &family in Family::ALL {
            assert_eq!(Family::from_id(family.id()), Some(family));
        }
    }

    #[test]
    fn names_are_unique() {
        for &family in Family::ALL {
            let mut names = family.schema().names;
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{family:?}");
        }
    }

    #[test]
    fn service_misses_what_a_loop_finds_in_the_l2() {
        use crate::config::catalog::catalog;
        use crate::graph::{Attention, Gemm, Sequences};
        let (gpu, engine) = (catalog().gpu("l40s").expect("known"), catalog().engine("vllm").expect("known"));
        let micros = |op: Op, megabytes: f64| {
            in_service(&op, Bytes(megabytes * 1e6), gpu, engine).expect("complete").micros()
        };
        let attention = |past| {
            let sequences = vec![Sequences { count: 8, new: 1, past }];
            let (phase, kv) = (Phase::Decode, Dtype::Bf16);
            Op::Attention(Attention {
                phase,
                sequences,
                heads: 32,
                kv_heads: 8,
                head_dim: 128,
                kv,
                window: None,
            })
        };
        // 33 MB of keys and values against an L2 of 101 MB, then 524 MB.
        assert!(micros(attention(1000), 33.0) > 10.0);
        assert!(micros(attention(16_000), 524.0) < 0.1);
        // Products went round six copies of their weights; FP8 is quantised by the kernel before.
        let product = |weights| Op::Gemm(Gemm { m: 1, n: 8192, k: 4096, weights });
        assert!(micros(product(Dtype::Bf16), 67.0) < 0.1);
        assert!(micros(product(Dtype::Fp8), 34.0) < 0.0);
    }
}
