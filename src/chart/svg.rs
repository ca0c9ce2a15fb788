//! A chart as an SVG picture.

use plotters::prelude::SVGBackend;

use super::caption::Caption;
use super::surface::Surface;
use super::{Chart, Theme};

/// `size` of the chart in CSS pixels; the captions are above it.
pub fn svg(
    chart: &Chart,
    captions: &[&str],
    (width, height): (u32, u32),
    theme: Theme,
) -> Result<String, String> {
    let mut text = String::new();
    let caption = Caption::new(captions, f64::from(width));
    let size = (width, height + caption.height().round() as u32);
    let area = Surface::Svg(SVGBackend::with_string(&mut text, size)).sheet();
    caption.draw(&area, chart, theme).map_err(|error| error.to_string())?;
    drop(area);
    Ok(text)
}
