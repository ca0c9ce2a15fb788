//! Draws a roofline on any plotters backend: axes, roofs, points, labels.

use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Circle, PathElement, Polygon};
use plotters::prelude::{Color, DrawingBackend, RGBColor};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Point, Roof, Roofline};
use crate::chart::labels::{Area, Board};
use crate::chart::pen::{Drawn, Pen, pixel};
use crate::chart::reading::Reading;
use crate::chart::{LogScale, Theme};
use crate::graph::Phase;
use crate::units::{BytesPerSecond, FlopsPerSecond, Printed, count, decimal, percent};

/// Free space around the plot, in CSS pixels: left holds the tick labels of the rate axis.
const MARGIN: Area = Area { left: 62.0, top: 26.0, right: 12.0, bottom: 42.0 };
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

/// A plot being drawn: the pen, the look, and where values lie.
struct Plot<'a, DB: DrawingBackend> {
    pen: Pen<'a, DB>,
    theme: Theme,
    frame: Area,
    x: LogScale,
    y: LogScale,
}

/// Draws `chart` over the whole of `area`, whose size is in backing-store pixels.
pub fn draw<DB: DrawingBackend>(area: &DrawingArea<DB, Shift>, chart: &Roofline, theme: Theme) -> Drawn<DB> {
    let (width, height) = area.dim_in_pixel();
    area.fill(&theme.palette.panel)?;
    let Some((frame, x, y)) = placed(chart, (f64::from(width), f64::from(height)), theme) else {
        return area.present();
    };
    let plot = Plot { pen: Pen { area, theme }, theme, frame, x, y };
    let mut board = Board::new(frame);
    plot.keep_clear(chart, &mut board);
    plot.grid()?;
    plot.roofs(chart, &mut board)?;
    plot.points(chart)?;
    plot.labels(chart, &mut board)?;
    area.present()
}

/// Where values lie; none where there is no room for a plot, as on a canvas that is being laid out or hidden.
fn placed(chart: &Roofline, (width, height): (f64, f64), theme: Theme) -> Option<(Area, LogScale, LogScale)> {
    let frame = Area {
        left: theme.px(MARGIN.left),
        top: theme.px(MARGIN.top),
        right: width - theme.px(MARGIN.right),
        bottom: height - theme.px(MARGIN.bottom),
    };
    if frame.right - frame.left < theme.px(80.0) || frame.bottom - frame.top < theme.px(60.0) {
        return None;
    }
    let x = LogScale::new(chart.x_range(), (frame.left, frame.right));
    let y = LogScale::new(chart.y_range(), (frame.bottom, frame.top));
    Some((frame, x, y))
}

/// Every kernel, from the largest share of time to the smallest.
pub fn readings(chart: &Roofline, size: (f64, f64), theme: Theme) -> Vec<Reading> {
    let Some((_, x, y)) = placed(chart, size, theme) else { return Vec::new() };
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
        Reading { x: x.map(point.intensity), y: y.map(point.reached.0), half_width: 0.0, text }
    };
    chart.points.iter().map(reading).collect()
}

impl<DB: DrawingBackend> Plot<'_, DB> {
    fn grid(&self) -> Drawn<DB> {
        let (frame, palette) = (self.frame, self.theme.palette);
        let gap = self.theme.px(7.0);
        for value in self.x.decades() {
            let x = self.x.map(value);
            self.pen.line(&[(x, frame.top), (x, frame.bottom)], self.pen.stroke(palette.line, 1.0))?;
            let below = (x, frame.bottom + gap);
            self.pen.text(&intensity_tick(value), below, Pos::new(HPos::Center, VPos::Top), palette.muted)?;
        }
        for value in self.y.decades() {
            let y = self.y.map(value);
            self.pen.line(&[(frame.left, y), (frame.right, y)], self.pen.stroke(palette.line, 1.0))?;
            let beside = (frame.left - gap, y);
            self.pen.text(&rate_tick(value), beside, Pos::new(HPos::Right, VPos::Center), palette.muted)?;
        }
        let axes = [(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)];
        self.pen.line(&axes, self.pen.stroke(palette.faint, 1.0))?;
        let under = ((frame.left + frame.right) / 2.0, frame.bottom + self.theme.px(24.0));
        let centre = Pos::new(HPos::Center, VPos::Top);
        self.pen.text("Arithmetic intensity, FLOP per byte", under, centre, palette.muted)?;
        let above = (self.theme.px(2.0), self.theme.px(4.0));
        self.pen.text("FLOP/s", above, Pos::new(HPos::Left, VPos::Top), palette.muted)
    }

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
    fn roof_line(&self, chart: &Roofline, roof: &Roof) -> ((f64, f64), (f64, f64)) {
        let y = self.y.map(roof.peak.0);
        ((self.x.map(chart.ridge(roof)), y), (self.frame.right, y))
    }

    /// The roof of a memory: from where it enters the frame to the highest ridge.
    fn memory_line(&self, chart: &Roofline, bandwidth: BytesPerSecond) -> ((f64, f64), (f64, f64)) {
        let rate = |intensity: f64| intensity * bandwidth.0;
        let top = chart.roofs.iter().map(|roof| roof.peak.0).fold(0.0, f64::max);
        let end = if top > 0.0 { top } else { self.y.high } / bandwidth.0;
        let start = (self.y.low / bandwidth.0).max(self.x.low);
        let at = |intensity: f64| (self.x.map(intensity), self.y.map(rate(intensity)));
        (at(start), at(end))
    }

    fn roofs(&self, chart: &Roofline, board: &mut Board) -> Drawn<DB> {
        let palette = self.theme.palette;
        for roof in &chart.roofs {
            let (color, width) = if roof.used { (palette.ink, 1.5) } else { (palette.faint, 1.0) };
            let (start, end) = self.roof_line(chart, roof);
            self.pen.line(&[start, end], self.pen.stroke(color, width))?;
        }
        let memory = self.memory_line(chart, chart.bandwidth);
        self.pen.line(&[memory.0, memory.1], self.pen.stroke(palette.ink, 1.5))?;
        let l2 = chart.l2.map(|bandwidth| (bandwidth, self.memory_line(chart, bandwidth)));
        if let Some((_, (low, high))) = l2 {
            self.pen.line(&[low, high], self.pen.stroke(palette.faint, 1.0))?;
        }
        for roof in &chart.roofs {
            self.roof_label(roof, self.y.map(roof.peak.0), board)?;
        }
        self.memory_label("Memory", chart.bandwidth, memory, palette.ink, board)?;
        match l2 {
            Some((bandwidth, line)) => self.memory_label("L2", bandwidth, line, palette.muted, board),
            None => Ok(()),
        }
    }

    /// At the right end of its line: above it, or as far below as the points there ask.
    fn roof_label(&self, roof: &Roof, y: f64, board: &mut Board) -> Drawn<DB> {
        let palette = self.theme.palette;
        let text = format!("{} dense {}", roof.name, plain(&roof.peak.print()));
        let (width, height) = (self.theme.text_width(&text), self.theme.px(Theme::TEXT * 1.2));
        let (right, gap) = (self.frame.right - self.theme.px(2.0), self.theme.px(3.0));
        let at = |top: f64| Area { left: right - width, top, right, bottom: top + height };
        let Some(place) = board
            .first_free([-gap - height, gap, gap + height, gap + 1.7 * height].map(|offset| at(y + offset)))
        else {
            return Ok(());
        };
        let color = if roof.used { palette.ink } else { palette.muted };
        self.pen.text(&text, (right, place.bottom), Pos::new(HPos::Right, VPos::Bottom), color)
    }

    /// On the free upper side of the slope, its lower right corner touching it; or below, where another slope is too near.
    fn memory_label(
        &self,
        name: &str,
        bandwidth: BytesPerSecond,
        (low, high): ((f64, f64), (f64, f64)),
        color: RGBColor,
        board: &mut Board,
    ) -> Drawn<DB> {
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
        self.pen.text(&text, (place.right, place.bottom), anchor, color)
    }

    fn at(&self, point: &Point) -> (f64, f64) {
        (self.x.map(point.intensity), self.y.map(point.reached.0))
    }

    /// Area proportional to the share of time.
    fn radius(&self, point: &Point) -> f64 {
        let largest = (self.css_width() / WIDTH_PER_RADIUS).clamp(LARGEST.0, LARGEST.1);
        self.theme.px((largest * point.share.clamp(0.0, 1.0).sqrt()).max(SMALLEST))
    }

    fn css_width(&self) -> f64 {
        (self.frame.right - self.frame.left) / self.theme.scale
    }

    fn color(&self, phase: Phase) -> RGBColor {
        match phase {
            Phase::Prefill => self.theme.palette.accent,
            Phase::Decode => self.theme.palette.ink,
        }
    }

    /// Prefill as discs, decode as squares on their tips, each with a stem up to its ceiling.
    fn points(&self, chart: &Roofline) -> Drawn<DB> {
        for point in &chart.points {
            let ((x, y), radius) = (self.at(point), self.radius(point));
            let (color, ceiling) = (self.color(point.phase), self.y.map(point.ceiling.0));
            if y - ceiling > radius {
                let (stem, cap) = (self.pen.stroke(color, 1.0), self.theme.px(4.0));
                self.pen.line(&[(x, y - radius), (x, ceiling)], stem)?;
                self.pen.line(&[(x - cap, ceiling), (x + cap, ceiling)], stem)?;
            }
            let rim = self.pen.stroke(self.theme.palette.panel, 1.0);
            let fill = color.mix(0.82).filled();
            match point.phase {
                Phase::Prefill => {
                    let size = radius.round() as i32;
                    self.pen.area.draw(&Circle::new(pixel((x, y)), size, fill))?;
                    self.pen.area.draw(&Circle::new(pixel((x, y)), size, rim))?;
                }
                Phase::Decode => {
                    let tip = radius * 1.2;
                    let tips = [(tip, 0.0), (0.0, tip), (-tip, 0.0), (0.0, -tip), (tip, 0.0)];
                    let corners: Vec<(i32, i32)> = tips.map(|(dx, dy)| pixel((x + dx, y + dy))).to_vec();
                    self.pen.area.draw(&Polygon::new(corners[..4].to_vec(), fill))?;
                    self.pen.area.draw(&PathElement::new(corners, rim))?;
                }
            }
        }
        Ok(())
    }

    /// The largest kernels by name, as many as the width carries.
    fn labels(&self, chart: &Roofline, board: &mut Board) -> Drawn<DB> {
        let most = (self.css_width() / WIDTH_PER_LABEL).floor() as usize;
        for point in chart.points.iter().filter(|point| point.share >= LABEL_SHARE).take(most) {
            let size = (self.theme.text_width(&point.name), self.theme.px(Theme::TEXT * 1.2));
            let Some(place) = board.place(self.at(point), self.radius(point), size) else { continue };
            let middle = ((place.left + place.right) / 2.0, (place.top + place.bottom) / 2.0);
            let centre = Pos::new(HPos::Center, VPos::Center);
            self.pen.text(&point.name, middle, centre, self.color(point.phase))?;
        }
        Ok(())
    }
}

/// Backends differ in how they treat a no-break space.
fn plain(printed: &Printed) -> String {
    format!("{} {}", printed.number, printed.unit)
}

fn intensity_tick(value: f64) -> String {
    if value >= 1000.0 { decimal(value / 1000.0) + "k" } else { decimal(value) }
}

/// `100 T`: the axis title carries the unit.
fn rate_tick(value: f64) -> String {
    let printed = FlopsPerSecond(value).print();
    let number = printed.number.trim_end_matches('0').trim_end_matches('.');
    let whole = if number.is_empty() || !printed.number.contains('.') { &printed.number } else { number };
    format!("{whole} {}", printed.unit.trim_end_matches("FLOP/s"))
}
