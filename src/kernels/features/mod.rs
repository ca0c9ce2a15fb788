//! Feature vectors: the models' view of a launch.
//!
//! Vectors hold log ratios where possible: ideal time of each resource over a reference time, work over what the
//! SMs process at once, working set over L2. Such ratios mean the same on every GPU, which lets a model transfer to
//! GPUs without measurements. Identity columns, which name a GPU, are zero unless its measurements trained the
//! model.

#[cfg(test)]
pub mod checks;
mod device;
mod equivalent;
mod term;

pub use device::{DeviceSpec, Tile, identity_names};
pub use equivalent::Equivalent;
pub use term::{Inputs, Term, flag, ln_rounding, names, vector};

/// Rows of tiles: queries in attention, tokens in projections.
pub const TILE_ROWS: [f64; 2] = [64.0, 128.0];
