//! Curves over one axis: panels beside each other, each with its own unit.

#[cfg(feature = "chart")]
mod draw;

#[cfg(feature = "chart")]
pub use draw::{draw, readings};

use serde::{Deserialize, Serialize};

/// What a number on an axis is, for its marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    #[default]
    Count,
    Seconds,
    /// Of one, printed as per cent.
    Share,
}

/// What a line stands for, by its weight in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    #[default]
    Accent,
    Ink,
    Muted,
    Faint,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    pub name: String,
    pub unit: Unit,
    pub log: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Written at the line's end, unless empty.
    pub name: String,
    pub tone: Tone,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// Marks its points: they are what is known, the line only leads from one to the next.
    pub marked: bool,
    /// They are no sequence: nothing leads from one to the next.
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
    /// A value that is not to be exceeded.
    pub limit: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    pub x: Axis,
    pub panels: Vec<Panel>,
    /// Where on the axis the page's own configuration stands.
    pub mark: Option<f64>,
}
