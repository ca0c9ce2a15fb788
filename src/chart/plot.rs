//! Shared by charts on top of plotters: its mesh, axes and tick labels in the charts' look, and text and lines at
//! pixel positions, for which its elements would need a coordinate system.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::element::PathElement;
use plotters::prelude::{Color, IntoFont, RGBColor, SVGBackend, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontFamily, ShapeStyle, TRANSPARENT, TextStyle};

use super::Theme;
use super::labels::Area;
use super::scale::Scale;
use super::surface::{DrawResult, Sheet, Surface};

/// Draws on `area`, a part of the picture; all positions are in backing-store pixels of the whole picture.
pub struct Pen<'a, 's> {
    pub area: &'a Sheet<'s>,
    pub theme: Theme,
}

impl Pen<'_, '_> {
    pub fn line(&self, points: &[(f64, f64)], style: ShapeStyle) -> DrawResult {
        let path: Vec<(i32, i32)> = points.iter().map(|&point| self.within(point)).collect();
        self.area.draw(&PathElement::new(path, style))
    }

    /// A stroke of this many CSS pixels.
    pub fn stroke(&self, color: RGBColor, css: f64) -> ShapeStyle {
        color.stroke_width(self.theme.stroke(css))
    }

    pub fn text(&self, text: &str, at: (f64, f64), anchor: Pos, color: RGBColor) -> DrawResult {
        self.area.draw(&Text::new(text.to_string(), self.within(at), self.style(&color).pos(anchor)))
    }

    /// plotters counts an area's pixels from its own corner.
    fn within(&self, at: (f64, f64)) -> (i32, i32) {
        let ((x, y), (left, top)) = (pixel(at), self.area.get_base_pixel());
        (x - left, y - top)
    }

    fn style<'c>(&self, color: &'c RGBColor) -> TextStyle<'c> {
        let font = (FontFamily::Name(Theme::FONT), self.theme.px(Theme::TEXT)).into_font();
        TextStyle::from(font).color(color)
    }
}

pub fn pixel((x, y): (f64, f64)) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}

/// The position of a point of a chart of this size within its frame, as fractions of the frame's width and height
/// from the lower left; all in CSS pixels.
pub fn within_frame((x, y): (f64, f64), (width, height): (f64, f64)) -> (f64, f64) {
    let bottom = height - Plot::BELOW - Plot::EDGE;
    ((x - Plot::LEFT) / (width - Plot::LEFT - Plot::RIGHT), (bottom - y) / (bottom - Plot::ABOVE))
}

/// Two axes and the frame between them.
pub struct Plot<'a, 's> {
    pub context: ChartContext<'a, Surface<'s>, Cartesian2d<Scale, Scale>>,
    pub pen: Pen<'a, 's>,
    pub frame: Area,
}

impl<'a, 's> Plot<'a, 's> {
    /// Margins around the frame in CSS pixels: the y axis name above, tick labels on the left, tick labels and x
    /// axis name below.
    const ABOVE: f64 = 26.0;
    const RIGHT: f64 = 22.0;
    const BELOW: f64 = 36.0;
    const LEFT: f64 = 60.0;
    const EDGE: f64 = 6.0;
    /// The smallest frame worth drawing, in CSS pixels.
    const LEAST: (f64, f64) = (60.0, 40.0);

    /// Covers all of `area`; `None` without room, for example during layout or on a hidden canvas.
    pub fn new(area: &'a Sheet<'s>, x: Scale, y: Scale, theme: Theme) -> Option<Self> {
        let (width, height) = area.dim_in_pixel();
        let width = f64::from(width) - theme.px(Self::LEFT + Self::RIGHT);
        let height = f64::from(height) - theme.px(Self::ABOVE + Self::BELOW + Self::EDGE);
        if width < theme.px(Self::LEAST.0) || height < theme.px(Self::LEAST.1) {
            return None;
        }
        let context = ChartBuilder::on(area)
            .margin_top(theme.size(Self::ABOVE))
            .margin_right(theme.size(Self::RIGHT))
            .margin_bottom(theme.size(Self::EDGE))
            .x_label_area_size(theme.size(Self::BELOW))
            .y_label_area_size(theme.size(Self::LEFT))
            .build_cartesian_2d(x.thinned(width, theme), y)
            .ok()?;
        let (x, y) = context.plotting_area().get_pixel_range();
        let [left, right, top, bottom] = [x.start, x.end, y.start, y.end].map(f64::from);
        let frame = Area { left, top, right, bottom };
        Some(Self { context, pen: Pen { area, theme }, frame })
    }

    /// Grid, axes, tick labels and names. The y axis name is above the axis, where it is easy to read: plotters
    /// would rotate it, and measure it through the browser, which forces a layout.
    pub fn axes(&mut self, x: &str, y: &str) -> DrawResult {
        let theme = self.pen.theme;
        let palette = theme.palette;
        self.context
            .configure_mesh()
            .bold_line_style(self.pen.stroke(palette.line, 1.0))
            .light_line_style(TRANSPARENT)
            .axis_style(self.pen.stroke(palette.faint, 1.0))
            .label_style(self.pen.style(&palette.muted))
            .axis_desc_style(self.pen.style(&palette.muted))
            .set_all_tick_mark_size(theme.size(3.0))
            .x_desc(x)
            .draw()?;
        let above = (self.frame.left - theme.px(Self::LEFT - Self::EDGE), self.frame.top - theme.px(8.0));
        self.pen.text(y, above, Pos::new(HPos::Left, VPos::Bottom), palette.ink)
    }

    pub fn x(&self) -> &Scale {
        self.context.plotting_area().as_coord_spec().x_spec()
    }

    pub fn y(&self) -> &Scale {
        self.context.plotting_area().as_coord_spec().y_spec()
    }

    /// A point's position in backing-store pixels.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (x, y) = self.context.backend_coord(&(x, y));
        (f64::from(x), f64::from(y))
    }
}

/// Calls `look` with a dummy area of `size`: positions without drawing.
pub fn undrawn<T>(size: (f64, f64), look: impl FnOnce(&Sheet<'_>) -> T) -> T {
    let mut text = String::new();
    let (width, height) = pixel(size);
    let size = (width.max(0) as u32, height.max(0) as u32);
    look(&Surface::Svg(SVGBackend::with_string(&mut text, size)).sheet())
}
