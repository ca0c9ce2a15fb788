//! Draws curves on any plotters backend: panels side by side, or one above the other where there is no room.

use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Circle, Polygon};
use plotters::prelude::{Color, DrawingBackend, RGBColor};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Axis, Band, Curves, Line, Panel, Tone};
use crate::chart::Theme;
use crate::chart::labels::{Area, Board};
use crate::chart::mark::mark;
use crate::chart::pen::{Drawn, Pen, pixel};
use crate::chart::reading::Reading;
use crate::chart::scale::Scale;

/// Free space around a panel's plot, in CSS pixels: its name above, marks left and below.
const MARGIN: Area = Area { left: 58.0, top: 26.0, right: 14.0, bottom: 44.0 };
/// Panels narrower than this stand one above the other, in CSS pixels.
const NARROWEST: f64 = 220.0;
/// Between two marks on the x axis at least, in CSS pixels: a mark that comes closer is left out.
const MARK_GAP: f64 = 6.0;
/// Kept free right of the last one, in CSS pixels: some fonts are wider than text is taken to be.
const MARK_EDGE: f64 = 5.0;
/// Radius of a marked point, in CSS pixels.
const DOT: f64 = 2.5;

/// One panel being drawn.
struct Plot<'a, DB: DrawingBackend> {
    pen: &'a Pen<'a, DB>,
    theme: Theme,
    frame: Area,
    x: Scale,
    y: Scale,
}

/// Draws `chart` over the whole of `area`, whose size is in backing-store pixels.
pub fn draw<DB: DrawingBackend>(area: &DrawingArea<DB, Shift>, chart: &Curves, theme: Theme) -> Drawn<DB> {
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (f64::from(width), f64::from(height));
    area.fill(&theme.palette.panel)?;
    let pen = Pen { area, theme };
    for Placed { panel, frame, x, y } in placed(chart, (width, height), theme) {
        Plot { pen: &pen, theme, frame, x, y }.panel(chart, panel)?;
    }
    area.present()
}

/// A panel and where its values lie.
struct Placed<'a> {
    panel: &'a Panel,
    frame: Area,
    x: Scale,
    y: Scale,
}

/// The panels that have room, on an area of so many backing-store pixels.
fn placed(chart: &Curves, (width, height): (f64, f64), theme: Theme) -> Vec<Placed<'_>> {
    let count = chart.panels.len().max(1) as f64;
    let beside = width / count >= theme.px(NARROWEST);
    let (each, high) = if beside { (width / count, height) } else { (width, height / count) };
    let everywhere = chart.panels.iter().flat_map(Panel::positions).chain(chart.mark);
    let mut all = Vec::new();
    for (index, panel) in chart.panels.iter().enumerate() {
        let (column, row) = if beside { (index as f64, 0.0) } else { (0.0, index as f64) };
        let frame = Area {
            left: column * each + theme.px(MARGIN.left),
            top: row * high + theme.px(MARGIN.top),
            right: (column + 1.0) * each - theme.px(MARGIN.right),
            bottom: (row + 1.0) * high - theme.px(MARGIN.bottom),
        };
        // A canvas being laid out, or hidden, has no room for a plot.
        if frame.right - frame.left < theme.px(60.0) || frame.bottom - frame.top < theme.px(40.0) {
            continue;
        }
        // Points of one panel may lie where another has none.
        let (log, span) = (chart.x.log, (frame.left, frame.right));
        let x = match panel.positions().next() {
            Some(_) => Scale::over(panel.positions().chain(chart.mark), log, span),
            None => Scale::over(everywhere.clone(), log, span),
        };
        let y = Scale::over(panel.values(), panel.y.log, (frame.bottom, frame.top));
        all.push(Placed { panel, frame, x, y });
    }
    all
}

/// What stands below an axis, and around which x: as many marks as have room, none of them beyond `right`.
fn marks(scale: &Scale, axis: &Axis, right: f64, theme: Theme) -> Vec<(String, f64)> {
    let mut free_from = f64::NEG_INFINITY;
    let mut all = Vec::new();
    for tick in scale.ticks() {
        let text = mark(tick, axis.unit);
        let half = theme.text_width(&text) / 2.0;
        let middle = scale.map(tick).min(right - half);
        if middle - half >= free_from {
            free_from = middle + half + theme.px(MARK_GAP);
            all.push((text, middle));
        }
    }
    all
}

/// Every point of every line, panel by panel.
pub fn readings(chart: &Curves, size: (f64, f64), theme: Theme) -> Vec<Reading> {
    let mut all = Vec::new();
    for Placed { panel, frame, x, y } in placed(chart, size, theme) {
        for line in &panel.lines {
            let name = if line.name.is_empty() { String::new() } else { format!("{}, ", line.name) };
            for (&at, &value) in line.x.iter().zip(&line.y) {
                let (across, up) = (mark(at, chart.x.unit), mark(value, panel.y.unit));
                let text = format!("{name}{} {across}: {up}", chart.x.name);
                let y = y.map(value).clamp(frame.top, frame.bottom);
                all.push(Reading { x: x.map(at), y, half_width: 0.0, text });
            }
        }
    }
    all
}

impl<DB: DrawingBackend> Plot<'_, DB> {
    fn panel(&self, chart: &Curves, panel: &Panel) -> Drawn<DB> {
        self.axes(&chart.x, &panel.y)?;
        if let Some(mark) = chart.mark {
            let x = self.x.map(mark);
            let style = self.pen.stroke(self.theme.palette.faint, 1.0);
            self.pen.line(&[(x, self.frame.top), (x, self.frame.bottom)], style)?;
        }
        for band in &panel.bands {
            self.band(band)?;
        }
        if let Some(limit) = panel.limit {
            self.limit(limit)?;
        }
        let mut board = Board::new(self.frame);
        for line in &panel.lines {
            self.line(line, &mut board)?;
        }
        for line in panel.lines.iter().filter(|line| !line.name.is_empty()) {
            self.label(line, &mut board)?;
        }
        Ok(())
    }

    fn axes(&self, x: &Axis, y: &Axis) -> Drawn<DB> {
        let (frame, palette, theme) = (self.frame, self.theme.palette, self.theme);
        let gap = theme.px(6.0);
        for tick in self.x.ticks() {
            let at = self.x.map(tick);
            self.pen.line(&[(at, frame.top), (at, frame.bottom)], self.pen.stroke(palette.line, 1.0))?;
        }
        for (text, middle) in marks(&self.x, x, frame.right + theme.px(MARGIN.right - MARK_EDGE), theme) {
            let below = (middle, frame.bottom + gap);
            self.pen.text(&text, below, Pos::new(HPos::Center, VPos::Top), palette.muted)?;
        }
        for tick in self.y.ticks() {
            let at = self.y.map(tick);
            self.pen.line(&[(frame.left, at), (frame.right, at)], self.pen.stroke(palette.line, 1.0))?;
            let beside = (frame.left - gap, at);
            self.pen.text(&mark(tick, y.unit), beside, Pos::new(HPos::Right, VPos::Center), palette.muted)?;
        }
        let axes = [(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)];
        self.pen.line(&axes, self.pen.stroke(palette.faint, 1.0))?;
        let under = ((frame.left + frame.right) / 2.0, frame.bottom + theme.px(24.0));
        self.pen.text(&x.name, under, Pos::new(HPos::Center, VPos::Top), palette.muted)?;
        let above = (frame.left, frame.top - theme.px(8.0));
        self.pen.text(&y.name, above, Pos::new(HPos::Left, VPos::Bottom), palette.ink)
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.map(x), self.y.map(y).clamp(self.frame.top, self.frame.bottom))
    }

    fn band(&self, band: &Band) -> Drawn<DB> {
        let upper = band.x.iter().zip(&band.high);
        let lower = band.x.iter().zip(&band.low).rev();
        let corners: Vec<(i32, i32)> = upper.chain(lower).map(|(&x, &y)| pixel(self.at(x, y))).collect();
        self.pen.area.draw(&Polygon::new(corners, self.theme.palette.accent.mix(0.18).filled()))
    }

    fn line(&self, line: &Line, board: &mut Board) -> Drawn<DB> {
        let color = self.color(line.tone);
        let points: Vec<(f64, f64)> = line.x.iter().zip(&line.y).map(|(&x, &y)| self.at(x, y)).collect();
        if !line.loose {
            for pair in points.windows(2) {
                board.block_line(pair[0], pair[1], self.theme.px(4.0));
            }
            self.pen.line(&points, self.pen.stroke(color, 1.5))?;
        }
        if line.marked {
            let size = self.theme.px(DOT).round() as i32;
            for &point in &points {
                self.pen.area.draw(&Circle::new(pixel(point), size, color.filled()))?;
            }
        }
        Ok(())
    }

    /// Dashes where the limit lies, if that is in view.
    fn limit(&self, limit: f64) -> Drawn<DB> {
        let y = self.y.map(limit);
        if !(self.frame.top..=self.frame.bottom).contains(&y) {
            return Ok(());
        }
        let (dash, style) = (self.theme.px(4.0), self.pen.stroke(self.theme.palette.ink, 1.0));
        let mut from = self.frame.left;
        while from < self.frame.right {
            self.pen.line(&[(from, y), ((from + dash).min(self.frame.right), y)], style)?;
            from += 2.0 * dash;
        }
        Ok(())
    }

    /// Along the line, from its end backwards, above or below it.
    fn label(&self, line: &Line, board: &mut Board) -> Drawn<DB> {
        let size = (self.theme.text_width(&line.name), self.theme.px(Theme::TEXT * 1.2));
        let gap = self.theme.px(5.0);
        let candidates = line.x.iter().zip(&line.y).rev().flat_map(|(&x, &y)| {
            let (x, y) = self.at(x, y);
            let left = (x - size.0).min(self.frame.right - size.0 - gap);
            [y - gap - size.1, y + gap].map(|top| Area {
                left,
                top,
                right: left + size.0,
                bottom: top + size.1,
            })
        });
        let Some(place) = board.first_free(candidates) else { return Ok(()) };
        let anchor = Pos::new(HPos::Left, VPos::Top);
        self.pen.text(&line.name, (place.left, place.top), anchor, self.color(line.tone))
    }

    fn color(&self, tone: Tone) -> RGBColor {
        match tone {
            Tone::Accent => self.theme.palette.accent,
            Tone::Ink => self.theme.palette.ink,
            Tone::Muted => self.theme.palette.muted,
            Tone::Faint => self.theme.palette.faint,
        }
    }
}

impl Panel {
    /// Every value that the panel has to show.
    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        let bands = self.bands.iter().flat_map(|band| band.low.iter().chain(&band.high));
        let lines = self.lines.iter().flat_map(|line| &line.y);
        bands.chain(lines).copied()
    }

    fn positions(&self) -> impl Iterator<Item = f64> + Clone {
        let bands = self.bands.iter().flat_map(|band| &band.x);
        bands.chain(self.lines.iter().flat_map(|line| &line.x)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Palette;
    use crate::chart::Unit;

    #[test]
    fn marks_keep_apart_and_inside() {
        let (axis, theme) =
            (Axis { unit: Unit::Seconds, log: true, ..Axis::default() }, Theme::new(Palette::LIGHT, 1.0));
        for width in [60.0, 180.0, 256.0, 400.0, 900.0] {
            let scale = Scale::over([0.02, 50.0].into_iter(), true, (0.0, width));
            let placed = marks(&scale, &axis, width + MARGIN.right, theme);
            assert!(!placed.is_empty(), "{width}");
            let ends = |(text, middle): &(String, f64)| {
                let half = theme.text_width(text) / 2.0;
                (middle - half, middle + half)
            };
            for pair in placed.windows(2) {
                assert!(ends(&pair[0]).1 + MARK_GAP <= ends(&pair[1]).0 + 1e-9, "{width}: {placed:?}");
            }
            assert!(placed.iter().all(|one| ends(one).1 <= width + MARGIN.right), "{width}: {placed:?}");
        }
    }
}
