//! Measured data: tables, cases, error statistics.

pub mod cases;
pub mod compared;
pub mod contradictions;
pub mod contributed;
pub mod coverage;
pub mod errors;
pub mod export;
pub mod fitted;
pub mod kernels;
pub mod launch;
pub mod measured_calls;
pub mod memory;
pub mod models;
pub mod older;
pub mod power;
pub mod sample;
pub mod served;
pub mod summary;
pub mod tables;
