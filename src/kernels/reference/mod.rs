//! The tile rule, with what it needs of the reference: PipeWeave's kernel calculators (arXiv 2601.14910, also called
//! SynPerf), reproduced with their quirks. Our own counts are next to this folder, in `crate::kernels`.
//!
//! A calculator splits a launch into thread-block tasks, places them on the SMs like the scheduler, and counts the work
//! of the whole GPU and of its busiest SM. Here is that of GEMMs; the others are in `tests/reference`, where all are
//! compared with the published numbers. Quirk: GEMM charges each operand once in total but re-reads on the busiest SM,
//! and never the result.
//!
//! Only the tile rule is shown to users, with times in decimal units; floors and totals come from our own counts.

mod counts;
mod gemm;
mod record;
mod tile_rule;

pub use counts::{Pipe, TensorCounts, Traffic};
pub use gemm::{FP8_TILE, Grid, TileChoice, choose_fp8, gemm};
pub use record::Record;
pub use tile_rule::{choose, published, schedule, schedules};
