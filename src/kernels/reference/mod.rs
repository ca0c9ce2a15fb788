//! The reference: PipeWeave's kernel calculators (arXiv 2601.14910, also called SynPerf), exact and
//! with their quirks. Our own counts live beside this folder, in `crate::kernels`.
//!
//! Each calculator cuts one launch into thread-block tasks, places the tasks on the SMs as the
//! scheduler would, and counts what the whole GPU and its busiest SM are asked for. The numbers
//! agree with the published ones to 1e-6 (`tests/reference_golden.rs`), so what is odd in them stays:
//!
//! * bandwidths are read as GiB/s, so memory cycles are 6.9 % low (`cycles`);
//! * GEMM charges each operand once in total but re-reads on the busiest SM, and never the result;
//! * attention counts one of K and V, no output, and special-function work of a fixed tile;
//! * FlashAttention-2 records a schedule in closed form that no hardware follows (`fa2`);
//! * FlashAttention-3 counts a single head of very long batches (`fa3`);
//! * SiLU-and-mul loops over twice the width that its kernel does.
//!
//! The mixture of experts (`moe`) and CUTLASS attention have no published vectors: they are checked by
//! hand counts. Causal attention and bf16 operands only, unless a name says otherwise.
//!
//! Of all this only the tile rule is shown to people, with times in decimal units; floors and totals
//! come from our own counts.

mod attention;
mod attention_cutlass;
mod counts;
mod cycles;
mod fa2;
mod fa3;
mod gemm;
mod gemm_fp8;
mod greedy;
mod moe;
mod record;
mod rmsnorm;
mod silu;
mod tile;
mod tile_rule;

#[cfg(test)]
mod fixtures;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod properties;

pub use attention::KvLayout;
pub use attention_cutlass::attention_cutlass;
pub use counts::{AttentionCounts, ElementwiseCounts, TensorCounts};
pub use cycles::{Pipe, Traffic};
pub use fa2::fa2;
pub use fa3::fa3;
pub use gemm::gemm;
pub use gemm_fp8::{choose_fp8, gemm_fp8};
pub use moe::{Moe, MoePass, moe};
pub use record::Record;
pub use rmsnorm::rmsnorm;
pub use silu::silu_mul;
pub use tile::{Grid, TileChoice};
pub use tile_rule::{Candidate, candidates, choose, schedule};
