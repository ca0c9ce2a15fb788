//! The kernels of one forward pass: which calls, of what size, how often.

mod batch;
mod op;
mod pass;

pub use batch::{Batch, Sequences};
pub use op::{Attention, Block, Call, Collective, Elementwise, Gemm, Op, Phase};
pub use pass::{Layout, pass};
