//! Pairs of measured runs that differ in one thing: whether the faster one is identified, and with what confidence.

use std::collections::BTreeMap;

use serde::Serialize;

use super::calibrated::LeaveOut;
use super::on_all_cores;
use crate::calibration::{Calibration, ConfigPoint, Label, RankInput, UncertainFigure};
use crate::evidence::compared::{ComparedCase, ErrorMetric};
use crate::evidence::coverage::Calibrated;

/// Measurements further apart than this are worth distinguishing.
const DISTINCT: f64 = 1.1;
/// Mean lengths within this are the same.
const SAME: f64 = 0.01;
const METRICS: [ErrorMetric; 2] = [ErrorMetric::Ttft, ErrorMetric::Tpot];
/// Confidence bins.
const BINS: [f64; 7] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0 + 1e-9];
/// Possible differences of a pair, by name; engine versions only within the same engine.
const DIFFERENCES: [(&str, Label); 5] = [
    ("engine", Label::Engine),
    ("version", Label::Version),
    ("gpu", Label::Gpu),
    ("format", Label::Format),
    ("layout", Label::Layout),
];
/// How often the faster of two runs was identified, with the runs of both configurations left out.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Ranks {
    /// By the difference of the pairs.
    pub by_difference: BTreeMap<&'static str, BTreeMap<ErrorMetric, PairAccuracy>>,
    /// Observed frequency by confidence.
    pub reliability: BTreeMap<ErrorMetric, Vec<Reliability>>,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct PairAccuracy {
    pub pairs: usize,
    /// Pairs measured more than 10 % apart, and the percentage identified correctly: calibrated, and by the physics
    /// alone.
    pub distinct: usize,
    pub right: f64,
    pub physics: f64,
}

/// Pairs with similar confidence: means in %.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Reliability {
    pub said: f64,
    pub came_true: f64,
    pub pairs: usize,
}

/// A pair in one metric.
struct Ranked {
    difference: &'static str,
    metric: ErrorMetric,
    /// The probability that the first is faster.
    first: f64,
    /// Logarithms of the second over the first: by the physics, and measured.
    physics: f64,
    measured: f64,
}

impl Ranks {
    /// The ranks over all runs with a calibrated prediction.
    pub fn of(cases: &[ComparedCase], calibration: &Calibration) -> Self {
        let ranked = on_all_cores(&pairs(cases), |(difference, pair)| rank(difference, pair, calibration));
        let ranked: Vec<Ranked> = ranked.into_iter().flatten().collect();
        let mut by_difference: BTreeMap<_, BTreeMap<_, Vec<&Ranked>>> = BTreeMap::new();
        let mut by_metric: BTreeMap<_, Vec<&Ranked>> = BTreeMap::new();
        for one in &ranked {
            by_difference.entry(one.difference).or_default().entry(one.metric).or_default().push(one);
            by_metric.entry(one.metric).or_default().push(one);
        }
        let named = |by: BTreeMap<ErrorMetric, Vec<&Ranked>>| {
            by.into_iter().map(|(metric, of)| (metric, PairAccuracy::of(&of))).collect()
        };
        Self {
            by_difference: by_difference.into_iter().map(|(of, by)| (of, named(by))).collect(),
            reliability: by_metric.into_iter().map(|(metric, of)| (metric, reliability(&of))).collect(),
        }
    }
}

impl PairAccuracy {
    fn of(pairs: &[&Ranked]) -> Self {
        let distinct: Vec<_> = pairs.iter().filter(|one| one.measured.abs() > DISTINCT.ln()).collect();
        let share = |right: &dyn Fn(&Ranked) -> bool| {
            100.0 * distinct.iter().filter(|one| right(one)).count() as f64 / distinct.len().max(1) as f64
        };
        Self {
            pairs: pairs.len(),
            distinct: distinct.len(),
            right: share(&|one| (one.first > 0.5) == (one.measured > 0.0)),
            physics: share(&|one| one.physics != 0.0 && (one.physics > 0.0) == (one.measured > 0.0)),
        }
    }
}

fn reliability(pairs: &[&Ranked]) -> Vec<Reliability> {
    // The one predicted faster first.
    let said = |one: &&Ranked| {
        let turned = one.first < 0.5;
        let sure = if turned { 1.0 - one.first } else { one.first };
        (sure, (one.measured > 0.0) != turned)
    };
    let all: Vec<(f64, bool)> = pairs.iter().map(said).collect();
    let of_bin = |bin: &[f64]| {
        let inside: Vec<_> = all.iter().filter(|(sure, _)| (bin[0]..bin[1]).contains(sure)).collect();
        let mean = |of: &dyn Fn(&(f64, bool)) -> f64| {
            100.0 * inside.iter().map(|one| of(one)).sum::<f64>() / inside.len() as f64
        };
        (!inside.is_empty()).then(|| Reliability {
            said: mean(&|one| one.0),
            came_true: mean(&|one| f64::from(u8::from(one.1))),
            pairs: inside.len(),
        })
    };
    BINS.windows(2).filter_map(of_bin).collect()
}

/// A run with its calibrated prediction.
type Predicted<'a> = (&'a ComparedCase, &'a Calibrated);
type ComparedPair<'a> = (&'static str, [Predicted<'a>; 2]);

/// Runs of one model under one load that differ in one thing.
fn pairs(cases: &[ComparedCase]) -> Vec<ComparedPair<'_>> {
    let mut alike: BTreeMap<(&str, u32), Vec<Predicted<'_>>> = BTreeMap::new();
    for case in cases {
        if let (Some(clients), Some(calibrated)) =
            (case.concurrency, case.calibrated.get(&LeaveOut::Configuration))
        {
            alike.entry((&calibrated.rank_input.point.shape, clients)).or_default().push((case, calibrated));
        }
    }
    let mut pairs = Vec::new();
    for group in alike.values() {
        for (index, one) in group.iter().enumerate() {
            let others = group[..index].iter();
            pairs.extend(others.filter_map(|other| Some((difference(other.1, one.1)?, [*other, *one]))));
        }
    }
    pairs
}

/// The single difference between two runs, if there is exactly one.
fn difference(one: &Calibrated, other: &Calibrated) -> Option<&'static str> {
    let (a, b) = (&one.rank_input.point, &other.rank_input.point);
    let near = |one: f64, other: f64| (one / other - 1.0).abs() < SAME;
    let is_alike = a.agrees(b, Label::Shape)
        && a.agrees(b, Label::Drafts)
        && near(a.prompt, b.prompt)
        && near(a.output, b.output);
    let is_counted = |label: Label| label != Label::Version || a.agrees(b, Label::Engine);
    let mut found = DIFFERENCES
        .iter()
        .filter(|(_, label)| is_counted(*label) && !a.agrees(b, *label))
        .map(|(name, _)| *name);
    let first = found.next().filter(|_| is_alike)?;
    found.next().is_none().then_some(first)
}

/// Compares a pair with the runs of both configurations left out.
fn rank(difference: &'static str, pair: &[Predicted<'_>; 2], calibration: &Calibration) -> Vec<Ranked> {
    let rank_inputs = pair.map(|(_, calibrated)| &calibrated.rank_input);
    let others = |known: &ConfigPoint| {
        rank_inputs.iter().all(|rank_input| !LeaveOut::Configuration.is_of(&rank_input.point, known))
    };
    let versus = calibration.versus(rank_inputs, &[], others);
    let of_metric = |metric: ErrorMetric| {
        let [a, b] = pair.map(|(case, _)| case);
        let ratio = |one: Option<f64>, other: Option<f64>| Some((other? / one?).ln());
        let physics = ratio(metric.of(a.physics.as_ref()?), metric.of(b.physics.as_ref()?))?;
        let measured = ratio(metric.of(&a.measured), metric.of(&b.measured))?;
        let [one, other] = rank_inputs.map(|rank_input| figure(rank_input, metric));
        Some(Ranked { difference, metric, first: versus.lower([one?, other?]), physics, measured })
    };
    METRICS.into_iter().filter_map(of_metric).filter(|one| one.measured != 0.0).collect()
}

fn figure(rank_input: &RankInput, metric: ErrorMetric) -> Option<UncertainFigure> {
    if metric == ErrorMetric::Ttft { rank_input.ttft } else { rank_input.tpot }
}
