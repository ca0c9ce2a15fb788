//! Draws bars on any plotters backend: names on the left, totals at the bars' ends, the legend on top. plotters has
//! no stacked horizontal bars, and its legend measures text through the browser.

use plotters::element::Rectangle;
use plotters::prelude::{Color, RGBColor};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Bar, Bars, Hues};
use crate::chart::Theme;
use crate::chart::plot::{Pen, pixel};
use crate::chart::reading::Reading;
use crate::chart::surface::{DrawResult, Sheet};

/// Height of the legend above the bars, and the margin around them, in CSS pixels.
const KEY: f64 = 24.0;
const AROUND: f64 = 6.0;
/// Room for the total at a bar's end, in CSS pixels.
const SUM: f64 = 74.0;
/// Largest share of the width for names.
const MOST_NAME: f64 = 0.34;
/// Share of its row that a bar fills.
const FILL: f64 = 0.62;
const SWATCH: f64 = 10.0;
const GAP: f64 = 8.0;
/// Tolerance, so that rounding does not shorten a name.
const TOLERANCE: f64 = 1.001;

/// Draws `chart` over the whole of `area`, whose size is in backing-store pixels.
pub fn draw(area: &Sheet<'_>, chart: &Bars, theme: Theme) -> DrawResult {
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (f64::from(width), f64::from(height));
    area.fill(&theme.palette.panel)?;
    let pen = Pen { area, theme };
    if theme.keyed {
        legend(&pen, chart, width)?;
    }
    let Some(Layout { left, above, scale, row }) = layout(chart, (width, height), theme) else {
        return area.present();
    };
    for (index, bar) in chart.bars.iter().enumerate() {
        let middle = above + (index as f64 + 0.5) * row;
        let name = shortened(&bar.name, left - theme.px(GAP), theme);
        let anchor = Pos::new(HPos::Right, VPos::Center);
        pen.text(&name, (left - theme.px(GAP), middle), anchor, theme.palette.ink)?;
        let end = parts(&pen, bar, chart.hues, (left, middle), (scale, row * FILL))?;
        let anchor = Pos::new(HPos::Left, VPos::Center);
        pen.text(&chart.unit.print(bar.sum()), (end + theme.px(GAP), middle), anchor, theme.palette.muted)?;
    }
    area.present()
}

/// The layout in backing-store pixels: left end of the bars, top of the first row, pixels per unit, height of a row.
struct Layout {
    left: f64,
    above: f64,
    scale: f64,
    row: f64,
}

/// `None` if there is nothing to draw or no room, for example during layout or on a hidden canvas.
fn layout(chart: &Bars, (width, height): (f64, f64), theme: Theme) -> Option<Layout> {
    let widest = chart.bars.iter().map(|bar| theme.text_room(&bar.name)).fold(0.0, f64::max);
    let left = widest.min(width * MOST_NAME) + theme.px(GAP);
    let room = width - left - theme.px(SUM);
    let most = chart.bars.iter().map(Bar::sum).fold(0.0, f64::max);
    let above = theme.px(if theme.keyed { AROUND + KEY } else { AROUND });
    let row = (height - above - theme.px(AROUND)) / chart.bars.len().max(1) as f64;
    (room >= theme.px(40.0) && most > 0.0).then_some(Layout { left, above, scale: room / most, row })
}

/// Every part of every bar, at its centre.
pub fn readings(chart: &Bars, size: (f64, f64), theme: Theme) -> Vec<Reading> {
    let Some(Layout { left, above, scale, row }) = layout(chart, size, theme) else { return Vec::new() };
    let mut all = Vec::new();
    for (index, bar) in chart.bars.iter().enumerate() {
        let y = above + (index as f64 + 0.5) * row;
        let mut from = left;
        for (part, name) in bar.parts.iter().zip(&chart.legend) {
            let wide = part.max(0.0) * scale;
            if wide > 0.0 {
                let text = format!("{}, {}: {}", bar.name, name, chart.unit.print(*part));
                all.push(Reading {
                    x: from + wide / 2.0,
                    y,
                    half_width: wide / 2.0,
                    text,
                    id: String::new(),
                });
            }
            from += wide;
        }
    }
    all
}

/// Draws the parts from `left` on, at `scale` pixels per unit; returns where they end.
fn parts(
    pen: &Pen<'_, '_>,
    bar: &Bar,
    hues: Hues,
    (left, middle): (f64, f64),
    (scale, high): (f64, f64),
) -> DrawResult<f64> {
    let mut from = left;
    for (part, color) in bar.parts.iter().zip(colors(pen.theme, hues)) {
        let to = from + part.max(0.0) * scale;
        // Parts narrower than a pixel are skipped.
        if to.round() > from.round() {
            let corners = [pixel((from, middle - high / 2.0)), pixel((to, middle + high / 2.0))];
            piece(pen, corners, color)?;
        }
        from = to;
    }
    Ok(from)
}

/// The palest colour gets an outline.
fn piece(pen: &Pen<'_, '_>, corners: [(i32, i32); 2], color: RGBColor) -> DrawResult {
    pen.area.draw(&Rectangle::new(corners, color.filled()))?;
    if color == pen.theme.palette.line {
        pen.area.draw(&Rectangle::new(corners, pen.stroke(pen.theme.palette.faint, 1.0)))?;
    }
    Ok(())
}

fn legend(pen: &Pen<'_, '_>, chart: &Bars, width: f64) -> DrawResult {
    let theme = pen.theme;
    let (mut at, middle) = (0.0, theme.px(KEY / 2.0));
    for (name, color) in chart.legend.iter().zip(colors(theme, chart.hues)) {
        let next = at + theme.px(SWATCH + 2.0 * GAP) + theme.text_room(name);
        if next > width {
            break;
        }
        let (half, text) = (theme.px(SWATCH / 2.0), at + theme.px(SWATCH + GAP * 0.7));
        let corners = [pixel((at, middle - half)), pixel((at + 2.0 * half, middle + half))];
        piece(pen, corners, color)?;
        pen.text(name, (text, middle), Pos::new(HPos::Left, VPos::Center), theme.palette.muted)?;
        at = next + theme.px(GAP);
    }
    Ok(())
}

/// Colours of the parts in order. Parts without a meaning of their own differ only in lightness.
fn colors(theme: Theme, hues: Hues) -> [RGBColor; 4] {
    let palette = theme.palette;
    match hues {
        Hues::Parts => [palette.accent, palette.ink, palette.faint, palette.line],
        Hues::Resources => palette.resources,
    }
}

/// The name, shortened to `width` pixels.
fn shortened(name: &str, width: f64, theme: Theme) -> String {
    if theme.text_room(name) <= width * TOLERANCE {
        return name.to_owned();
    }
    let letters = (width / theme.text_room("x")).floor().max(2.0) as usize;
    name.chars().take(letters - 1).chain(['…']).collect()
}
