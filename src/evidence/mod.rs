//! Measured data: tables, cases, error statistics.
