//! The loads around the one asked for.

use super::{head, round, write};
use crate::chart::{Axis, Band, Chart, Curves, Line, Panel, Tone, Unit};
use crate::config::{Load, Setup};
use crate::serving::run::Point;
use crate::serving::sim::Stats;
use crate::units::{Seconds, count};
use crate::worker::protocol::{Row, Swept, Table};

/// The curve so far.
pub fn curve(setup: &Setup, points: &[Point], largest: Option<f64>, swept: Swept) -> Swept {
    let rate = matches!(setup.load, Load::Rate(_));
    let head = head(&[
        if rate { "Requests per s" } else { "Clients" },
        "TTFT mean",
        "TTFT P99",
        "TPOT mean",
        "TPOT P99",
        "Output tok/s",
    ]);
    let time = |value: f64| Seconds(value).print().to_string();
    let rows = points.iter().map(|point| {
        let tpot = |of: fn(&Stats) -> f64| point.tpot.as_ref().map_or("–".into(), |tpot| time(of(tpot)));
        let load = if point.saturated { count(point.load) + ", too many" } else { count(point.load) };
        let (mean, p99) = (tpot(|tpot| tpot.mean), tpot(|tpot| tpot.p99));
        let output = count(round(point.output_per_s));
        Row { cells: vec![load, time(point.ttft.mean), time(point.ttft.p99), mean, p99, output] }
    });
    Swept {
        chart: write(chart(setup, points)),
        words: words(setup, points),
        points: Table { head, rows: rows.collect() },
        largest: most_within(setup, points, largest),
        ..swept
    }
}

fn chart(setup: &Setup, points: &[Point]) -> Chart {
    let loads = |points: &[&Point]| points.iter().map(|point| point.load).collect::<Vec<_>>();
    let spread = |name: &str, of: fn(&Point) -> Option<Stats>, limit_ms: Option<f64>| {
        let shown: Vec<&Point> = points.iter().filter(|point| of(point).is_some()).collect();
        let column =
            |pick: fn(&Stats) -> f64| shown.iter().filter_map(|point| of(point).as_ref().map(pick)).collect();
        Panel {
            y: Axis { name: name.into(), unit: Unit::Seconds, log: true },
            bands: vec![Band { x: loads(&shown), low: column(|at| at.p50), high: column(|at| at.p99) }],
            lines: vec![Line {
                name: String::new(),
                tone: Tone::Accent,
                x: loads(&shown),
                y: column(|at| at.mean),
                marked: true,
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
            x: loads(&all),
            y: points.iter().map(|point| point.output_per_s).collect(),
            marked: true,
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

fn words(setup: &Setup, points: &[Point]) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let load = |point: &Point| match setup.load {
        Load::Rate(_) => format!("{} requests per second", count(point.load)),
        _ if point.load == 1.0 => "1 client".into(),
        _ => format!("{} clients", count(point.load)),
    };
    let time = |value: f64| Seconds(value).print();
    let mut text = format!(
        "From {} to {}: mean TTFT {} to {}",
        load(first),
        load(last),
        time(first.ttft.mean),
        time(last.ttft.mean),
    );
    if let (Some(low), Some(high)) = (&first.tpot, &last.tpot) {
        text += &format!(", mean TPOT {} to {}", time(low.mean), time(high.mean));
    }
    text += &format!(
        ", output {} to {} tok/s.",
        count(round(first.output_per_s)),
        count(round(last.output_per_s))
    );
    if let Some(point) = points.iter().find(|point| point.saturated) {
        text += &format!(" Saturated from {} on: TTFT grows without bound.", load(point));
    }
    text
}

/// The most that keeps to the limits, in a sentence; empty without limits or without a curve.
fn most_within(setup: &Setup, points: &[Point], largest: Option<f64>) -> String {
    let limited = setup.slos.ttft_ms.is_some() || setup.slos.tpot_ms.is_some();
    if !limited || points.is_empty() {
        return String::new();
    }
    let unit = if matches!(setup.load, Load::Rate(_)) { "requests per second" } else { "clients" };
    let end = points.last().map_or(0.0, |point| point.load);
    match largest {
        None => "Not even the smallest load keeps 99 % of its requests within the limits.".into(),
        Some(most) if most >= end => {
            format!("All loads keep within the limits, up to {} {unit}.", count(end))
        }
        Some(most) => format!("Up to {} {unit} keep 99 % of requests within the limits.", count(most)),
    }
}
