//! A chart's legend, and the chart with entries switched off. The page renders the legend as buttons.

use super::roofline::has_room;
use super::{Chart, Curves, Hues, Roofline, Tone};
use crate::graph::Phase;

/// An entry of the legend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegendKey {
    pub name: String,
    pub swatch: Swatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swatch {
    Disc,
    Diamond,
    Line(Tone),
    /// A line with a dot at each point.
    Marked(Tone),
    /// Points that nothing connects.
    Dots(Tone),
    /// A part of bars, by index.
    Part(usize),
    /// A part of bars that is a resource, by index.
    Resource(usize),
}

/// The roof of the L2 cache.
const L2: &str = "L2";

impl LegendKey {
    fn new(name: &str, swatch: Swatch) -> Self {
        Self { name: name.into(), swatch }
    }
}

impl Swatch {
    /// The swatch's CSS class.
    pub fn class(self) -> String {
        match self {
            Self::Disc => "disc".into(),
            Self::Diamond => "diamond".into(),
            Self::Line(tone) => format!("line {}", class(tone)),
            Self::Marked(tone) => format!("line marked {}", class(tone)),
            Self::Dots(tone) => format!("dots {}", class(tone)),
            Self::Part(place) => format!("part part-{place}"),
            Self::Resource(place) => format!("part resource-{place}"),
        }
    }
}

fn class(tone: Tone) -> String {
    match tone {
        Tone::Accent => "accent".into(),
        Tone::Ink => "ink".into(),
        Tone::Muted => "muted".into(),
        Tone::Faint => "faint".into(),
        Tone::Measured => "measured".into(),
        Tone::Kind(index) => format!("resource-{index}"),
    }
}

impl Chart {
    /// Entries that can be switched off; empty if there is only one.
    pub fn legend(&self) -> Vec<LegendKey> {
        let keys = match self {
            Self::Roofline(chart) => of_roofline(chart),
            Self::Curves(chart) => of_curves(chart),
            Self::Bars(chart) => {
                let parts = chart.legend.iter().enumerate();
                let swatch = match chart.hues {
                    Hues::Parts => Swatch::Part,
                    Hues::Resources => Swatch::Resource,
                };
                parts.map(|(place, name)| LegendKey::new(name, swatch(place))).collect()
            }
        };
        if keys.len() > 1 { keys } else { Vec::new() }
    }

    /// The chart without the entries named in `hidden`.
    #[must_use]
    pub fn without(mut self, hidden: &[String]) -> Self {
        let shows = |name: &str| !hidden.iter().any(|hidden| hidden == name);
        match &mut self {
            Self::Roofline(chart) => {
                chart.points.retain(|point| shows(point.phase.id()));
                chart.roofs.retain(|roof| shows(&roof.name));
                chart.l2 = chart.l2.filter(|_| shows(L2));
            }
            Self::Curves(chart) => {
                for panel in &mut chart.panels {
                    panel.lines.retain(|line| shows(&line.name));
                }
            }
            Self::Bars(chart) => {
                for (place, name) in chart.legend.iter().enumerate() {
                    if !shows(name) {
                        // The part stays, empty: the others keep their colours.
                        chart
                            .bars
                            .iter_mut()
                            .filter_map(|bar| bar.parts.get_mut(place))
                            .for_each(|part| *part = 0.0);
                    }
                }
            }
        }
        self
    }
}

fn of_roofline(chart: &Roofline) -> Vec<LegendKey> {
    let phases = [(Phase::Prefill, Swatch::Disc), (Phase::Decode, Swatch::Diamond)];
    let drawn = phases.into_iter().filter(|(of, _)| chart.points.iter().any(|point| point.phase == *of));
    let mut keys: Vec<LegendKey> = drawn.map(|(of, swatch)| LegendKey::new(of.id(), swatch)).collect();
    for roof in chart.roofs.iter().filter(|roof| has_room(chart, roof)) {
        let tone = if roof.used { Tone::Ink } else { Tone::Faint };
        keys.push(LegendKey::new(&roof.name, Swatch::Line(tone)));
    }
    keys.extend(chart.l2.map(|_| LegendKey::new(L2, Swatch::Line(Tone::Faint))));
    keys
}

fn of_curves(chart: &Curves) -> Vec<LegendKey> {
    let mut keys: Vec<LegendKey> = Vec::new();
    for line in chart.panels.iter().flat_map(|panel| &panel.lines) {
        if !line.name.is_empty() && !keys.iter().any(|key| key.name == line.name) {
            let swatch = match (line.loose, line.marked) {
                (true, _) => Swatch::Dots,
                (false, true) => Swatch::Marked,
                (false, false) => Swatch::Line,
            };
            keys.push(LegendKey::new(&line.name, swatch(line.tone)));
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Bar, Bars, Line, Panel};

    #[test]
    fn a_line_left_out_is_gone_from_every_panel() {
        let line = |name: &str| Line { name: name.into(), ..Line::default() };
        let panel = || Panel { lines: vec![line("a"), line("b")], ..Panel::default() };
        let chart = Chart::Curves(Curves { panels: vec![panel(), panel()], ..Curves::default() });
        let names: Vec<String> = chart.legend().into_iter().map(|key| key.name).collect();
        assert_eq!(names, ["a", "b"]);
        let Chart::Curves(left) = chart.without(&["a".into()]) else { unreachable!("it stays what it is") };
        assert!(left.panels.iter().all(|panel| panel.lines.len() == 1 && panel.lines[0].name == "b"));
    }

    #[test]
    fn what_is_drawn_alike_has_like_marks() {
        let tones = [Tone::Kind(0), Tone::Ink];
        let classes = |marked, loose| {
            let line = |tone| Line { name: format!("{tone:?}"), tone, marked, loose, ..Line::default() };
            let panel = Panel { lines: tones.map(line).into(), ..Panel::default() };
            let chart = Chart::Curves(Curves { panels: vec![panel], ..Curves::default() });
            chart.legend().into_iter().map(|key| key.swatch.class()).collect::<Vec<_>>()
        };
        assert_eq!(classes(true, false), ["line marked resource-0", "line marked ink"]);
        assert_eq!(classes(true, true), ["dots resource-0", "dots ink"]);
        assert_eq!(classes(false, false), ["line resource-0", "line ink"]);
    }

    #[test]
    fn a_part_left_out_keeps_its_place() {
        let bars = Bars {
            legend: vec!["x".into(), "y".into()],
            bars: vec![Bar { name: "one".into(), parts: vec![1.0, 2.0] }],
            ..Bars::default()
        };
        let Chart::Bars(left) = Chart::Bars(bars).without(&["x".into()]) else {
            unreachable!("it stays what it is")
        };
        assert_eq!(left.bars[0].parts, [0.0, 2.0]);
    }

    #[test]
    fn one_line_needs_no_legend() {
        let lines = vec![Line { name: "a".into(), ..Line::default() }];
        let chart = Curves { panels: vec![Panel { lines, ..Panel::default() }], ..Curves::default() };
        assert!(Chart::Curves(chart).legend().is_empty());
    }
}
