//! Stacked horizontal bars.

#[cfg(feature = "chart")]
mod draw;

#[cfg(feature = "chart")]
pub use draw::{draw, readings};

use serde::{Deserialize, Serialize};

use super::Unit;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    pub unit: Unit,
    /// Names of the parts, from left to right; at most four have a colour.
    pub legend: Vec<String>,
    pub bars: Vec<Bar>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    pub name: String,
    /// One number per part, at least 0.
    pub parts: Vec<f64>,
}

impl Bar {
    pub fn sum(&self) -> f64 {
        self.parts.iter().sum()
    }
}
