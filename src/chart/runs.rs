//! Charts of simulated runs.

use super::{Axis, Band, Chart, Curves, Line, Panel, Tone, Unit};
use crate::config::{Load, Setup};
use crate::serving::run::{Point, Run};
use crate::serving::sim::Stats;

/// One replica over time: requests, and the KV cache.
pub fn timeline(run: &Run) -> Chart {
    let moments = &run.timeline;
    let line = |name: &str, tone: Tone, y: &[f64]| Line {
        name: name.into(),
        tone,
        x: moments.time.clone(),
        y: y.to_vec(),
        marked: false,
        ..Line::default()
    };
    let axis = |name: &str, unit: Unit| Axis { name: name.into(), unit, log: false };
    Chart::Curves(Curves {
        x: axis("Time, s", Unit::Count),
        panels: vec![
            Panel {
                y: axis("Requests of a replica", Unit::Count),
                lines: vec![
                    line("running", Tone::Accent, &moments.running),
                    line("waiting", Tone::Ink, &moments.waiting),
                ],
                ..Panel::default()
            },
            Panel {
                y: axis("KV cache in use", Unit::Share),
                lines: vec![line("", Tone::Accent, &moments.kv)],
                ..Panel::default()
            },
        ],
        mark: None,
    })
}

/// Latencies with their spread and limits, and throughput, over the loads of `points`.
pub fn loads(setup: &Setup, points: &[Point]) -> Chart {
    let at = |points: &[&Point]| points.iter().map(|point| point.load).collect::<Vec<_>>();
    let spread = |name: &str, of: fn(&Point) -> Option<Stats>, limit_ms: Option<f64>| {
        let shown: Vec<&Point> = points.iter().filter(|point| of(point).is_some()).collect();
        let column =
            |pick: fn(&Stats) -> f64| shown.iter().filter_map(|point| of(point).as_ref().map(pick)).collect();
        Panel {
            y: Axis { name: name.into(), unit: Unit::Seconds, log: true },
            bands: vec![Band { x: at(&shown), low: column(|at| at.p50), high: column(|at| at.p99) }],
            lines: vec![Line {
                name: String::new(),
                tone: Tone::Accent,
                x: at(&shown),
                y: column(|at| at.mean),
                marked: true,
                ..Line::default()
            }],
            limit: limit_ms.map(|limit| limit * 1e-3),
        }
    };
    let all: Vec<&Point> = points.iter().collect();
    let output = Panel {
        y: Axis { name: "Output, tok/s".into(), unit: Unit::Count, log: false },
        lines: vec![Line {
            name: String::new(),
            tone: Tone::Accent,
            x: at(&all),
            y: points.iter().map(|point| point.output_per_s).collect(),
            marked: true,
            ..Line::default()
        }],
        ..Panel::default()
    };
    let mut panels = vec![spread("TTFT: mean, P50 to P99", |point| Some(point.ttft), setup.slos.ttft_ms)];
    if setup.osl > 1 {
        panels.push(spread("TPOT: mean, P50 to P99", |point| point.tpot, setup.slos.tpot_ms));
    }
    panels.push(output);
    let (name, log, mark) = match setup.load {
        Load::Rate(rate) => ("Requests per second", false, Some(rate)),
        Load::Concurrency(clients) => ("Clients", true, Some(f64::from(clients))),
        Load::Batch(_) => ("Prompts", true, None),
    };
    // A rate far beyond capacity would squeeze the curve.
    let last = points.last().map_or(0.0, |point| point.load);
    let mark = mark.filter(|&mark| mark <= last);
    Chart::Curves(Curves { x: Axis { name: name.into(), unit: Unit::Count, log }, panels, mark })
}
