//! Measured data: tables, cases, error statistics.

pub mod cases;
pub mod errors;
pub mod export;
pub mod measured;
#[cfg(feature = "infer")]
pub mod models;
pub mod serving;
pub mod tables;
