//! Charts of simulated runs.

use super::{Axis, Band, Chart, Curves, Line, Panel, Tone, Unit};
use crate::config::{Load, Setup};
use crate::serving::run::{Point, Run};
use crate::serving::sim::Stats;

/// One replica over time: requests, and the KV cache.
pub fn timeline(run: &Run) -> Chart {
    let moments = &run.timeline;
    let line = |name: &str, tone: Tone, y: &[f64]| {
        Line::new(name, tone, moments.time.iter().copied().zip(y.iter().copied()))
    };
    let requests =
        vec![line("Running", Tone::Accent, &moments.running), line("Waiting", Tone::Ink, &moments.waiting)];
    let cache = vec![line("", Tone::Accent, &moments.kv)];
    let panel = |name: &str, unit: Unit, lines: Vec<Line>| Panel {
        y: Axis::new(name, unit, false),
        lines,
        ..Panel::default()
    };
    Chart::Curves(Curves {
        x: Axis::new("Time, s", Unit::Count, false),
        panels: vec![
            panel("Requests per replica", Unit::Count, requests),
            panel("KV cache in use", Unit::Share, cache),
        ],
        mark: None,
    })
}

/// Latencies with their spread and limits, and throughput, over the loads of `points`.
pub fn loads(setup: &Setup, points: &[Point]) -> Chart {
    let times = |name: &str, of: fn(&Point) -> Option<Stats>, limit_ms: Option<f64>| {
        let known: Vec<(f64, Stats)> =
            points.iter().filter_map(|point| Some((point.load, of(point)?))).collect();
        let column = |pick: fn(&Stats) -> f64| known.iter().map(|(_, stats)| pick(stats)).collect();
        let x = known.iter().map(|(load, _)| *load).collect();
        Panel {
            y: Axis::new(name, Unit::Seconds, true),
            bands: vec![Band { x, low: column(|stats| stats.p50), high: column(|stats| stats.p99) }],
            lines: vec![Line::marked(
                "",
                Tone::Accent,
                known.iter().map(|(load, stats)| (*load, stats.mean)),
            )],
            limit: limit_ms.map(|limit| limit * 1e-3),
        }
    };
    let output = points.iter().map(|point| (point.load, point.output_per_s));
    let mut panels = vec![times("TTFT: mean, P50 to P99", |point| Some(point.ttft), setup.slos.ttft_ms)];
    if setup.osl > 1 {
        panels.push(times("TPOT: mean, P50 to P99", |point| point.tpot, setup.slos.tpot_ms));
    }
    panels.push(Panel {
        y: Axis::new("Output, tok/s", Unit::Count, false),
        lines: vec![Line::marked("", Tone::Accent, output)],
        ..Panel::default()
    });
    let (name, log, mark) = match setup.load {
        Load::Rate(rate) | Load::ConstantRate(rate) => ("Requests/s", false, Some(rate)),
        Load::SessionRate(rate) => ("Sessions/s", false, Some(rate)),
        Load::Concurrency(clients) => ("Clients", true, Some(f64::from(clients))),
        Load::Sessions(users) => ("Sessions at once", true, Some(f64::from(users))),
        Load::Burst(_) | Load::Offline(_) | Load::Batch(_) => ("Prompts", true, None),
    };
    // A rate far beyond capacity would squeeze the curve.
    let last = points.last().map_or(0.0, |point| point.load);
    let mark = mark.filter(|&mark| mark <= last);
    Chart::Curves(Curves { x: Axis::new(name, Unit::Count, log), panels, mark })
}
