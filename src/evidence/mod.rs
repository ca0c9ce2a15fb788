//! Measured data: tables, cases, error statistics.

pub mod cases;
pub mod errors;
pub mod serving;
