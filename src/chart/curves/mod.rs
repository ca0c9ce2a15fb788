//! Curves over a common axis: panels side by side, each with its own unit.

#[cfg(feature = "chart")]
mod draw;

#[cfg(feature = "chart")]
pub use draw::{draw, readings};

use serde::{Deserialize, Serialize};

use super::ChartUnit;

/// The visual weight of a line, or the colour of one of several kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    #[default]
    Accent,
    Ink,
    Muted,
    Faint,
    /// The tone of measurements, and of nothing else.
    Measured,
    /// One of several kinds of points, by the index of its colour.
    Kind(usize),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    pub name: String,
    pub unit: ChartUnit,
    pub log: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Drawn at the line's end, unless empty.
    pub name: String,
    pub tone: Tone,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// Draws a dot at each point: points are known, the line only connects them.
    pub marked: bool,
    /// A scatter: nothing connects the points.
    pub loose: bool,
}

/// The space between two curves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Band {
    pub x: Vec<f64>,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    pub y: Axis,
    pub bands: Vec<Band>,
    pub lines: Vec<Line>,
    /// A limit.
    pub limit: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    pub x: Axis,
    pub panels: Vec<Panel>,
    /// Position of the page's own configuration on the axis.
    pub mark: Option<f64>,
}

impl Axis {
    pub fn new(name: &str, unit: ChartUnit, log: bool) -> Self {
        Self { name: name.into(), unit, log }
    }
}

impl Line {
    pub fn new(name: &str, tone: Tone, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let (x, y) = points.into_iter().unzip();
        Self { name: name.into(), tone, x, y, marked: false, loose: false }
    }

    /// A line with a dot at each point.
    pub fn marked(name: &str, tone: Tone, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { marked: true, ..Self::new(name, tone, points) }
    }

    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        self.x.iter().copied().zip(self.y.iter().copied())
    }
}
