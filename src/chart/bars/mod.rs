//! Stacked horizontal bars.

#[cfg(feature = "chart")]
mod draw;

#[cfg(feature = "chart")]
pub use draw::{draw, readings};

use serde::{Deserialize, Serialize};

use super::ChartUnit;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    pub unit: ChartUnit,
    pub hues: Hues,
    /// Names of the parts from left to right; up to four have a colour.
    pub legend: Vec<String>,
    pub bars: Vec<Bar>,
}

/// The meaning of the parts' colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hues {
    /// Colours tell the parts' order only.
    #[default]
    Parts,
    /// Compute, memory, links, launch and host: each resource has one colour throughout the page.
    Resources,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    pub name: String,
    /// One number per part, 0 or more.
    pub parts: Vec<f64>,
}

impl Bar {
    pub fn sum(&self) -> f64 {
        self.parts.iter().sum()
    }
}
