//! A model's architecture as the forward pass needs it, and its import from `config.json`.

pub mod import;
pub mod limits;
mod shape;

pub use shape::{Attention, Blocks, Dense, Ffn, Gqa, Model, Norms};
