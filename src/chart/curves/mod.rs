//! Curves over one axis: panels beside each other, each with its own unit.

#[cfg(feature = "chart")]
mod draw;

#[cfg(feature = "chart")]
pub use draw::{draw, readings};

use crate::config::record::{names, record};

/// What a number on an axis is, for its marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Count,
    Seconds,
    /// Of one, printed as per cent.
    Share,
}

/// What a line stands for, by its weight in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Accent,
    Ink,
    Muted,
    Faint,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axis {
    pub name: String,
    pub unit: Unit,
    pub log: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
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
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Band {
    pub x: Vec<f64>,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panel {
    pub y: Axis,
    pub bands: Vec<Band>,
    pub lines: Vec<Line>,
    /// A value that is not to be exceeded.
    pub limit: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curves {
    pub x: Axis,
    pub panels: Vec<Panel>,
    /// Where on the axis the page's own configuration stands.
    pub mark: Option<f64>,
}

names!(Unit: Count = "count", Seconds = "seconds", Share = "share");
names!(Tone: Accent = "accent", Ink = "ink", Muted = "muted", Faint = "faint");
record!(Axis: name, unit, log);
record!(Line: name, tone, x, y, marked, loose);
record!(Band: x, low, high);
record!(Panel: y, bands, lines, limit);
record!(Curves: x, panels, mark);
