//! Charts: what to draw as pure geometry, and drawing that any `plotters` backend can take.
//!
//! The page draws on canvases, the tools and tests as SVG. Nothing here measures text through the backend (a browser answers that
//! with a forced layout); label boxes come from [`Theme::text_width`].

mod bars;
mod curves;
#[cfg(feature = "chart")]
mod labels;
#[cfg(feature = "chart")]
pub mod legend;
#[cfg(feature = "chart")]
mod mark;
#[cfg(feature = "chart")]
mod pen;
mod range;
#[cfg(feature = "chart")]
pub mod reading;
mod roofline;
pub mod runs;
#[cfg(feature = "chart")]
mod scale;
#[cfg(feature = "chart")]
pub mod svg;
#[cfg(feature = "chart")]
mod theme;
#[cfg(feature = "chart")]
mod values;

pub use bars::{Bar, Bars};
pub use curves::{Axis, Band, Curves, Line, Panel, Tone, Unit};
#[cfg(feature = "chart")]
pub use pen::Drawn;
pub use roofline::{Point, Roof, Roofline, summary};
#[cfg(feature = "chart")]
pub use scale::LogScale;
#[cfg(feature = "chart")]
pub use theme::{Palette, Theme};

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chart {
    Roofline(Roofline),
    Curves(Curves),
    Bars(Bars),
}

impl Default for Chart {
    fn default() -> Self {
        Self::Bars(Bars::default())
    }
}

/// Draws `chart` over the whole of `area`, whose size is in backing-store pixels.
///
/// # Errors
/// What the backend says when it does not draw.
#[cfg(feature = "chart")]
pub fn draw<DB: plotters::prelude::DrawingBackend>(
    area: &plotters::drawing::DrawingArea<DB, plotters::coord::Shift>,
    chart: &Chart,
    theme: Theme,
) -> Drawn<DB> {
    match chart {
        Chart::Roofline(chart) => roofline::draw(area, chart, theme),
        Chart::Curves(chart) => curves::draw(area, chart, theme),
        Chart::Bars(chart) => bars::draw(area, chart, theme),
    }
}
