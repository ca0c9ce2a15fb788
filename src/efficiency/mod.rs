//! Efficiencies: the share of the ideal each kernel reaches.

mod answer;
mod manifest;
#[cfg(feature = "infer")]
pub mod onnx;

pub use answer::{Efficiencies, FamilyRows, Learned, Rows};
pub use manifest::{Errors, GroupErrors, HeldOut, Interval, Manifest, ManifestError, ModelRecord};
