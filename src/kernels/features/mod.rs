//! Feature vectors: what the learned models read of a launch.
//!
//! A vector holds logarithms of ratios wherever it can: ideal times of each resource over a reference time, work over
//! what the SMs take at once, working set over L2. Such ratios mean the same on every GPU, which is what carries a model
//! to GPUs without measurements. What names a GPU (its identity columns) is zero unless its measurements trained the
//! model.

mod device;
mod equivalent;
mod term;

pub use device::{DeviceSpec, REFERENCE, Tile, identity_names};
pub use equivalent::Equivalent;
pub use term::{Inputs, Term, flag, ln_rounding, names, vector};
