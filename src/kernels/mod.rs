//! Counted work: what each kernel call asks of each resource of the GPU.

mod count;

pub use count::{Count, Schedule};
