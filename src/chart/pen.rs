//! Lines and text in the chart's look, on any backend.

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::PathElement;
use plotters::prelude::{Color, DrawingBackend, IntoFont, RGBColor, Text};
use plotters::style::text_anchor::Pos;
use plotters::style::{FontFamily, ShapeStyle, TextStyle};

use super::Theme;

pub type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// Draws on `area`; all positions are in backing-store pixels.
pub struct Pen<'a, DB: DrawingBackend> {
    pub area: &'a DrawingArea<DB, Shift>,
    pub theme: Theme,
}

impl<DB: DrawingBackend> Pen<'_, DB> {
    pub fn line(&self, points: &[(f64, f64)], style: ShapeStyle) -> Drawn<DB> {
        let path: Vec<(i32, i32)> = points.iter().map(|&point| pixel(point)).collect();
        self.area.draw(&PathElement::new(path, style))
    }

    /// A stroke of so many CSS pixels.
    pub fn stroke(&self, color: RGBColor, css: f64) -> ShapeStyle {
        color.stroke_width(self.theme.stroke(css))
    }

    pub fn text(&self, text: &str, at: (f64, f64), anchor: Pos, color: RGBColor) -> Drawn<DB> {
        let font = (FontFamily::Name(Theme::FONT), self.theme.px(Theme::TEXT)).into_font();
        let style = TextStyle::from(font).color(&color).pos(anchor);
        self.area.draw(&Text::new(text.to_string(), pixel(at), style))
    }
}

pub fn pixel((x, y): (f64, f64)) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}
