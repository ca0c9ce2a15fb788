//! Charts of simulated runs.

use super::{Axis, Band, Chart, ChartUnit, Curves, Line, Panel, Tone};
use crate::calibration;
use crate::config::{Load, Setup};
use crate::serving::run::{Point, PointBands, Run};
use crate::serving::sim::Stats;

/// A metric's 80 % band.
type Banded = fn(&PointBands) -> Option<calibration::Band>;

/// The area between the 80 % bands of the points that have one.
fn around(points: &[Point], of: Banded) -> Vec<Band> {
    let known = points.iter().filter_map(|point| Some((point.load, of(point.bands.as_ref()?)?)));
    let (x, bands): (Vec<f64>, Vec<calibration::Band>) = known.unzip();
    let column = |pick: fn(&calibration::Band) -> f64| bands.iter().map(pick).collect();
    let band = Band { low: column(|band| band.low), high: column(|band| band.high), x };
    if bands.is_empty() { Vec::new() } else { vec![band] }
}

/// What is simulated, over time: requests, and the KV cache.
pub fn timeline(setup: &Setup, run: &Run) -> Chart {
    let moments = &run.timeline;
    let line = |name: &str, tone: Tone, y: &[f64]| {
        Line::new(name, tone, moments.time.iter().copied().zip(y.iter().copied()))
    };
    let requests =
        vec![line("Running", Tone::Accent, &moments.running), line("Waiting", Tone::Ink, &moments.waiting)];
    let cache = vec![line("", Tone::Accent, &moments.kv)];
    let panel = |name: &str, unit: ChartUnit, lines: Vec<Line>| Panel {
        y: Axis::new(name, unit, false),
        lines,
        ..Panel::default()
    };
    Chart::Curves(Curves {
        x: Axis::new("Time, s", ChartUnit::Count, false),
        panels: vec![
            panel(
                if setup.copies() > 1 { "Requests per replica" } else { "Requests" },
                ChartUnit::Count,
                requests,
            ),
            panel("KV cache in use", ChartUnit::Share, cache),
        ],
        mark: None,
    })
}

/// Latency and throughput over the loads of `points`, with 80 % bands and limits.
pub fn loads(setup: &Setup, points: &[Point]) -> Chart {
    let workload = &setup.workload;
    let times = |name: &str, of: fn(&Point) -> Option<Stats>, band: Banded, limit_ms: Option<f64>| {
        let known = points.iter().filter_map(|point| Some((point.load, of(point)?)));
        let line = |pick: fn(&Stats) -> f64| known.clone().map(move |(load, stats)| (load, pick(&stats)));
        Panel {
            y: Axis::new(name, ChartUnit::Seconds, true),
            bands: around(points, band),
            lines: vec![
                Line::marked("", Tone::Accent, line(|stats| stats.mean)),
                Line::new("P99", Tone::Muted, line(|stats| stats.p99)),
            ],
            limit: limit_ms.map(|limit| limit * 1e-3),
        }
    };
    let output = points.iter().map(|point| (point.load, point.output_per_s));
    let of_ttft: Banded = |around| Some(around.ttft);
    let mut panels = vec![times("TTFT, mean", |point| Some(point.ttft), of_ttft, workload.slos.ttft_ms)];
    if workload.osl > 1 {
        panels.push(times("TPOT, mean", |point| point.tpot, |around| around.tpot, workload.slos.tpot_ms));
    }
    panels.push(Panel {
        y: Axis::new(
            if setup.copies() > 1 { "Output, tok/s in all" } else { "Output, tok/s" },
            ChartUnit::Count,
            false,
        ),
        bands: around(points, |around| around.output_per_s),
        lines: vec![Line::marked("", Tone::Accent, output)],
        ..Panel::default()
    });
    let is_at_once = matches!(workload.load, Load::Burst(_) | Load::Offline(_) | Load::Batch(_));
    // A rate far beyond capacity would compress the curve.
    let last = points.last().map_or(0.0, |point| point.load);
    let mark = Some(workload.load.amount()).filter(|&mark| !is_at_once && mark <= last);
    let x = Axis::new(size_of(workload.load), ChartUnit::Count, !workload.load.is_rate());
    Chart::Curves(Curves { x, panels, mark })
}

/// What a load's size counts.
pub fn size_of(load: Load) -> &'static str {
    match load {
        Load::Rate(_) | Load::ConstantRate(_) => "Requests/s",
        Load::SessionRate(_) => "Sessions/s",
        Load::Concurrency(_) => "Clients",
        Load::Sessions(_) => "Sessions at once",
        Load::Burst(_) | Load::Offline(_) | Load::Batch(_) => "Prompts",
    }
}
