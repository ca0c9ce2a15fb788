//! Draws curves on any plotters backend: panels side by side, stacked if narrow.

use plotters::element::{Circle, PathElement, Polygon};
use plotters::prelude::{Color, DashedLineSeries};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Band, Curves, Line, Panel};
use crate::chart::Theme;
use crate::chart::labels::{Area, LabelSpace};
use crate::chart::plot::{Plot, undrawn};
use crate::chart::reading::Reading;
use crate::chart::scale::Scale;
use crate::chart::surface::{DrawResult, Sheet};

/// Panels narrower than this are stacked, in CSS pixels.
const NARROWEST: f64 = 220.0;
/// Radius of a marked point, in CSS pixels.
const DOT: f64 = 2.5;

/// Draws `chart` over the whole of `area`, whose size is in backing-store pixels.
pub fn draw(area: &Sheet<'_>, chart: &Curves, theme: Theme) -> DrawResult {
    area.fill(&theme.palette.panel)?;
    for (part, panel) in parts(area, chart, theme).iter().zip(&chart.panels) {
        if let Some(mut plot) = plot(part, chart, panel, theme) {
            draw_panel(&mut plot, chart, panel)?;
        }
    }
    area.present()
}

/// The area of each panel.
fn parts<'s>(area: &Sheet<'s>, chart: &Curves, theme: Theme) -> Vec<Sheet<'s>> {
    let count = chart.panels.len().max(1);
    let beside = f64::from(area.dim_in_pixel().0) / count as f64 >= theme.px(NARROWEST);
    area.split_evenly(if beside { (1, count) } else { (count, 1) })
}

/// The axes of a panel; `None` without room.
fn plot<'a, 's>(part: &'a Sheet<'s>, chart: &Curves, panel: &Panel, theme: Theme) -> Option<Plot<'a, 's>> {
    let (log, unit) = (chart.x.log, chart.x.unit);
    let x = match panel.positions().next() {
        Some(_) => Scale::over(panel.positions().chain(chart.mark), log, unit),
        // Nothing is known for this panel yet: use the others' axis.
        None => Scale::over(chart.panels.iter().flat_map(Panel::positions).chain(chart.mark), log, unit),
    };
    Plot::new(part, x, Scale::over(panel.values(), panel.y.log, panel.y.unit), theme)
}

/// Every point of every line, panel by panel.
pub fn readings(chart: &Curves, size: (f64, f64), theme: Theme) -> Vec<Reading> {
    undrawn(size, |area| {
        let mut all = Vec::new();
        for (part, panel) in parts(area, chart, theme).iter().zip(&chart.panels) {
            let Some(plot) = plot(part, chart, panel, theme) else { continue };
            for line in &panel.lines {
                let name = if line.name.is_empty() { String::new() } else { format!(", {}", line.name) };
                all.extend(line.points().map(|(at, value)| {
                    let (across, up) = (chart.x.unit.print(at), panel.y.unit.print(value));
                    let (x, y) = plot.at(at, value);
                    // What else the panel draws follows the colon.
                    let panel = panel.y.name.split(':').next().unwrap_or_default();
                    let text = format!("{panel}{name}: {up}; {} {across}", chart.x.name);
                    Reading { x, y, half_width: 0.0, text, id: String::new() }
                }));
            }
        }
        all
    })
}

fn draw_panel(plot: &mut Plot<'_, '_>, chart: &Curves, panel: &Panel) -> DrawResult {
    plot.axes(&chart.x.name, &panel.y.name)?;
    let (theme, palette) = (plot.pen.theme, plot.pen.theme.palette);
    let [low, high] = [plot.y().low, plot.y().high];
    let draw = plot.context.plotting_area().clone();
    if let Some(mark) = chart.mark {
        draw.draw(&PathElement::new([(mark, low), (mark, high)], plot.pen.stroke(palette.faint, 1.0)))?;
    }
    for Band { x, low, high } in &panel.bands {
        let points = |y: &[f64]| x.iter().copied().zip(y.iter().copied()).collect::<Vec<_>>();
        let corners: Vec<_> = points(high).into_iter().chain(points(low).into_iter().rev()).collect();
        draw.draw(&Polygon::new(corners, palette.accent.mix(0.18).filled()))?;
    }
    let (mut space, mut marks) = (LabelSpace::new(plot.frame), Vec::new());
    if let Some(limit) = panel.limit.filter(|limit| (low..=high).contains(limit)) {
        let (ends, dash) = ([(plot.x().low, limit), (plot.x().high, limit)], theme.size(4.0));
        let style = plot.pen.stroke(palette.ink, 1.0);
        let [start, end] = ends.map(|(x, y)| plot.at(x, y));
        space.block_line(start, end, theme.px(3.0));
        plot.context.draw_series(DashedLineSeries::new(ends, dash, dash, style))?;
    }
    for line in &panel.lines {
        let color = palette.tone(line.tone);
        if !line.loose {
            draw.draw(&PathElement::new(line.points().collect::<Vec<_>>(), plot.pen.stroke(color, 1.5)))?;
            let pixels: Vec<(f64, f64)> = line.points().map(|(x, y)| plot.at(x, y)).collect();
            pixels.windows(2).for_each(|pair| space.block_line(pair[0], pair[1], theme.px(3.0)));
        }
        if line.marked {
            let fill = if line.loose { color.mix(0.4).filled() } else { color.filled() };
            for point in line.points() {
                draw.draw(&Circle::new(point, theme.size(DOT), fill))?;
                let (x, y) = plot.at(point.0, point.1);
                marks.push(Area::around(x, y, theme.px(DOT)));
            }
        }
    }
    panel.lines.iter().try_for_each(|line| label(plot, line, &mut space, &marks))
}

/// Along the line from its end backwards, above or below it, and off the marks where that is possible.
fn label(plot: &Plot<'_, '_>, line: &Line, space: &mut LabelSpace, marks: &[Area]) -> DrawResult {
    if line.name.is_empty() {
        return Ok(());
    }
    let theme = plot.pen.theme;
    let (width, height) = (theme.text_width(&line.name), theme.px(Theme::TEXT * 1.2));
    let gap = theme.px(5.0);
    let candidates = line.x.iter().zip(&line.y).rev().flat_map(|(&x, &y)| {
        let (x, y) = plot.at(x, y);
        let left = (x - width).min(plot.frame.right - width - gap);
        [y - gap - height, y + gap].map(|top| Area { left, top, right: left + width, bottom: top + height })
    });
    let is_clear = |area: &Area| !marks.iter().any(|mark| mark.overlaps(area));
    let place =
        space.first_free(candidates.clone().filter(is_clear)).or_else(|| space.first_free(candidates));
    let Some(place) = place else { return Ok(()) };
    let anchor = Pos::new(HPos::Left, VPos::Top);
    plot.pen.text(&line.name, (place.left, place.top), anchor, theme.palette.tone(line.tone))
}

impl Panel {
    /// All values the y axis has to cover.
    fn values(&self) -> impl Iterator<Item = f64> {
        let bands = self.bands.iter().flat_map(|band| band.low.iter().chain(&band.high));
        bands.chain(self.lines.iter().flat_map(|line| &line.y)).copied()
    }

    fn positions(&self) -> impl Iterator<Item = f64> {
        let bands = self.bands.iter().flat_map(|band| &band.x);
        bands.chain(self.lines.iter().flat_map(|line| &line.x)).copied()
    }
}
