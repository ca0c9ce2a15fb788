//! Efficiencies: the fraction of the ideal that each kernel reaches.

mod answer;
mod manifest;
#[cfg(feature = "infer")]
pub mod onnx;
mod rows;

pub use answer::{Answer, CallAnswer, Efficiencies, Learned};
pub use manifest::{Bounds, Hull, Interval, Manifest, ManifestError, ModelRecord};
pub use rows::{FamilyRows, Rows};

/// Runs the models on rows, or says why they cannot be run.
pub type AskModels<'a, E = String> = &'a dyn Fn(&Rows) -> Result<Efficiencies, E>;

/// Why nothing is predicted if some rows have no result.
pub const UNANSWERED: &str = "the models returned no result for some kernels";
