//! Draws bars on any plotters backend: names left, the sum at each bar's end, the parts named above.

use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::Rectangle;
use plotters::prelude::{Color, DrawingBackend, RGBColor};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Bar, Bars};
use crate::chart::Theme;
use crate::chart::mark::mark;
use crate::chart::pen::{Drawn, Pen, pixel};

/// Room above the bars for the legend, and below them, in CSS pixels.
const ABOVE: f64 = 30.0;
const BELOW: f64 = 6.0;
/// Room of a sum at a bar's end, in CSS pixels.
const SUM: f64 = 74.0;
/// Names take at most this share of the width.
const MOST_NAME: f64 = 0.34;
/// Share of a bar's row that the bar fills.
const FILL: f64 = 0.62;
const SWATCH: f64 = 10.0;
const GAP: f64 = 8.0;

/// Draws `chart` over the whole of `area`, whose size is in backing-store pixels.
pub fn draw<DB: DrawingBackend>(area: &DrawingArea<DB, Shift>, chart: &Bars, theme: Theme) -> Drawn<DB> {
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (f64::from(width), f64::from(height));
    area.fill(&theme.palette.panel)?;
    let pen = Pen { area, theme };
    legend(&pen, chart, width)?;
    let widest = chart.bars.iter().map(|bar| theme.text_width(&bar.name)).fold(0.0, f64::max);
    let left = widest.min(width * MOST_NAME) + theme.px(GAP);
    let room = width - left - theme.px(SUM);
    let most = chart.bars.iter().map(Bar::sum).fold(0.0, f64::max);
    // A canvas being laid out, or hidden, has no room for bars.
    if room < theme.px(40.0) || most <= 0.0 {
        return area.present();
    }
    let row = (height - theme.px(ABOVE + BELOW)) / chart.bars.len().max(1) as f64;
    for (index, bar) in chart.bars.iter().enumerate() {
        let middle = theme.px(ABOVE) + (index as f64 + 0.5) * row;
        let name = shortened(&bar.name, left - theme.px(GAP), theme);
        let anchor = Pos::new(HPos::Right, VPos::Center);
        pen.text(&name, (left - theme.px(GAP), middle), anchor, theme.palette.ink)?;
        let end = parts(&pen, bar, (left, middle), (room / most, row * FILL))?;
        let anchor = Pos::new(HPos::Left, VPos::Center);
        pen.text(&mark(bar.sum(), chart.unit), (end + theme.px(GAP), middle), anchor, theme.palette.muted)?;
    }
    area.present()
}

/// The parts from `left` on, `(width of one, height)` pixels; where they end.
fn parts<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    bar: &Bar,
    (left, middle): (f64, f64),
    (scale, high): (f64, f64),
) -> Result<f64, plotters::drawing::DrawingAreaErrorKind<DB::ErrorType>> {
    let mut from = left;
    for (part, color) in bar.parts.iter().zip(colors(pen.theme)) {
        let to = from + part.max(0.0) * scale;
        // What is thinner than a pixel is not there.
        if to.round() > from.round() {
            let corners = [pixel((from, middle - high / 2.0)), pixel((to, middle + high / 2.0))];
            pen.area.draw(&Rectangle::new(corners, color.filled()))?;
        }
        from = to;
    }
    Ok(from)
}

fn legend<DB: DrawingBackend>(pen: &Pen<'_, DB>, chart: &Bars, width: f64) -> Drawn<DB> {
    let theme = pen.theme;
    let (mut at, middle) = (0.0, theme.px(ABOVE * 0.4));
    for (name, color) in chart.legend.iter().zip(colors(theme)) {
        let next = at + theme.px(SWATCH + 2.0 * GAP) + theme.text_width(name);
        if next > width {
            break;
        }
        let (half, text) = (theme.px(SWATCH / 2.0), at + theme.px(SWATCH + GAP * 0.7));
        let corners = [pixel((at, middle - half)), pixel((at + 2.0 * half, middle + half))];
        pen.area.draw(&Rectangle::new(corners, color.filled()))?;
        pen.text(name, (text, middle), Pos::new(HPos::Left, VPos::Center), theme.palette.muted)?;
        at = next + theme.px(GAP);
    }
    Ok(())
}

/// Of the parts in order: lightness alone tells neighbours apart.
fn colors(theme: Theme) -> [RGBColor; 4] {
    let palette = theme.palette;
    [palette.accent, palette.ink, palette.faint, palette.line]
}

/// A name that fits into `width` pixels.
fn shortened(name: &str, width: f64, theme: Theme) -> String {
    if theme.text_width(name) <= width {
        return name.to_owned();
    }
    let letters = (width / theme.text_width("x")).floor().max(2.0) as usize;
    name.chars().take(letters - 1).chain(['…']).collect()
}
