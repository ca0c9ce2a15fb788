//! Output per GPU against output per user, over TP degrees and clients.

use crate::config::TP_IN_NODE;
use std::collections::BTreeSet;

use super::metric::{COST, HeadlineMetric, PER_GPU, PER_USER, TPOT, TTFT, head};
use super::rank::{self, CONFIDENT};
use super::{Block, Case, Row, Study, edit, to_measure, words};
use crate::chart::{Axis, Chart, ChartUnit, Curves, Line, Panel, Tone};
use crate::config::Scenario;
use crate::config::link::Link;
use crate::serving::UNFIT;
use crate::units::{Order, chance, count, counted, set_of};

const CLIENTS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const HEIGHT: u32 = 340;
/// Tones of one degree after another, beside the frontier's.
const TONES: [Tone; 5] = [Tone::Kind(0), Tone::Kind(1), Tone::Kind(2), Tone::Ink, Tone::Faint];
const COLUMNS: [HeadlineMetric; 5] = [PER_USER, PER_GPU, TTFT, TPOT, COST];

/// A configuration and its position in the chart.
struct FrontierPoint<'a> {
    case: &'a Case,
    per_user: f64,
    per_gpu: f64,
}

/// The degrees, and that of the configuration.
fn degrees(base: &Scenario) -> BTreeSet<u32> {
    set_of(TP_IN_NODE.into_iter().chain([base.parallel.tp]))
}

/// One replica at every degree, with every number of clients.
pub fn cases(link: &Link, _: &str) -> Vec<Case> {
    let base = &Scenario { replicas: 1, ..link.scenario.clone() };
    let case = |(tp, clients): (u32, u32)| {
        Case::edited(edit::layout(base, tp), base, |scenario| {
            edit::tp(scenario, tp);
            scenario.workload.load = base.workload.load.closed(clients);
        })
    };
    degrees(base).into_iter().flat_map(|tp| CLIENTS.map(|clients| (tp, clients))).map(case).collect()
}

/// What one of the loads swept is.
fn unit(base: &Scenario) -> &'static str {
    if base.workload.load.is_sessions() { "session" } else { "client" }
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let points: Vec<FrontierPoint<'_>> = study.others().iter().filter_map(point).collect();
    let all = study.done == study.cases.len();
    let mut blocks = vec![Block::text(format!(
        "{} Further right, each user gets tokens faster; further up, each GPU yields more. On the Pareto frontier \
         neither improves without the other getting worse.",
        swept(&study.link.scenario)
    ))];
    if points.is_empty() {
        let mut reasons = study.cases.iter().map(Case::reason);
        let why = reasons.find(|why| !why.is_empty()).unwrap_or("the output is a single token");
        blocks.extend(all.then(|| Block::text(format!("No trade-off: {}.", why.trim_end_matches('.')))));
        return blocks;
    }
    if all {
        blocks.extend(without(study.others(), &points));
    }
    let best = frontier(&points);
    blocks.push(chart(study, &points, &best));
    let of = unit(&study.link.scenario);
    let mut head = head(&["Parallelism", if of == "client" { "Clients" } else { "Sessions" }], &COLUMNS);
    // While points are missing, the closest rivals may be missing too.
    let sure: Vec<Option<f64>> =
        best.iter().map(|point| all.then(|| ahead(study, point, &points)).flatten()).collect();
    let is_any_sure = sure.iter().any(Option::is_some);
    head.extend(is_any_sure.then_some("Chance of being best"));
    let row = |(point, sure): (&&FrontierPoint<'_>, &Option<f64>)| {
        let case = point.case;
        let mut cells =
            vec![study.open(&case.name, case), count(case.scenario.workload.load.amount()).into()];
        cells.extend(COLUMNS.map(|metric| metric.print(case).into()));
        cells.extend(is_any_sure.then(|| sure.map_or_else(|| "–".into(), chance).into()));
        Row::new(cells)
    };
    blocks.push(Block::table("Pareto frontier", &head, best.iter().zip(&sure).map(row)));
    let known = best.iter().zip(&sure).filter_map(|(point, sure)| Some((*point, (*sure)?)));
    let closest =
        known.filter(|(_, sure)| *sure < CONFIDENT).min_by(|(_, one), (_, other)| one.total_cmp(other));
    blocks.extend(closest.and_then(|(point, sure)| {
        let load = counted(point.case.scenario.workload.load.amount(), of);
        let name = format!(
            "To settle the frontier, measure {} with {load}: {} likely to be on it",
            point.case.name,
            chance(sure)
        );
        Some(to_measure("settle-frontier", name, point.case.setup()?))
    }));
    blocks
}

/// `One replica at TP 1, 2, 4 and 8, each with PP 2: 1 to 256 clients.`
fn swept(base: &Scenario) -> String {
    let degrees: Vec<String> = degrees(base).into_iter().map(|tp| tp.to_string()).collect();
    let others =
        [("PP", base.parallel.pp), ("DP", base.parallel.dp)].into_iter().filter(|(_, degree)| *degree > 1);
    let mut others: Vec<String> = others.map(|(name, degree)| format!("{name} {degree}")).collect();
    let workers = base.prefill.workers;
    others.extend((workers > 0).then(|| counted(f64::from(workers), "prefill worker")));
    let others = if others.is_empty() { String::new() } else { format!(", each with {}", others.join(", ")) };
    let [least, .., most] = CLIENTS;
    format!("One replica at TP {}{others}: {least} to {most} {}s.", words::list(&degrees), unit(base))
}

/// `TP 1 and 2 do not fit.`: the degrees without a point, those with the same reason together.
fn without(cases: &[Case], points: &[FrontierPoint<'_>]) -> Option<Block> {
    let mut missing: Vec<(&str, BTreeSet<u32>)> = Vec::new();
    for case in cases {
        let tp = case.scenario.parallel.tp;
        if points.iter().any(|point| point.case.scenario.parallel.tp == tp) {
            continue;
        }
        let why = case.reason().trim_end_matches('.');
        let why = if why.starts_with(UNFIT) { UNFIT } else { why };
        match missing.iter_mut().find(|(other, _)| *other == why) {
            Some((_, degrees)) => drop(degrees.insert(tp)),
            None => missing.push((why, set_of([tp]))),
        }
    }
    let said = missing.iter().map(|(why, degrees)| {
        let all: Vec<String> = degrees.iter().map(u32::to_string).collect();
        let all = words::list(&all);
        match *why {
            UNFIT if degrees.len() == 1 => format!("TP {all} does not fit."),
            UNFIT => format!("TP {all} do not fit."),
            why => format!("No answer for TP {all}: {why}."),
        }
    });
    let said = said.collect::<Vec<_>>().join(" ");
    (!missing.is_empty()).then(|| Block::text(said).called("without"))
}

/// How likely a frontier point yields more than the best other degree at the same speed per user. `None` without
/// calibration or rival.
fn ahead(study: &Study, point: &FrontierPoint<'_>, points: &[FrontierPoint<'_>]) -> Option<f64> {
    let is_rival = |other: &&FrontierPoint<'_>| {
        other.case.scenario.parallel.tp != point.case.scenario.parallel.tp && other.per_user >= point.per_user
    };
    let rival = points.iter().filter(is_rival).max_by(|a, b| a.per_gpu.total_cmp(&b.per_gpu))?;
    let own = study.calibrated_on.as_deref().unwrap_or_default();
    rank::confidence(rival.case, point.case, PER_GPU, own)
}

fn point(case: &Case) -> Option<FrontierPoint<'_>> {
    Some(FrontierPoint { case, per_user: PER_USER.of(case)?, per_gpu: PER_GPU.of(case)? })
}

/// The points that no other dominates, from the slowest user to the fastest.
fn frontier<'a, 'b>(points: &'b [FrontierPoint<'a>]) -> Vec<&'b FrontierPoint<'a>> {
    let dominated = |point: &FrontierPoint<'_>| {
        points.iter().any(|other| {
            other.per_user >= point.per_user
                && other.per_gpu >= point.per_gpu
                && (other.per_user > point.per_user || other.per_gpu > point.per_gpu)
        })
    };
    let mut best: Vec<&FrontierPoint<'_>> = points.iter().filter(|point| !dominated(point)).collect();
    best.order_by(|a, b| a.per_user.total_cmp(&b.per_user));
    best
}

fn chart(study: &Study, points: &[FrontierPoint<'_>], best: &[&FrontierPoint<'_>]) -> Block {
    let at = |point: &FrontierPoint<'_>| (point.per_user, point.per_gpu);
    let degree = |(place, tp): (usize, u32)| {
        let own = points.iter().filter(|point| point.case.scenario.parallel.tp == tp);
        Line::marked(&edit::layout(&points[0].case.scenario, tp), TONES[place % TONES.len()], own.map(at))
    };
    let degrees = degrees(&study.link.scenario).into_iter().enumerate();
    let mut lines: Vec<Line> = degrees.map(degree).filter(|line| !line.x.is_empty()).collect();
    lines.push(Line::marked("Frontier", Tone::Accent, best.iter().map(|point| at(point))));
    let y = Axis::new(PER_GPU.name, ChartUnit::Count, false);
    let x = Axis::new(PER_USER.name, ChartUnit::Count, false);
    let end = |point: &&FrontierPoint<'_>| {
        let (case, load) = (point.case, point.case.scenario.workload.load.amount());
        format!(
            "{} tok/s per GPU at {} tok/s per user ({}, {})",
            PER_GPU.print(case),
            PER_USER.print(case),
            case.name,
            counted(load, unit(&case.scenario)),
        )
    };
    let own = PER_USER.of(study.own());
    let mark = own.map_or("", |_| " The vertical line is the form's own output per user.");
    let ends = [best.first(), best.last()].into_iter().flatten().map(end).collect::<Vec<_>>();
    let panels = vec![Panel { y, lines, ..Panel::default() }];
    let chart = Chart::Curves(Curves { x, panels, mark: own });
    Block::figure(
        "Throughput against speed",
        HEIGHT,
        chart,
        format!("The frontier runs from {}.{mark}", ends.join(" to ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Parallelism;

    #[test]
    fn what_is_swept_is_described_with_the_configurations_own_degrees() {
        let base =
            Scenario { parallel: Parallelism { tp: 16, pp: 2, ..Parallelism::NONE }, ..Scenario::default() };
        assert_eq!(swept(&base), "One replica at TP 1, 2, 4, 8 and 16, each with PP 2: 1 to 256 clients.");
        let plain = Scenario { parallel: Parallelism { tp: 2, ..Parallelism::NONE }, ..Scenario::default() };
        assert_eq!(swept(&plain), "One replica at TP 1, 2, 4 and 8: 1 to 256 clients.");
        let swept: BTreeSet<u32> =
            cases(&Link::new(base), "").iter().map(|case| case.scenario.parallel.tp).collect();
        assert!(swept.contains(&16) && swept.len() == TP_IN_NODE.len() + 1);
    }
}
