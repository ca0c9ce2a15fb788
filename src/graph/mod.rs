//! The kernels of one forward pass: which calls, with which sizes and counts.

mod batch;
mod call;
mod pass;

pub use crate::kernels::{Phase, Sequences};
pub use batch::Batch;
pub use call::{Block, Call, Scope};
pub use pass::{Layout, encoder, layers, pass, pass_of};
