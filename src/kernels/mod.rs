//! Kernels, with a module for each family: the call, its counted work, its feature vector, and the kernels that
//! engines launch for it.

pub mod attention;
pub mod collective;
pub(crate) mod constants;
mod count;
pub mod elementwise;
mod features;
mod gemm;
pub mod latent;
mod launches;
mod linear;
mod measured;
pub mod moe;
pub mod random;
pub mod reference;
mod registry;
mod sequences;

/// Bytes per activation element: kernels exchange BF16; FP8 and FP4 kernels quantise it on the fly.
pub const ACTIVATION_BYTES: f64 = 2.0;

pub use attention::Attention;
pub use collective::Collective;
pub use count::{Count, Schedule};
pub use elementwise::{Elementwise, ElementwiseKind};
pub use gemm::Gemm;
pub use latent::{
    BatchedGemm, Indexer, LatentAttention, LatentHeads, LatentModule, Reach, Scores, SparseModule,
};
pub use linear::{CausalConv, DeltaRule, Scan};
pub use moe::{ExpertLoad, Moe, MoePart, Pool, Routing};
pub use registry::{CallPoint, Family, FamilySpec, Kernel, Launch, Op, Schema};
pub use sequences::{Phase, Sequences, number, tokens};
