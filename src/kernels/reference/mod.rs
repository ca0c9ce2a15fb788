//! The reference: PipeWeave's kernel calculators (arXiv 2601.14910, also called SynPerf), reproduced with their
//! quirks. Our own counts are next to this folder, in `crate::kernels`.
//!
//! Each calculator splits a launch into thread-block tasks, places them on the SMs like the scheduler, and counts
//! the work of the whole GPU and of its busiest SM. The numbers agree with the published ones to 1e-6
//! (`tests/reference_golden.rs`), so their quirks stay:
//!
//! * bandwidths are read as GiB/s, so memory cycles are 6.9 % low (`counts`);
//! * GEMM charges each operand once in total but re-reads on the busiest SM, and never the result;
//! * attention counts one of K and V, no output, and special-function work of a fixed tile;
//! * FlashAttention-2 records a schedule that no hardware follows (`fa2`);
//! * FlashAttention-3 counts a single head of very long batches (`fa3`);
//! * SiLU-and-mul loops over twice the width that its kernel does.
//!
//! Causal attention and bf16 operands unless a name says otherwise. Published numbers are next to their formula.
//! Only the tile rule is shown to users, with times in decimal units; floors and totals come from our own counts.

mod attention;
mod counts;
mod elementwise;
mod fa2;
mod fa3;
mod gemm;
mod record;
mod tile_rule;

pub use attention::KvLayout;
pub use counts::{AttentionCounts, ElementwiseCounts, Pipe, TensorCounts, Traffic};
pub use elementwise::{rmsnorm, silu_mul};
pub use fa2::fa2;
pub use fa3::fa3;
pub use gemm::{Grid, TileChoice, choose_fp8, gemm, gemm_fp8};
pub use record::Record;
pub use tile_rule::{choose, published, schedule, schedules};
