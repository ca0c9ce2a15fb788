//! The larger and the smaller of two numbers that are not NaN. `f64::max` and `f64::min` have rules for NaN that WebAssembly
//! lacks, so there they are calls of a library, millions of them in a run.

/// The larger of the two.
pub fn larger(one: f64, other: f64) -> f64 {
    if one < other { other } else { one }
}

/// The smaller of the two.
pub fn smaller(one: f64, other: f64) -> f64 {
    if other < one { other } else { one }
}
