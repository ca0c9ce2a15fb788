//! Measured numbers next to predicted ones.

use super::accuracy::{Accuracy, CaseKind, CasePoint};
use super::{Block, Case, Study, metric};
use crate::chart::{Line, Tone};
use crate::config::link::decode;
use crate::config::measured::conditions;
use crate::config::{Metric, Overrides, Scenario, Setup};
use crate::serving::deviation::{Deviation, deviations, print};

/// The numbers both measured and predicted.
pub fn numbers(study: &Study) -> Vec<(Metric, Deviation)> {
    study.own().report().map(|report| deviations(&study.link.comparable(), report)).unwrap_or_default()
}

/// A table of the numbers both measured and predicted; `None` without measurements.
pub fn table(study: &Study) -> Option<Block> {
    let row = |(metric, both): (Metric, Deviation)| {
        let number = |value: f64| print(metric, value).to_string();
        let name = match metric {
            Metric::Ttft => "TTFT",
            Metric::Tpot => "TPOT",
            Metric::E2e => "E2E",
            Metric::Output => "Output",
            Metric::Requests => "Requests",
            Metric::Total => "Input and output",
        };
        let median = both.median.map_or("–".to_owned(), number);
        [name.to_owned(), number(both.predicted), number(both.measured), both.difference(), median]
    };
    let numbers = numbers(study);
    let without = study.own().report().is_some_and(|report| report.without_own().is_some());
    let predicted = if without { "Predicted without your runs" } else { "Predicted" };
    let head = ["", predicted, "Measured", "Difference", "Median measured"];
    let table = Block::table("Measured and predicted", &head, numbers.iter().copied().map(row));
    (!numbers.is_empty()).then(|| table.called("measured-beside"))
}

/// The table under a heading, with the definition of differences.
pub fn blocks(study: &Study) -> Vec<Block> {
    let Some(table) = table(study) else { return Vec::new() };
    vec![
        Block::heading("Your measurement"),
        table,
        Block::text(
            "Difference = (predicted - measured) / measured, of the means. If only a median was measured, it stands in \
             for the mean, which a few slow requests can raise well above it.",
        ),
    ]
}

/// Closed loops of the evidence that are like `scenario` except for the number of clients, limits and engine settings:
/// their number of clients, and their times in milliseconds.
pub fn runs_like<'a>(
    accuracy: &'a Accuracy,
    setup: &Setup,
    scenario: &Scenario,
) -> Vec<(f64, &'a [Option<f64>])> {
    let run = |point: &'a CasePoint| {
        let theirs = decode(&point.link).0.scenario;
        let load = theirs.workload.load;
        let mut own = scenario.clone();
        if load.size() == own.workload.load.size() {
            own.workload.load = load;
        }
        (bare(&own) == bare(&theirs)).then(|| (load.amount(), &*point.measured))
    };
    accuracy.points.iter().filter(|point| is_loop_of(point, setup)).filter_map(run).collect()
}

/// Cases of the same model, GPU and engine.
fn is_loop_of(point: &CasePoint, setup: &Setup) -> bool {
    let own = [&setup.model.name, &setup.gpu.id, &setup.engine.id];
    point.kind == CaseKind::Loop && [&point.model, &point.gpu, &point.engine] == own
}

/// The measurements of `cases`, each with its position on the axis: the visitor's run of the form, and closed loops of
/// the evidence that differ from a case at most in limits and engine settings. Of the latter only times are known.
pub fn dots<'a>(
    study: &Study,
    metric: metric::HeadlineMetric,
    cases: impl Iterator<Item = (f64, &'a Case)>,
) -> Line {
    let Some((own, index)) = metric.reported else { return Line::default() };
    let dots = cases.flat_map(|(at, case)| {
        let own = study.link.comparable().of(own).value().filter(|_| std::ptr::eq(case, study.own()));
        let others =
            of_evidence(study, case).filter_map(move |point| point.measured.get(index).copied().flatten());
        own.into_iter().chain(others).map(move |ms| (at, ms * 1e-3))
    });
    Line { loose: true, ..Line::marked("measured", Tone::Measured, dots) }
}

fn of_evidence<'a>(study: &'a Study, case: &'a Case) -> impl Iterator<Item = &'a CasePoint> {
    let same = bare(&case.scenario);
    let points = study.accuracy.iter().flat_map(|accuracy| &accuracy.points);
    points.filter(move |point| {
        let is_near = case.setup().is_some_and(|setup| is_loop_of(point, setup));
        is_near && bare(&decode(&point.link).0.scenario) == same
    })
}

/// The scenario without the settings that a measured run need not share.
fn bare(scenario: &Scenario) -> Scenario {
    Scenario { overrides: Overrides::default(), ..conditions(scenario) }
}
