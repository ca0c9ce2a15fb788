//! Bars below each other, each made of the same few parts.

#[cfg(feature = "chart")]
mod draw;

#[cfg(feature = "chart")]
pub use draw::{draw, readings};

use serde::{Deserialize, Serialize};

use super::Unit;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    pub unit: Unit,
    /// Names of the parts, from left to right; four at most can be told apart.
    pub legend: Vec<String>,
    pub bars: Vec<Bar>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    pub name: String,
    /// One number a part, not below zero.
    pub parts: Vec<f64>,
}

impl Bar {
    /// All parts together.
    pub fn sum(&self) -> f64 {
        self.parts.iter().sum()
    }
}
