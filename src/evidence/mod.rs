//! Measured data: tables, cases, error statistics.

pub mod cases;
pub mod errors;
pub mod export;
pub mod measured;
pub mod serving;
pub mod tables;
