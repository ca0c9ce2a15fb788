//! The API as plain values: predictions, catalog facts, links. `predict` prints these values, and `javascript`
//! passes them to pages that import Rooflight as a module.

mod facts;
mod failure;
#[cfg(feature = "infer-worker")]
pub mod javascript;
mod limits;
mod links;
mod prediction;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod typescript;

pub use crate::find::figures::{Figure, columns, figures, plan_columns};
pub use facts::{EngineFacts, GpuFacts, ModelFacts, engines, gpus, models};
pub use failure::{Failure, FailureKind};
pub use limits::Limit;
pub use links::{Decoded, Encoded, decode, encode};
pub use prediction::{Curve, Options, ParsedScenario, Prediction};
