//! Kernels, with a module for each family: the call, its counted work, its feature vector, and the kernels that
//! engines launch for it. To add one, write that module and list it here.

#[macro_use]
mod registry;

pub mod attention;
pub mod collective;
mod count;
mod coverage;
pub mod elementwise;
mod features;
mod fp32;
mod gemm;
pub mod latent;
mod linear;
#[cfg(feature = "tools")]
pub mod measured;
pub mod moe;
pub mod reference;
mod sequences;

/// Bytes per activation element: kernels exchange BF16; FP8 and FP4 kernels quantise it on the fly.
pub const ACTIVATION_BYTES: f64 = crate::units::BF16_BYTES;

pub use attention::Attention;
pub use collective::Collective;
pub use count::{Count, Schedule};
pub use elementwise::{Elementwise, ElementwiseKind};
pub use fp32::Fp32Gemm;
pub use gemm::Gemm;
pub use latent::{
    BatchedGemm, Indexer, LatentAttention, LatentHeads, LatentModule, Reach, Scores, SparseModule,
};
pub use linear::{CausalConv, DeltaRule, Scan};
pub use moe::{ExpertLoad, Moe, MoePart, Pool, Routing};
pub use registry::{Added, CallPoint, FamilySpec, Kernel, Launch, Schema, ServedVector, parsed};
pub use sequences::{Phase, Sequences, number, tokens};

calls!(
    Gemm,
    Fp32Gemm,
    Attention,
    Elementwise,
    Moe,
    LatentAttention,
    BatchedGemm,
    LatentModule,
    SparseModule,
    Scores,
    CausalConv,
    DeltaRule,
    Scan,
    Collective,
);

families!(
    Gemm = gemm::FAMILY,
    AttentionPrefill = attention::PREFILL,
    AttentionDecode = attention::DECODE,
    Elementwise = elementwise::FAMILY,
    Moe = moe::FAMILY,
    Mla = latent::ATTENTION,
    MlaBmm = latent::BMM,
    MlaModule = latent::DENSE_BLOCK,
    DsaModule = latent::SPARSE_BLOCK,
    LinearAttention = linear::FAMILY,
);

/// How the measured tables of the families are read.
#[cfg(feature = "tools")]
pub const READERS: &[&[measured::TableReader]] = &[
    gemm::measured::READERS,
    attention::measured::READERS,
    elementwise::measured::READERS,
    moe::measured::READERS,
    latent::measured::READERS,
    linear::measured::READERS,
];
