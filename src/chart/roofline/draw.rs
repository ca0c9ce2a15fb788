//! Draws a roofline on any plotters backend: axes, roofs, points, labels.

use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Circle, PathElement, Polygon};
use plotters::prelude::{Color, DrawingBackend, RGBColor};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Point, Roof, Roofline};
use crate::chart::labels::{Area, Board};
use crate::chart::plot::{DrawResult, Plot, pixel, undrawn};
use crate::chart::reading::Reading;
use crate::chart::scale::Scale;
use crate::chart::{Theme, Unit};
use crate::graph::Phase;
use crate::units::{BytesPerSecond, Printed, count, percent};

/// In backing-store pixels.
type Place = (f64, f64);

/// Radius of a point that takes the whole pass, in CSS pixels, on a narrow and on a wide chart; areas are
/// proportional to time.
const LARGEST: (f64, f64) = (10.0, 17.0);
/// Width of a chart per pixel of its largest radius, between the two.
const WIDTH_PER_RADIUS: f64 = 45.0;
/// Radius below which a point would vanish, in CSS pixels.
const SMALLEST: f64 = 3.0;
/// Kernels below this share of their pass's time get no label.
const LABEL_SHARE: f64 = 0.04;
/// One label per so many CSS pixels of width, so that a phone's chart stays readable.
const WIDTH_PER_LABEL: f64 = 130.0;

/// Draws `chart` over the whole of `area`, whose size is in backing-store pixels.
pub fn draw<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    chart: &Roofline,
    theme: Theme,
) -> DrawResult<DB> {
    area.fill(&theme.palette.panel)?;
    let Some(mut plot) = plot(area, chart, theme) else { return area.present() };
    plot.axes("Arithmetic intensity, FLOP per byte", "FLOP/s")?;
    let drawing = Drawing { plot: &plot, theme };
    let mut board = Board::new(plot.frame);
    drawing.keep_clear(chart, &mut board);
    drawing.roofs(chart, &mut board)?;
    drawing.points(chart)?;
    drawing.labels(chart, &mut board)?;
    area.present()
}

/// The axes; none where there is no room.
fn plot<'a, DB: DrawingBackend>(
    area: &'a DrawingArea<DB, Shift>,
    chart: &Roofline,
    theme: Theme,
) -> Option<Plot<'a, DB>> {
    // All points, the ridges of all roofs with room to their right, and all roofs with room for a label above.
    let points = chart.points.iter().flat_map(|point| [point.intensity * 0.6, point.intensity * 1.6]);
    let ridges = chart.roofs.iter().flat_map(|roof| [chart.ridge(roof) * 0.01, chart.ridge(roof) * 8.0]);
    let x = Scale::log(points.chain(ridges), (1.0, 1000.0), Unit::Count);
    let points = chart.points.iter().flat_map(|point| [point.reached.0 * 0.6, point.ceiling.0]);
    let roofs = chart.roofs.iter().flat_map(|roof| [roof.peak.0 * 0.01, roof.peak.0 * 1.6]);
    let y = Scale::log(points.chain(roofs), (1e12, 1e15), Unit::Rate);
    Plot::new(area, x, y, theme)
}

/// Every kernel, from the largest share of time to the smallest.
pub fn readings(chart: &Roofline, size: (f64, f64), theme: Theme) -> Vec<Reading> {
    undrawn(size, |area| {
        let Some(plot) = plot(area, chart, theme) else { return Vec::new() };
        let reading = |point: &Point| {
            let phase = point.phase.id();
            let of_ceiling = percent(point.reached.0 / point.ceiling.0.max(point.reached.0));
            let text = format!(
                "{}, {phase}: {} at {} FLOP/B, {of_ceiling} of its ceiling, {} of the step",
                point.name,
                point.reached.print(),
                count(point.intensity),
                percent(point.share),
            );
            let (x, y) = plot.at(point.intensity, point.reached.0);
            Reading { x, y, half_width: 0.0, text }
        };
        chart.points.iter().map(reading).collect()
    })
}

struct Drawing<'a, 'b, DB: DrawingBackend> {
    plot: &'a Plot<'b, DB>,
    theme: Theme,
}

impl<DB: DrawingBackend> Drawing<'_, '_, DB> {
    /// Blocks what labels must not cover: points and roofs.
    fn keep_clear(&self, chart: &Roofline, board: &mut Board) {
        for point in &chart.points {
            let (x, y) = self.at(point);
            board.block(Area::around(x, y, self.radius(point)));
        }
        let width = self.theme.px(4.0);
        for roof in &chart.roofs {
            let (start, end) = self.roof_line(chart, roof);
            board.block_line(start, end, width);
        }
        for bandwidth in chart.l2.into_iter().chain([chart.bandwidth]) {
            let (low, high) = self.memory_line(chart, bandwidth);
            board.block_line(low, high, width);
        }
    }

    /// A dense roof: from its ridge to the right edge.
    fn roof_line(&self, chart: &Roofline, roof: &Roof) -> (Place, Place) {
        let (x, y) = self.plot.at(chart.ridge(roof), roof.peak.0);
        ((x, y), (self.plot.frame.right, y))
    }

    /// The roof of a memory: from where it enters the frame to the highest ridge.
    fn memory_line(&self, chart: &Roofline, bandwidth: BytesPerSecond) -> (Place, Place) {
        let (x, y) = (self.plot.x(), self.plot.y());
        let top = chart.roofs.iter().map(|roof| roof.peak.0).fold(0.0, f64::max);
        let end = if top > 0.0 { top } else { y.high } / bandwidth.0;
        let start = (y.low / bandwidth.0).max(x.low);
        let at = |intensity: f64| self.plot.at(intensity, intensity * bandwidth.0);
        (at(start), at(end))
    }

    fn roofs(&self, chart: &Roofline, board: &mut Board) -> DrawResult<DB> {
        let palette = self.theme.palette;
        for roof in &chart.roofs {
            let (color, width) = if roof.used { (palette.ink, 1.5) } else { (palette.faint, 1.0) };
            let (start, end) = self.roof_line(chart, roof);
            self.plot.pen.line(&[start, end], self.plot.pen.stroke(color, width))?;
        }
        let memory = self.memory_line(chart, chart.bandwidth);
        self.plot.pen.line(&[memory.0, memory.1], self.plot.pen.stroke(palette.ink, 1.5))?;
        let l2 = chart.l2.map(|bandwidth| (bandwidth, self.memory_line(chart, bandwidth)));
        if let Some((_, (low, high))) = l2 {
            self.plot.pen.line(&[low, high], self.plot.pen.stroke(palette.faint, 1.0))?;
        }
        for roof in &chart.roofs {
            self.roof_label(roof, self.plot.at(chart.ridge(roof), roof.peak.0).1, board)?;
        }
        self.memory_label("Memory", chart.bandwidth, memory, palette.ink, board)?;
        match l2 {
            Some((bandwidth, line)) => self.memory_label("L2", bandwidth, line, palette.muted, board),
            None => Ok(()),
        }
    }

    /// At the right end of its line: above it, or as far below as the points there ask.
    fn roof_label(&self, roof: &Roof, y: f64, board: &mut Board) -> DrawResult<DB> {
        let palette = self.theme.palette;
        let text = format!("{} dense {}", roof.name, plain(&roof.peak.print()));
        let (width, height) = (self.theme.text_width(&text), self.theme.px(Theme::TEXT * 1.2));
        let (right, gap) = (self.plot.frame.right - self.theme.px(2.0), self.theme.px(3.0));
        let at = |top: f64| Area { left: right - width, top, right, bottom: top + height };
        let Some(place) = board
            .first_free([-gap - height, gap, gap + height, gap + 1.7 * height].map(|offset| at(y + offset)))
        else {
            return Ok(());
        };
        let color = if roof.used { palette.ink } else { palette.muted };
        self.plot.pen.text(&text, (right, place.bottom), Pos::new(HPos::Right, VPos::Bottom), color)
    }

    /// On the free upper side of the slope, its lower right corner touching it; or below, where another slope is too near.
    fn memory_label(
        &self,
        name: &str,
        bandwidth: BytesPerSecond,
        (low, high): (Place, Place),
        color: RGBColor,
        board: &mut Board,
    ) -> DrawResult<DB> {
        let text = format!("{name} {}", plain(&bandwidth.print()));
        let (width, height) = (self.theme.text_width(&text), self.theme.px(Theme::TEXT * 1.2));
        let slope = (high.1 - low.1) / (high.0 - low.0);
        let gap = self.theme.px(8.0);
        let along = |share: f64| {
            let right = low.0 + (high.0 - low.0) * share - gap;
            let bottom = low.1 + slope * (right - low.0) - gap;
            Area { left: right - width, top: bottom - height, right, bottom }
        };
        let below = |share: f64| {
            let left = low.0 + (high.0 - low.0) * share + gap;
            let top = low.1 + slope * (left - low.0) + gap;
            Area { left, top, right: left + width, bottom: top + height }
        };
        const ALONG: [f64; 5] = [0.62, 0.5, 0.75, 0.4, 0.88];
        let Some(place) = board.first_free(ALONG.map(along).into_iter().chain(ALONG.map(below))) else {
            return Ok(());
        };
        let anchor = Pos::new(HPos::Right, VPos::Bottom);
        self.plot.pen.text(&text, (place.right, place.bottom), anchor, color)
    }

    fn at(&self, point: &Point) -> (f64, f64) {
        self.plot.at(point.intensity, point.reached.0)
    }

    /// Area proportional to the share of time.
    fn radius(&self, point: &Point) -> f64 {
        let largest = (self.css_width() / WIDTH_PER_RADIUS).clamp(LARGEST.0, LARGEST.1);
        self.theme.px((largest * point.share.clamp(0.0, 1.0).sqrt()).max(SMALLEST))
    }

    fn css_width(&self) -> f64 {
        (self.plot.frame.right - self.plot.frame.left) / self.theme.scale
    }

    fn color(&self, phase: Phase) -> RGBColor {
        match phase {
            Phase::Prefill => self.theme.palette.accent,
            Phase::Decode => self.theme.palette.ink,
        }
    }

    /// Prefill as discs, decode as squares on their tips, each with a stem up to its ceiling.
    fn points(&self, chart: &Roofline) -> DrawResult<DB> {
        for point in &chart.points {
            let ((x, y), radius) = (self.at(point), self.radius(point));
            let (color, ceiling) =
                (self.color(point.phase), self.plot.at(point.intensity, point.ceiling.0).1);
            if y - ceiling > radius {
                let (stem, cap) = (self.plot.pen.stroke(color, 1.0), self.theme.px(4.0));
                self.plot.pen.line(&[(x, y - radius), (x, ceiling)], stem)?;
                self.plot.pen.line(&[(x - cap, ceiling), (x + cap, ceiling)], stem)?;
            }
            let rim = self.plot.pen.stroke(self.theme.palette.panel, 1.0);
            let fill = color.mix(0.82).filled();
            match point.phase {
                Phase::Prefill => {
                    let size = radius.round() as i32;
                    self.plot.pen.area.draw(&Circle::new(pixel((x, y)), size, fill))?;
                    self.plot.pen.area.draw(&Circle::new(pixel((x, y)), size, rim))?;
                }
                Phase::Decode => {
                    let tip = radius * 1.2;
                    let tips = [(tip, 0.0), (0.0, tip), (-tip, 0.0), (0.0, -tip), (tip, 0.0)];
                    let corners: Vec<(i32, i32)> = tips.map(|(dx, dy)| pixel((x + dx, y + dy))).to_vec();
                    self.plot.pen.area.draw(&Polygon::new(corners[..4].to_vec(), fill))?;
                    self.plot.pen.area.draw(&PathElement::new(corners, rim))?;
                }
            }
        }
        Ok(())
    }

    /// The largest kernels by name, as many as the width carries.
    fn labels(&self, chart: &Roofline, board: &mut Board) -> DrawResult<DB> {
        let most = (self.css_width() / WIDTH_PER_LABEL).floor() as usize;
        for point in chart.points.iter().filter(|point| point.share >= LABEL_SHARE).take(most) {
            let size = (self.theme.text_width(&point.name), self.theme.px(Theme::TEXT * 1.2));
            let Some(place) = board.place(self.at(point), self.radius(point), size) else { continue };
            let middle = ((place.left + place.right) / 2.0, (place.top + place.bottom) / 2.0);
            let centre = Pos::new(HPos::Center, VPos::Center);
            self.plot.pen.text(&point.name, middle, centre, self.color(point.phase))?;
        }
        Ok(())
    }
}

/// Backends differ in how they treat a no-break space.
fn plain(printed: &Printed) -> String {
    format!("{} {}", printed.number, printed.unit)
}
