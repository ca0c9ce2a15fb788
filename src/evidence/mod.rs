//! Measured data: tables, cases, error statistics.

pub mod cases;
#[cfg(feature = "infer")]
pub mod closed_loop;
pub mod compared;
pub mod contradictions;
pub mod copies;
pub mod errors;
pub mod export;
#[cfg(feature = "infer")]
pub mod kernels;
pub mod launch;
pub mod measured;
#[cfg(feature = "infer")]
pub mod models;
pub mod sample;
#[cfg(feature = "infer")]
pub mod summary;
pub mod tables;
