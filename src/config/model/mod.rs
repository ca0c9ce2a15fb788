//! A model's architecture for the forward pass, and its import from `config.json`.

mod attention;
mod compressed;
mod ffn;
pub mod import;
pub mod limits;
mod resize;
mod shape;
mod tensors;
mod vision;

pub use attention::{Attention, Delta, Gates, Gqa, GqaTrait, Indexer, Mamba, Mla};
pub use compressed::{Compressed, KeyBlocks};
pub use ffn::{Dense, Ffn, Moe};
pub use resize::Size;
pub use shape::{Blocks, Formats, Model, Norms};
pub use tensors::{Class, Sharding, Tensor};
pub use vision::Vision;
