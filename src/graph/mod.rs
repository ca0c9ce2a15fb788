//! The kernels of one forward pass: which calls, of what size, how often.

mod batch;
mod call;
mod pass;

pub use crate::kernels::{Phase, Sequences};
pub use batch::Batch;
pub use call::{Block, Call, Scope};
pub use pass::{Layout, layers, pass, pass_of};
