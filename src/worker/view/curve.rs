//! Other loads around the requested one.

use super::{HEIGHT, in_all, round};
use crate::chart::{Chart, Line, Tone, runs};
use crate::config::{Measured, Metric, Setup};
use crate::serving::run::{Point, Sweep};
use crate::serving::sim::Stats;
use crate::study::{Block, Document, Row, to_measure, words as named};
use crate::units::{Seconds, count, percent, significant};

/// What was measured, to be shown beside the prediction.
pub struct MeasuredPoints<'a> {
    /// Measured by the visitor, at the requested load.
    pub own: &'a Measured,
    /// Measured by others: the load, and TTFT and TPOT in milliseconds.
    pub runs: Vec<(f64, &'a [Option<f64>])>,
}

/// The curve so far, with what was `measured`. `over`: no load is left to run.
pub fn curve(setup: &Setup, measured: &MeasuredPoints<'_>, sweep: &Sweep, over: bool) -> Document {
    let points = sweep.curve();
    // A trace has one pace: a point is no curve.
    if points.len() < 2 {
        return Document::default();
    }
    let head = [
        runs::size_of(setup.workload.load),
        "TTFT mean",
        "TTFT P99",
        "TPOT mean",
        "TPOT P99",
        &format!("Output, tok/s{}", in_all(setup)),
    ];
    let time = |value: f64| Seconds(value).print().to_string();
    let rows = points.iter().map(|point| {
        let tpot = |of: fn(&Stats) -> f64| point.tpot.as_ref().map_or("–".into(), |tpot| time(of(tpot)));
        let load = if point.saturated { count(point.load) + ", over capacity" } else { count(point.load) };
        let (mean, p99) = (tpot(|tpot| tpot.mean), tpot(|tpot| tpot.p99));
        let output = count(round(point.output_per_s));
        Row::texts([load, time(point.ttft.mean), time(point.ttft.p99), mean, p99, output])
    });
    let table = Block::table("Other loads", &head, rows).called("points");
    let mut blocks = Vec::new();
    let largest = most_within(setup, sweep, over);
    if !largest.is_empty() {
        blocks.push(Block::text(&*largest).called("largest"));
    }
    let name = "Latency and throughput against load";
    let end = points.last().map_or(0.0, |point| point.load);
    let runs: Vec<_> = measured.runs.iter().filter(|(load, _)| *load <= end).copied().collect();
    let said = words(setup, points) + &number_of(runs.len());
    let chart = with_measured(&MeasuredPoints { runs, ..*measured }, setup, runs::loads(setup, points));
    blocks.push(Block::figure(name, HEIGHT, chart, said).called("curve"));
    if !largest.is_empty() {
        blocks.extend(unsettled(setup, points));
    }
    blocks.push(Block::fold("other-loads", "As a table", vec![table]));
    Document { blocks, ..Document::default() }
}

fn number_of(runs: usize) -> String {
    match runs {
        0 => String::new(),
        1 => " One measured run is shown for comparison.".into(),
        many => format!(" {many} measured runs are shown for comparison."),
    }
}

/// `chart` with a dot for each measured number.
fn with_measured(measured: &MeasuredPoints<'_>, setup: &Setup, mut chart: Chart) -> Chart {
    let Chart::Curves(curves) = &mut chart else { return chart };
    let metrics = [Metric::Ttft, Metric::Tpot, Metric::Output];
    // With a single output token there is no TPOT, and no panel for it.
    let metrics = metrics.into_iter().filter(|metric| setup.workload.osl > 1 || *metric != Metric::Tpot);
    for (metric, panel) in metrics.zip(&mut curves.panels) {
        let scale = if metric.is_time() { 1e-3 } else { 1.0 };
        let own = measured.own.of(metric).value().map(|value| (setup.workload.load.amount(), value));
        let times = measured.runs.iter().filter_map(|(load, times)| {
            let at = match metric {
                Metric::Ttft => 0,
                Metric::Tpot => 1,
                _ => return None,
            };
            Some((*load, (*times.get(at)?)?))
        });
        let dots = own.into_iter().chain(times).map(|(load, value)| (load, value * scale));
        let dots = Line { loose: true, ..Line::marked("measured", Tone::Measured, dots) };
        panel.lines.extend(Some(dots).filter(|dots| !dots.x.is_empty()));
    }
    chart
}

fn words(setup: &Setup, points: &[Point]) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let load = |point: &Point| named::load(setup.workload.load.with_amount(point.load));
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
        ", output {} to {} tok/s{}.",
        count(round(first.output_per_s)),
        count(round(last.output_per_s)),
        in_all(setup)
    );
    if points.iter().any(|point| point.bands.is_some()) {
        text += " 80 % of measurements are expected within the shaded areas.";
    }
    if points.iter().any(|point| point.saturated) && setup.workload.max_in_flight.is_none() {
        text += " Beyond capacity TTFT grows without bound.";
    }
    text
}

/// The largest load that meets the limits, in a sentence; empty without limits or curve.
fn most_within(setup: &Setup, sweep: &Sweep, over: bool) -> String {
    let points = sweep.curve();
    let limited = setup.workload.slos.limits().next().is_some();
    if !limited || points.is_empty() {
        return String::new();
    }
    let end = points.last().map_or(0.0, |point| point.load);
    let load = |most| named::load(setup.workload.load.with_amount(most));
    let share = count(setup.workload.slos.share_of_each() * 100.0);
    let Some(most) = sweep.largest_as_stated() else {
        return format!("Not even the smallest load keeps {share} % of requests within the limits.");
    };
    let ramped = sweep.largest_ramped();
    if most >= end && (ramped.is_none() || !over) {
        let all = if over { "All loads" } else { "So far all loads" };
        return format!("{all} up to {} meet the limits.", load(end));
    }
    let ramped = ramped
        .filter(|more| *more != most)
        .map(|more| format!(" if all start together, or {} if they start one after another", count(more)));
    let text = format!(
        "{share} % of requests meet the limits with up to {}{}",
        load(most),
        ramped.unwrap_or_default()
    );
    let safe = safely_within(points).filter(|safe| *safe < most);
    let least = percent(SAFE);
    let safe = safe.map(|safe| format!("; up to {} the chance of that is {least} or more", load(safe)));
    text + &safe.unwrap_or_default() + "."
}

/// Loads above this probability are considered safe, below its complement hopeless.
const SAFE: f64 = 0.9;

/// Significant digits of a rate to measure.
const DIGITS: i32 = 3;

/// The largest load on the curve up to which all meet the limits with a probability of [`SAFE`], in whole percent:
/// the headline prints no more.
fn safely_within(points: &[Point]) -> Option<f64> {
    let is_safe = |with: f64| (with * 100.0).round() >= SAFE * 100.0;
    let safe = points.iter().take_while(|point| chance_within_limits(point).is_some_and(is_safe));
    safe.last().map(|point| point.load)
}

fn chance_within_limits(point: &Point) -> Option<f64> {
    point.bands.as_ref()?.chance_within_limits
}

/// The most informative load to measure: the one about as likely to meet the limits as to miss them, between the last load of the
/// curve that is more likely to and the next, which is not.
fn unsettled(setup: &Setup, points: &[Point]) -> Option<Block> {
    let open = |with: f64| (1.0 - SAFE..SAFE).contains(&with);
    let known: Vec<(f64, f64)> =
        points.iter().filter_map(|point| Some((point.load, chance_within_limits(point)?))).collect();
    let after = known.iter().position(|(_, with)| *with < 0.5)?;
    let [(low, likely), (high, unlikely)] = [*known.get(after.checked_sub(1)?)?, known[after]];
    if !open(likely) && !open(unlikely) {
        return None;
    }
    let at = low + (high - low) * (likely - 0.5) / (likely - unlikely);
    let load = setup.workload.load;
    let at = if load.is_rate() { significant(at, DIGITS) } else { at.round() };
    let load = load.with_amount(at);
    let name = format!(
        "The most informative load to measure is near {}, which may meet the limits or miss them",
        named::load(load),
    );
    Some(to_measure("settle-load", name, &setup.under(|workload| workload.load = load)))
}
