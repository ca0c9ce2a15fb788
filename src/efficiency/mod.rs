//! Efficiencies: the share of the ideal each kernel reaches.

mod answer;
mod manifest;
#[cfg(feature = "infer")]
pub mod onnx;

pub use answer::{Answer, Efficiencies, FamilyRows, Learned, Rows};
pub use manifest::{
    Bounds, Errors, GroupErrors, HeldOut, Hull, Interval, Manifest, ManifestError, ModelRecord,
};
