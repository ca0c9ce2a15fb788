//! All simulated plans as trade-offs: output per GPU against output per user, cost against latency.

use super::super::Block;
use crate::chart::{Axis, Chart, ChartUnit, Curves, Line, Panel, Tone};
use crate::find::SimulatedPlan;
use crate::units::Order;

const HEIGHT: u32 = 300;
/// Tones of the named kinds of plans: few enough to tell apart.
const TONES: [Tone; 4] = [Tone::Ink, Tone::Kind(0), Tone::Kind(1), Tone::Kind(2)];
const OTHERS: Tone = Tone::Faint;

type Place = (f64, f64);

pub fn blocks(tried: &[SimulatedPlan]) -> Vec<Block> {
    let speed = |plan: &SimulatedPlan| Some((plan.per_user?, plan.per_gpu));
    let cost = |plan: &SimulatedPlan| Some((plan.e2e, plan.dollars_per_million_output?));
    let count = Axis::new("Output per user, tok/s", ChartUnit::Count, false);
    let seconds = Axis::new("E2E", ChartUnit::Seconds, false);
    [
        figure(
            "Throughput against speed",
            tried,
            speed,
            count,
            Axis::new("Output per GPU, tok/s", ChartUnit::Count, false),
            Direction::Above,
        ),
        figure(
            "Cost against latency",
            tried,
            cost,
            seconds,
            Axis::new("Cost per M output tokens", ChartUnit::Dollars, false),
            Direction::Below,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whether larger or smaller values are better, on both axes.
#[derive(Clone, Copy)]
enum Direction {
    Above,
    Below,
}

/// The points that no other point equals or beats in both values, from left to right. Values that print the same are
/// equal.
fn frontier(all: &[Place], [x, y]: [&Axis; 2], better: Direction) -> Vec<Place> {
    let order = |one: f64, other: f64| match better {
        Direction::Above => other.total_cmp(&one),
        Direction::Below => one.total_cmp(&other),
    };
    let mut sorted = all.to_vec();
    sorted.order_by(|one, other| order(one.0, other.0).then(order(one.1, other.1)));
    let same = |axis: &Axis, one: f64, other: f64| axis.unit.print(one) == axis.unit.print(other);
    let mut best: Vec<Place> = Vec::new();
    for at in sorted {
        let Some(&last) = best.last() else {
            best.push(at);
            continue;
        };
        if order(at.1, last.1).is_lt() && !same(y, at.1, last.1) {
            if same(x, at.0, last.0) {
                best.pop();
            }
            best.push(at);
        }
    }
    if matches!(better, Direction::Above) {
        best.reverse();
    }
    best
}

/// `None` for a single point.
fn figure(
    name: &str,
    tried: &[SimulatedPlan],
    place: impl Fn(&SimulatedPlan) -> Option<Place>,
    x: Axis,
    y: Axis,
    better: Direction,
) -> Option<Block> {
    let mut kinds: Vec<(String, Vec<Place>)> = Vec::new();
    for (plan, at) in tried.iter().filter_map(|plan| Some((plan, place(plan)?))) {
        let kind = format!("{}, {}, {}", plan.gpu, plan.weights.name(), plan.engine);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, places)) => places.push(at),
            None => kinds.push((kind, vec![at])),
        }
    }
    let all: Vec<Place> = kinds.iter().flat_map(|(_, places)| places.iter().copied()).collect();
    let best = frontier(&all, [&x, &y], better);
    if all.len() < 2 {
        return None;
    }
    // A name goes beside the last point with room for it: frontier points come last.
    kinds.iter_mut().for_each(|(_, places)| places.order_by_key(|at| best.contains(at)));
    // Kinds on the frontier first.
    let on_it = |(_, places): &(String, Vec<Place>)| places.iter().any(|at| best.contains(at));
    let (mut kinds, dominated): (Vec<_>, Vec<_>) = kinds.into_iter().partition(on_it);
    kinds.extend(dominated);
    let rest = kinds.split_off(kinds.len().min(TONES.len()));
    let rest: Vec<Place> = rest.into_iter().flat_map(|(_, places)| places).collect();
    if !rest.is_empty() {
        kinds.push(("Others".into(), rest));
    }
    let loose = |(index, (kind, places)): (usize, &(String, Vec<Place>))| {
        let line = Line::marked(kind, TONES.get(index).copied().unwrap_or(OTHERS), places.iter().copied());
        Line { loose: true, ..line }
    };
    let mut lines: Vec<Line> = kinds.iter().enumerate().map(loose).collect();
    lines.push(Line::marked("Frontier", Tone::Accent, best.iter().copied()));
    let words = words(&best, all.len(), [&x, &y], better);
    let panels = vec![Panel { y, lines, ..Panel::default() }];
    Some(Block::figure(name, HEIGHT, Chart::Curves(Curves { x, panels, mark: None }), words))
}

/// What the chart shows, in a sentence: its axes, and the best plans at both ends.
fn words(best: &[Place], plans: usize, [x, y]: [&Axis; 2], better: Direction) -> String {
    // `Output per GPU, tok/s`: a name, and the unit of its numbers.
    let name = |axis: &Axis| axis.name.split(", ").next().unwrap_or(&axis.name).to_owned();
    let point = |at: &Place| {
        let (x, y) = (x.unit.print(at.0), y.unit.print(at.1));
        match better {
            Direction::Above => format!("{y} tok/s per GPU ({x} per user)"),
            Direction::Below => format!("{y} per M output tokens (E2E {x})"),
        }
    };
    let ends = match (best.first(), best.last()) {
        (Some(first), Some(last)) if point(first) != point(last) => {
            format!("the best trade-offs run from {} to {}", point(first), point(last))
        }
        (Some(only), _) => format!("one plan is the best in both: {}", point(only)),
        (None, _) => "none is best".to_owned(),
    };
    format!("{} against {}, of {plans} plans found: {ends}.", name(y), lower(&name(x)))
}

/// Within a sentence; abbreviations stay.
fn lower(name: &str) -> String {
    let is_word = name.chars().nth(1).is_some_and(|second| second.is_lowercase());
    match name.split_at_checked(1) {
        Some((head, tail)) if is_word => head.to_ascii_lowercase() + tail,
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Content;

    fn tried(per_gpu: f64, per_user: f64) -> SimulatedPlan {
        SimulatedPlan {
            gpu: "B200".into(),
            engine: "vLLM".into(),
            weights: crate::config::Dtype::Fp8,
            per_gpu,
            per_user: Some(per_user),
            dollars_per_million_output: None,
            e2e: 1.0,
        }
    }

    #[test]
    fn what_another_equals_or_beats_in_both_as_printed_is_not_on_the_frontier() {
        let axes =
            [Axis::new("E2E", ChartUnit::Seconds, false), Axis::new("Cost", ChartUnit::Dollars, false)];
        let of = |all: &[Place], better| frontier(all, [&axes[0], &axes[1]], better);
        let all = [(8.61, 0.437_79), (7.84, 0.437_81), (7.8403, 0.42), (5.0, 0.9), (5.0, 0.8), (6.0, 0.95)];
        assert_eq!(of(&all, Direction::Below), [(5.0, 0.8), (7.8403, 0.42)]);
        assert_eq!(of(&[(8.0, 1.0), (7.0, 1.001), (9.0, 0.5)], Direction::Above), [(8.0, 1.0), (9.0, 0.5)]);
    }

    #[test]
    fn one_best_plan_is_one_point_and_values_have_units() {
        let said = |tried: &[SimulatedPlan]| match &blocks(tried)[0].content {
            Content::Figure(figure) => figure.words.clone(),
            other => panic!("{other:?}"),
        };
        let one = said(&[tried(3184.0, 43.7), tried(100.0, 20.0)]);
        assert!(one.contains("tok/s") && one.matches("43.7").count() == 1, "{one}");
        let two = said(&[tried(3184.0, 20.0), tried(100.0, 43.7)]);
        assert!(two.contains("from 3184 tok/s per GPU (20 per user) to 100 tok/s per GPU"), "{two}");
    }
}
