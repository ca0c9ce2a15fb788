//! Draws a roofline on any plotters backend: axes, roofs, points, labels.

use plotters::element::{Circle, PathElement, Polygon};
use plotters::prelude::{Color, RGBColor};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{KernelPoint, Roof, Roofline};
use crate::chart::labels::{Area, LabelSpace};
use crate::chart::plot::{Plot, pixel, undrawn};
use crate::chart::reading::Reading;
use crate::chart::scale::Scale;
use crate::chart::surface::{DrawResult, Sheet};
use crate::chart::{ChartUnit, Theme};
use crate::graph::Phase;
use crate::units::{BytesPerSecond, Printed, count, percent};

/// In backing-store pixels.
type Pixel = (f64, f64);

/// Radius of a point with all of a pass's time, in CSS pixels, on narrow and wide charts; areas are proportional to
/// time.
const LARGEST: (f64, f64) = (10.0, 17.0);
/// Chart width per pixel of that radius, between the two.
const WIDTH_PER_RADIUS: f64 = 45.0;
/// Smallest visible radius, in CSS pixels.
const SMALLEST: f64 = 3.0;
/// Kernels with less than this share of their pass's time get no label.
const LABEL_SHARE: f64 = 0.04;
/// CSS pixels of width per label, to keep charts readable on phones.
const WIDTH_PER_LABEL: f64 = 130.0;
/// Kernels with less than this share of their pass's time do not extend the axes: the tables list what is outside.
const FITTED_SHARE: f64 = 5e-3;
/// Step, in CSS pixels, and maximum number of steps by which coinciding points are moved apart.
const ASIDE: f64 = 5.0;
const MOST_ASIDE: u32 = 8;
/// Share of a label's estimated width at each end that its text may leave free.
const ESTIMATED: f64 = 0.12;
/// Minimum distance of two points' centres, as a share of their summed radii.
const TOUCHING: f64 = 0.8;

/// Draws `chart` over the whole of `area`, whose size is in backing-store pixels.
pub fn draw(area: &Sheet<'_>, chart: &Roofline, theme: Theme) -> DrawResult {
    area.fill(&theme.palette.panel)?;
    let Some(mut plot) = plot(area, chart, theme) else { return area.present() };
    plot.axes("Arithmetic intensity, FLOP per byte", "FLOP/s")?;
    let drawing = Drawing { plot: &plot, theme };
    let mut space = LabelSpace::new(plot.frame);
    let roofs = drawing.roofs(chart);
    let marks = drawing.marks(chart);
    for Mark { point, at, radius, .. } in &marks {
        space.block(Area::around(at.0, at.1, *radius));
        let ceiling = plot.at(point.intensity, point.ceiling.0).1;
        // Only where a stem is drawn.
        if at.1 - ceiling > *radius {
            space.block_line(*at, (at.0, ceiling), theme.px(4.0));
        }
    }
    for Roofed { from, to, .. } in &roofs {
        space.block_line(*from, *to, theme.px(4.0));
    }
    drawing.draw_roofs(&roofs, &mut space)?;
    drawing.points(&marks)?;
    drawing.labels(&marks, &mut space)?;
    area.present()
}

/// The axes, or the zoomed part of them; `None` without room.
fn plot<'a, 's>(area: &'a Sheet<'s>, chart: &Roofline, theme: Theme) -> Option<Plot<'a, 's>> {
    let [x, y] = axes(chart);
    if chart.zoom.shows_all() {
        return Plot::new(area, x, y, theme);
    }
    let [across, up] = chart.zoom.ends();
    Plot::new(area, x.part(across), y.part(up), theme)
}

/// Fitted to the points and the roofs above them.
fn axes(chart: &Roofline) -> [Scale; 2] {
    let weighty = || chart.points.iter().filter(|point| point.share >= FITTED_SHARE);
    let roofs: Vec<&Roof> = chart.roofs.iter().filter(|roof| roof.used).collect();
    let roofs = if roofs.is_empty() { chart.main_roof().into_iter().collect() } else { roofs };
    // With room to the right of ridge points, and above roofs for labels.
    let points = weighty().flat_map(|point| [point.intensity * 0.75, point.intensity * 1.4]);
    let before = if weighty().next().is_some() { 0.7 } else { 0.05 };
    let ridges = roofs.iter().flat_map(|roof| [before, 1.6].map(|factor| chart.ridge(roof) * factor));
    let x = Scale::fitted(points.chain(ridges), (1.0, 1000.0), ChartUnit::Count);
    let points = weighty().flat_map(|point| [point.reached.0 * 0.7, point.ceiling.0]);
    let tops = roofs.iter().flat_map(|roof| [before, 1.4].map(|factor| roof.peak.0 * factor));
    let y = Scale::fitted(points.chain(tops), (1e12, 1e15), ChartUnit::Rate);
    [x, y]
}

/// Whether `roof` is within the axes.
pub fn has_room(chart: &Roofline, roof: &Roof) -> bool {
    let [x, y] = axes(chart);
    roof.peak.0 < y.high && chart.ridge(roof) < x.high
}

/// Every kernel, from the largest share of time to the smallest.
pub fn readings(chart: &Roofline, size: (f64, f64), theme: Theme) -> Vec<Reading> {
    undrawn(size, |area| {
        let Some(plot) = plot(area, chart, theme) else { return Vec::new() };
        let reading = |Mark { point, at: (x, y), .. }: Mark<'_>| {
            let phase = point.phase.id();
            let of_ceiling = percent(point.reached.0 / point.ceiling.0);
            let text = format!(
                "{}, {phase}: {} at {} FLOP/B, {of_ceiling} of its ceiling, {} of the step",
                point.name,
                point.reached.print(),
                count(point.intensity),
                percent(point.share),
            );
            Reading { x, y, half_width: 0.0, text, id: point.id.clone() }
        };
        Drawing { plot: &plot, theme }.marks(chart).into_iter().map(reading).collect()
    })
}

/// A dense peak or memory bandwidth as drawn.
struct Roofed {
    /// With its figure, and without where that has no room.
    names: [String; 2],
    from: Pixel,
    to: Pixel,
    used: bool,
}

/// A point as drawn: moved aside if a larger one occupies its position.
struct Mark<'a> {
    point: &'a KernelPoint,
    at: Pixel,
    radius: f64,
}

struct Drawing<'a, 'b, 's> {
    plot: &'a Plot<'b, 's>,
    theme: Theme,
}

impl Drawing<'_, '_, '_> {
    /// Dense roofs from their ridge point to the right edge, memory roofs from the frame's edge to the highest
    /// ridge point.
    fn roofs(&self, chart: &Roofline) -> Vec<Roofed> {
        let peak = |roof: &Roof| {
            let (x, y) = self.plot.at(chart.ridge(roof), roof.peak.0);
            let names = [format!("{} dense {}", roof.name, plain(&roof.peak.print())), roof.name.clone()];
            Roofed { names, from: (x, y), to: (self.plot.frame.right, y), used: roof.used }
        };
        let (x, y) = (self.plot.x(), self.plot.y());
        let [_, all_y] = axes(chart);
        let inside = |roof: &&Roof| has_room(chart, roof);
        let top = chart.roofs.iter().filter(inside).map(|roof| roof.peak.0).fold(0.0, f64::max);
        let top = if top > 0.0 { top } else { all_y.high };
        let in_view = |roof: &&Roof| (y.low..y.high).contains(&roof.peak.0) && chart.ridge(roof) < x.high;
        let shown = || chart.roofs.iter().filter(inside).filter(in_view);
        let memory = |(name, bandwidth, used): (&str, BytesPerSecond, bool)| {
            let at = |intensity: f64| self.plot.at(intensity, intensity * bandwidth.0);
            let from = (y.low / bandwidth.0).max(x.low);
            let to = (top.min(y.high) / bandwidth.0).min(x.high);
            let names = [format!("{name} {}", plain(&bandwidth.print())), name.into()];
            (from < to).then(|| Roofed { names, from: at(from), to: at(to), used })
        };
        let memories = [("Memory", chart.bandwidth, true)].into_iter();
        let memories = memories.chain(chart.l2.map(|bandwidth| ("L2", bandwidth, false)));
        shown().map(peak).chain(memories.filter_map(memory)).collect()
    }

    fn draw_roofs(&self, roofs: &[Roofed], space: &mut LabelSpace) -> DrawResult {
        let palette = self.theme.palette;
        for Roofed { from, to, used, .. } in roofs {
            let (color, width) = if *used { (palette.ink, 1.5) } else { (palette.faint, 1.0) };
            self.plot.pen.line(&[*from, *to], self.plot.pen.stroke(color, width))?;
        }
        for roof in roofs {
            let free = roof.names.iter().find_map(|name| {
                let size = (self.theme.text_width(name), self.theme.px(Theme::TEXT * 1.2));
                let is_level = roof.from.1 == roof.to.1;
                let places = if is_level { self.along(roof, size) } else { self.beside(roof, size) };
                Some((name, space.first_free(places)?))
            });
            let Some((name, place)) = free else { continue };
            let color = if roof.used { palette.ink } else { palette.muted };
            let anchor = Pos::new(HPos::Right, VPos::Bottom);
            self.plot.pen.text(name, (place.right, place.bottom), anchor, color)?;
        }
        Ok(())
    }

    /// Places for a label at the right end of a dense roof: above it, or as far below as its points require.
    fn along(&self, roof: &Roofed, (width, height): (f64, f64)) -> Vec<Area> {
        let (right, gap) = (roof.to.0 - self.theme.px(2.0), self.theme.px(3.0));
        let at = |top: f64| Area { left: right - width, top, right, bottom: top + height };
        [-gap - height, gap, gap + height, gap + 1.7 * height].map(|offset| at(roof.to.1 + offset)).into()
    }

    /// Places for a label on the upper side of a memory slope, touching it with the lower right corner; below it if
    /// another slope is close.
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

    /// Every point within the frame, with coinciding ones fanned out sideways: heights are rates, and are kept.
    fn marks<'c>(&self, chart: &'c Roofline) -> Vec<Mark<'c>> {
        let (x, y, frame) = (self.plot.x(), self.plot.y(), self.plot.frame);
        let inside = |value: f64, scale: &Scale| (scale.low..=scale.high).contains(&value);
        let mut marks: Vec<Mark<'c>> = Vec::new();
        for point in
            chart.points.iter().filter(|point| inside(point.intensity, x) && inside(point.reached.0, y))
        {
            let (place, radius) = (self.plot.at(point.intensity, point.reached.0), self.radius(point));
            let apart = |at: Pixel| {
                marks.iter().all(|other| {
                    (at.0 - other.at.0).hypot(at.1 - other.at.1) >= (radius + other.radius) * TOUCHING
                })
            };
            let aside = |step: u32| {
                let by = self.theme.px(ASIDE) * f64::from(step.div_ceil(2));
                (place.0 + if step % 2 == 1 { by } else { -by }, place.1)
            };
            let fits = |at: &Pixel| at.0 - radius >= frame.left && at.0 + radius <= frame.right && apart(*at);
            let at = (0..=2 * MOST_ASIDE).map(aside).find(fits).unwrap_or(place);
            marks.push(Mark { point, at, radius });
        }
        marks
    }

    /// Area proportional to the share of time.
    fn radius(&self, point: &KernelPoint) -> f64 {
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

    /// Prefill as discs, decode as diamonds, each with a stem up to its ceiling.
    fn points(&self, marks: &[Mark<'_>]) -> DrawResult {
        for &Mark { point, at: (x, y), radius } in marks {
            let (color, (own, ceiling)) =
                (self.color(point.phase), self.plot.at(point.intensity, point.ceiling.0));
            // A thin line to the actual position of a moved point.
            if (x - own).abs() > radius {
                self.plot.pen.line(&[(own, y), (x, y)], self.plot.pen.stroke(color, 1.0))?;
            }
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

    /// Labels of the largest kernels, as many as the width allows and as can be read as theirs; the table has all.
    fn labels(&self, marks: &[Mark<'_>], space: &mut LabelSpace) -> DrawResult {
        let most = (self.css_width() / WIDTH_PER_LABEL).floor() as usize;
        let mut labelled = 0;
        for Mark { point, at, radius } in marks.iter().filter(|mark| mark.point.share >= LABEL_SHARE) {
            if labelled == most {
                break;
            }
            let size = (self.theme.text_width(&point.name), self.theme.px(Theme::TEXT * 1.2));
            let own = |place: &Area| place.distance(*at) - radius;
            // Beside another point it would read as that one's.
            let is_away = |place: &Area, least: f64| {
                let away = |other: &Mark<'_>| place.distance(other.at) - other.radius;
                marks.iter().all(|other| other.at == *at || away(other) >= least)
            };
            let is_beside = |place: &Area| own(place) <= size.1 && is_away(place, own(place));
            // Or else beside none, with a line to its own.
            let from = |place: &Area| place.within(ESTIMATED).nearest(*at);
            let others = space.labels().to_vec();
            let is_led = |place: &Area| {
                is_away(place, size.1 * 0.5) && !others.iter().any(|other| other.is_crossed(from(place), *at))
            };
            let place = space.place(*at, *radius, size, is_beside);
            let Some(place) = place.or_else(|| space.place(*at, *radius, size, is_led)) else { continue };
            labelled += 1;
            if !is_beside(&place) {
                let leader = self.plot.pen.stroke(self.color(point.phase), 1.0);
                self.plot.pen.line(&[from(&place), *at], leader)?;
            }
            let middle = ((place.left + place.right) / 2.0, (place.top + place.bottom) / 2.0);
            let centre = Pos::new(HPos::Center, VPos::Center);
            self.plot.pen.text(&point.name, middle, centre, self.color(point.phase))?;
        }
        Ok(())
    }
}

/// Backends treat no-break spaces differently.
fn plain(printed: &Printed) -> String {
    format!("{} {}", printed.number, printed.unit)
}
