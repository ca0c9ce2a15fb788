//! Counted work: what each kernel call asks of each resource of the GPU.

pub mod attention;
pub mod collective;
mod count;
pub mod elementwise;
pub mod gemm;
pub mod reference;

pub use count::{Count, Schedule};
