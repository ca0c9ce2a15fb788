//! The kernels of one forward pass: which calls, of what size, how often.

mod batch;
mod latent;
mod linear;
mod moe;
mod op;
mod pass;
pub mod routing;
mod scores;

pub use batch::{Batch, Sequences};
pub use latent::{
    BatchedGemm, Indexer, Latent, LatentAttention, LatentHeads, LatentModule, Reach, SparseModule,
};
pub use linear::{CausalConv, DeltaRule, Linear, Scan};
pub use moe::{Moe, Part};
pub use op::{Attention, Block, Call, Collective, Elementwise, Gemm, Op, Phase, Scope};
pub use pass::{Layout, pass, pass_of};
pub use routing::{Load, Routing};
pub use scores::Scores;
