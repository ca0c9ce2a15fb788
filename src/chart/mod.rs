//! Charts: what to draw as pure geometry, and drawing on any `plotters` backend.
//!
//! The page sends a chart to the module that draws it. plotters draws meshes, axes and shapes; axis scales
//! (`scale`), label placement (`labels`) and stacked bars are our own. Text is never measured through the backend,
//! which would force a browser layout: label sizes come from [`Theme::text_width`].

mod bars;
#[cfg(feature = "chart")]
pub mod caption;
mod curves;
#[cfg(feature = "chart")]
mod labels;
#[cfg(feature = "chart")]
pub mod legend;
#[cfg(feature = "chart")]
pub mod plot;
#[cfg(feature = "chart")]
pub mod reading;
mod roofline;
pub mod runs;
#[cfg(feature = "chart")]
mod scale;
#[cfg(feature = "chart")]
pub mod surface;
#[cfg(feature = "chart")]
mod theme;
mod unit;
mod values;
mod zoom;

pub use bars::{Bar, Bars, Hues};
#[cfg(feature = "chart")]
pub use caption::svg;
pub use curves::{Axis, Band, Curves, Line, Panel, Tone};
pub use roofline::{KernelPoint, Roof, Roofline, elsewhere, not_shown, summary};
#[cfg(feature = "chart")]
pub use theme::{Palette, Theme};
pub use unit::ChartUnit;
pub use values::csv;
pub use zoom::Zoom;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chart {
    Roofline(Roofline),
    Curves(Curves),
    Bars(Bars),
}

impl Chart {
    /// The part shown by `zoom`, if the chart can be zoomed.
    #[must_use]
    pub fn zoomed(mut self, zoom: Zoom) -> Self {
        if let Self::Roofline(chart) = &mut self {
            chart.zoom = zoom;
        }
        self
    }
}

impl Default for Chart {
    fn default() -> Self {
        Self::Bars(Bars::default())
    }
}

/// Draws `chart` over the whole of `area`, whose size is in backing-store pixels.
#[cfg(feature = "chart")]
pub fn draw(area: &surface::Sheet<'_>, chart: &Chart, theme: Theme) -> surface::DrawResult {
    match chart {
        Chart::Roofline(chart) => roofline::draw(area, chart, theme),
        Chart::Curves(chart) => curves::draw(area, chart, theme),
        Chart::Bars(chart) => bars::draw(area, chart, theme),
    }
}
