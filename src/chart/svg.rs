//! A chart as an SVG picture.

use plotters::prelude::SVGBackend;

use super::surface::Surface;
use super::{Chart, Theme, draw};

/// `size` in CSS pixels.
pub fn svg(chart: &Chart, size: (u32, u32), theme: Theme) -> Result<String, String> {
    let mut text = String::new();
    let area = Surface::Svg(SVGBackend::with_string(&mut text, size)).sheet();
    draw(&area, chart, theme).map_err(|error| error.to_string())?;
    drop(area);
    Ok(text)
}
