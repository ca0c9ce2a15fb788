//! The loads around the one asked for.

use super::{HEIGHT, round};
use crate::chart::{Chart, Line, Tone, runs};
use crate::config::{Load, Measured, Metric, Setup};
use crate::serving::run::Point;
use crate::serving::sim::Stats;
use crate::study::{Block, Document, Row, words as named};
use crate::units::{Seconds, count};

/// The curve so far, with what was `measured` of the load asked for.
pub fn curve(setup: &Setup, measured: &Measured, points: &[Point], largest: Option<f64>) -> Document {
    if points.is_empty() {
        return Document::default();
    }
    let head = [
        match setup.load {
            Load::Rate(_) | Load::ConstantRate(_) => "Requests per s",
            Load::SessionRate(_) => "Sessions per s",
            Load::Sessions(_) => "Sessions",
            _ => "Clients",
        },
        "TTFT mean",
        "TTFT P99",
        "TPOT mean",
        "TPOT P99",
        "Output tok/s",
    ];
    let time = |value: f64| Seconds(value).print().to_string();
    let rows = points.iter().map(|point| {
        let tpot = |of: fn(&Stats) -> f64| point.tpot.as_ref().map_or("–".into(), |tpot| time(of(tpot)));
        let load = if point.saturated { count(point.load) + ", too many" } else { count(point.load) };
        let (mean, p99) = (tpot(|tpot| tpot.mean), tpot(|tpot| tpot.p99));
        let output = count(round(point.output_per_s));
        Row::texts([load, time(point.ttft.mean), time(point.ttft.p99), mean, p99, output])
    });
    let table = Block::table("Other loads", &head, rows).called("points");
    let mut blocks = Vec::new();
    let largest = most_within(setup, points, largest);
    if !largest.is_empty() {
        blocks.push(Block::text(largest).called("largest"));
    }
    let name = "Latency and throughput against load";
    let chart = beside(measured, setup, runs::loads(setup, points));
    blocks.push(Block::figure(name, HEIGHT, chart, words(setup, points)).called("curve"));
    blocks.push(Block::fold("other-loads", "As a table", vec![table]));
    Document { blocks, ..Document::default() }
}

/// `chart` with a dot for each number that was measured.
fn beside(measured: &Measured, setup: &Setup, mut chart: Chart) -> Chart {
    let Chart::Curves(curves) = &mut chart else { return chart };
    let metrics = [Metric::Ttft, Metric::Tpot, Metric::Output];
    // A single output token has no TPOT, and no panel of it.
    let metrics = metrics.into_iter().filter(|metric| setup.osl > 1 || *metric != Metric::Tpot);
    for (metric, panel) in metrics.zip(&mut curves.panels) {
        let scale = if metric.is_time() { 1e-3 } else { 1.0 };
        let dot = measured.of(metric).value().map(|value| (setup.load.amount(), value * scale));
        panel.lines.extend(dot.map(|dot| Line::marked("measured", Tone::Ink, [dot])));
    }
    chart
}

fn words(setup: &Setup, points: &[Point]) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let load = |point: &Point| named::load(Load::of(setup.load.size(), point.load));
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
    if points.iter().any(|point| point.saturated) {
        text += " Beyond capacity TTFT grows without bound.";
    }
    text
}

/// The most that keeps to the limits, in a sentence; empty without limits or without a curve.
fn most_within(setup: &Setup, points: &[Point], largest: Option<f64>) -> String {
    let limited = setup.slos.limits().next().is_some();
    if !limited || points.is_empty() {
        return String::new();
    }
    let end = points.last().map_or(0.0, |point| point.load);
    let load = |most| named::load(Load::of(setup.load.size(), most));
    match largest {
        None => "Not even the smallest load keeps 99 % of its requests within the limits.".into(),
        Some(most) if most >= end => {
            format!("All loads keep within the limits, up to {}.", load(end))
        }
        Some(most) => format!("Up to {} keep 99 % of requests within the limits.", load(most)),
    }
}
