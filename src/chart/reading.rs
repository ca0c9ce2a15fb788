//! Reads out the points of a chart by pointer and keyboard.

use plotters::element::{Circle, Rectangle};
use plotters::prelude::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::plot::{Pen, pixel};
use super::surface::{DrawResult, Sheet};
use super::{Chart, Theme, bars, curves, roofline};

/// One point of a chart, in backing-store pixels, and its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub x: f64,
    pub y: f64,
    /// Horizontal tolerance of the pointer on either side.
    pub half_width: f64,
    pub text: String,
    /// Id of the kernel's row; empty if the point has none.
    pub id: String,
}

impl Chart {
    /// All points, in the order of the arrow keys, on an area of `size` backing-store pixels.
    pub fn readings(&self, size: (f64, f64), theme: Theme) -> Vec<Reading> {
        match self {
            Self::Roofline(chart) => roofline::readings(chart, size, theme),
            Self::Curves(chart) => curves::readings(chart, size, theme),
            Self::Bars(chart) => bars::readings(chart, size, theme),
        }
    }
}

/// The index of the nearest reading; `None` if all are further than `reach`.
pub fn nearest(readings: &[Reading], (x, y): (f64, f64), reach: f64) -> Option<usize> {
    let aside = |reading: &Reading| ((reading.x - x).abs() - reading.half_width).max(0.0);
    let distance = |reading: &Reading| aside(reading).hypot(reading.y - y);
    let all = readings.iter().map(distance).enumerate();
    all.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, distance)| *distance <= reach).map(|(index, _)| index)
}

/// Draws a crosshair and the point's text over the chart.
pub fn draw_reading(area: &Sheet<'_>, reading: &Reading, theme: Theme) -> DrawResult {
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (f64::from(width), f64::from(height));
    let (pen, palette) = (Pen { area, theme }, theme.palette);
    let hair = pen.stroke(palette.faint, 1.0);
    pen.line(&[(reading.x, 0.0), (reading.x, height)], hair)?;
    pen.line(&[(0.0, reading.y), (width, reading.y)], hair)?;
    let ring = palette.accent.stroke_width(theme.stroke(2.0));
    area.draw(&Circle::new(pixel((reading.x, reading.y)), theme.size(6.0), ring))?;
    let (gap, pad) = (theme.px(10.0), theme.px(5.0));
    let size = (theme.text_room(&reading.text) + 2.0 * pad, theme.px(Theme::TEXT * 1.3) + 2.0 * pad);
    // To the upper right of the point, if it fits.
    let left = if reading.x + gap + size.0 <= width { reading.x + gap } else { reading.x - gap - size.0 };
    let left = left.clamp(0.0, (width - size.0).max(0.0));
    let top = if reading.y - gap - size.1 >= 0.0 { reading.y - gap - size.1 } else { reading.y + gap };
    let corners = [pixel((left, top)), pixel((left + size.0, top + size.1))];
    area.draw(&Rectangle::new(corners, palette.panel.filled()))?;
    area.draw(&Rectangle::new(corners, pen.stroke(palette.faint, 1.0)))?;
    let at = (left + pad, top + size.1 / 2.0);
    pen.text(&reading.text, at, Pos::new(HPos::Left, VPos::Center), palette.ink)?;
    area.present()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_within_reach_is_read() {
        let at = |x: f64| Reading { x, y: 10.0, half_width: 0.0, text: String::new(), id: String::new() };
        let all = [at(0.0), at(50.0), at(100.0)];
        assert_eq!(nearest(&all, (60.0, 10.0), 30.0), Some(1));
        assert_eq!(nearest(&all, (60.0, 60.0), 30.0), None);
        assert_eq!(nearest(&[], (0.0, 0.0), 30.0), None);
        let wide = [Reading { half_width: 400.0, ..at(500.0) }];
        assert_eq!(nearest(&wide, (120.0, 12.0), 30.0), Some(0));
    }
}
