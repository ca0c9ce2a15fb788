//! Draws a roofline on any plotters backend: axes, roofs, points, labels.

use plotters::element::{Circle, PathElement, Polygon};
use plotters::prelude::{Color, RGBColor};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Point, Roof, Roofline};
use crate::chart::labels::{Area, LabelSpace};
use crate::chart::plot::{Plot, pixel, undrawn};
use crate::chart::reading::Reading;
use crate::chart::scale::Scale;
use crate::chart::surface::{DrawResult, Sheet};
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
pub fn draw(area: &Sheet<'_>, chart: &Roofline, theme: Theme) -> DrawResult {
    area.fill(&theme.palette.panel)?;
    let Some(mut plot) = plot(area, chart, theme) else { return area.present() };
    plot.axes("Arithmetic intensity, FLOP per byte", "FLOP/s")?;
    let drawing = Drawing { plot: &plot, theme };
    let mut space = LabelSpace::new(plot.frame);
    let roofs = drawing.roofs(chart);
    for point in &chart.points {
        let (x, y) = drawing.at(point);
        space.block(Area::around(x, y, drawing.radius(point)));
    }
    for Roofed { from, to, .. } in &roofs {
        space.block_line(*from, *to, theme.px(4.0));
    }
    drawing.draw_roofs(&roofs, &mut space)?;
    drawing.points(chart)?;
    drawing.labels(chart, &mut space)?;
    area.present()
}

/// The axes; none if there is no room.
fn plot<'a, 's>(area: &'a Sheet<'s>, chart: &Roofline, theme: Theme) -> Option<Plot<'a, 's>> {
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

/// A dense peak or the bandwidth of a memory, as it is drawn.
struct Roofed {
    name: String,
    from: Place,
    to: Place,
    used: bool,
}

struct Drawing<'a, 'b, 's> {
    plot: &'a Plot<'b, 's>,
    theme: Theme,
}

impl Drawing<'_, '_, '_> {
    /// Dense roofs from their ridge to the right edge, roofs of memories from where they enter the frame to the highest
    /// ridge.
    fn roofs(&self, chart: &Roofline) -> Vec<Roofed> {
        let peak = |roof: &Roof| {
            let (x, y) = self.plot.at(chart.ridge(roof), roof.peak.0);
            let name = format!("{} dense {}", roof.name, plain(&roof.peak.print()));
            Roofed { name, from: (x, y), to: (self.plot.frame.right, y), used: roof.used }
        };
        let (x, y) = (self.plot.x(), self.plot.y());
        let top = chart.roofs.iter().map(|roof| roof.peak.0).fold(0.0, f64::max);
        let top = if top > 0.0 { top } else { y.high };
        let memory = |(name, bandwidth, used): (&str, BytesPerSecond, bool)| {
            let at = |intensity: f64| self.plot.at(intensity, intensity * bandwidth.0);
            let from = at((y.low / bandwidth.0).max(x.low));
            let name = format!("{name} {}", plain(&bandwidth.print()));
            Roofed { name, from, to: at(top / bandwidth.0), used }
        };
        let memories = [("Memory", chart.bandwidth, true)].into_iter();
        let memories = memories.chain(chart.l2.map(|bandwidth| ("L2", bandwidth, false)));
        chart.roofs.iter().map(peak).chain(memories.map(memory)).collect()
    }

    fn draw_roofs(&self, roofs: &[Roofed], space: &mut LabelSpace) -> DrawResult {
        let palette = self.theme.palette;
        for Roofed { from, to, used, .. } in roofs {
            let (color, width) = if *used { (palette.ink, 1.5) } else { (palette.faint, 1.0) };
            self.plot.pen.line(&[*from, *to], self.plot.pen.stroke(color, width))?;
        }
        for roof in roofs {
            let size = (self.theme.text_width(&roof.name), self.theme.px(Theme::TEXT * 1.2));
            let places =
                if roof.from.1 == roof.to.1 { self.along(roof, size) } else { self.beside(roof, size) };
            let Some(place) = space.first_free(places) else { continue };
            let color = if roof.used { palette.ink } else { palette.muted };
            let anchor = Pos::new(HPos::Right, VPos::Bottom);
            self.plot.pen.text(&roof.name, (place.right, place.bottom), anchor, color)?;
        }
        Ok(())
    }

    /// At the right end of a dense roof: above it, or as far below as the points there require.
    fn along(&self, roof: &Roofed, (width, height): (f64, f64)) -> Vec<Area> {
        let (right, gap) = (roof.to.0 - self.theme.px(2.0), self.theme.px(3.0));
        let at = |top: f64| Area { left: right - width, top, right, bottom: top + height };
        [-gap - height, gap, gap + height, gap + 1.7 * height].map(|offset| at(roof.to.1 + offset)).into()
    }

    /// On the upper side of a memory's slope, its lower right corner touching it; or below, where another slope is near.
    fn beside(&self, Roofed { from, to, .. }: &Roofed, (width, height): (f64, f64)) -> Vec<Area> {
        const SHARES: [f64; 5] = [0.62, 0.5, 0.75, 0.4, 0.88];
        let (slope, gap) = ((to.1 - from.1) / (to.0 - from.0), self.theme.px(8.0));
        let on = |share: f64, offset: f64| {
            let x = from.0 + (to.0 - from.0) * share + offset;
            (x, from.1 + slope * (x - from.0) + offset)
        };
        let above = SHARES.map(|share| {
            let (right, bottom) = on(share, -gap);
            Area { left: right - width, top: bottom - height, right, bottom }
        });
        let below = SHARES.map(|share| {
            let (left, top) = on(share, gap);
            Area { left, top, right: left + width, bottom: top + height }
        });
        above.into_iter().chain(below).collect()
    }

    fn at(&self, point: &Point) -> Place {
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
    fn points(&self, chart: &Roofline) -> DrawResult {
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
    fn labels(&self, chart: &Roofline, space: &mut LabelSpace) -> DrawResult {
        let most = (self.css_width() / WIDTH_PER_LABEL).floor() as usize;
        for point in chart.points.iter().filter(|point| point.share >= LABEL_SHARE).take(most) {
            let size = (self.theme.text_width(&point.name), self.theme.px(Theme::TEXT * 1.2));
            let Some(place) = space.place(self.at(point), self.radius(point), size) else { continue };
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
