//! All simulated plans as trade-offs: output per GPU against output per user, cost against latency.

use super::super::Block;
use crate::chart::{Axis, Chart, Curves, Line, Panel, Tone, Unit};
use crate::find::Tried;

const HEIGHT: u32 = 300;
/// Number of kinds of plans with their own name.
const MOST_NAMED: usize = 8;
const TONES: [Tone; 3] = [Tone::Ink, Tone::Muted, Tone::Faint];

type Place = (f64, f64);

pub fn blocks(tried: &[Tried]) -> Vec<Block> {
    let speed = |plan: &Tried| Some((plan.per_user?, plan.per_gpu));
    let cost = |plan: &Tried| Some((plan.e2e, plan.dollars_per_million_output?));
    let count = Axis::new("Output per user, tok/s", Unit::Count, false);
    let seconds = Axis::new("E2E", Unit::Seconds, false);
    [
        figure(
            "Throughput against speed",
            tried,
            speed,
            count,
            Axis::new("Output per GPU, tok/s", Unit::Count, false),
            better_above,
        ),
        figure(
            "Cost against latency",
            tried,
            cost,
            seconds,
            Axis::new("Cost per M output tokens", Unit::Dollars, false),
            better_below,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn better_above(one: Place, other: Place) -> bool {
    one.0 >= other.0 && one.1 >= other.1 && one != other
}

fn better_below(one: Place, other: Place) -> bool {
    one.0 <= other.0 && one.1 <= other.1 && one != other
}

/// `None` for a single point.
fn figure(
    name: &str,
    tried: &[Tried],
    place: impl Fn(&Tried) -> Option<Place>,
    x: Axis,
    y: Axis,
    better: fn(Place, Place) -> bool,
) -> Option<Block> {
    let mut kinds: Vec<(String, Vec<Place>)> = Vec::new();
    for (plan, at) in tried.iter().filter_map(|plan| Some((plan, place(plan)?))) {
        let kind = format!("{}, {}, {}", plan.gpu, plan.weights.id().to_uppercase(), plan.engine);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, places)) => places.push(at),
            None => kinds.push((kind, vec![at])),
        }
    }
    let all: Vec<Place> = kinds.iter().flat_map(|(_, places)| places.iter().copied()).collect();
    // Left to right, without duplicates.
    let mut best: Vec<Place> = Vec::new();
    for &at in all.iter().filter(|&&at| !all.iter().any(|&other| better(other, at))) {
        let index = best.partition_point(|other| other.0 < at.0);
        if best.get(index) != Some(&at) {
            best.insert(index, at);
        }
    }
    if all.len() < 2 {
        return None;
    }
    // Frontier points first.
    let on_it = |(_, places): &(String, Vec<Place>)| places.iter().any(|at| best.contains(at));
    let (mut kinds, behind): (Vec<_>, Vec<_>) = kinds.into_iter().partition(on_it);
    kinds.extend(behind);
    let rest = kinds.split_off(kinds.len().min(MOST_NAMED));
    let rest: Vec<Place> = rest.into_iter().flat_map(|(_, places)| places).collect();
    if !rest.is_empty() {
        kinds.push(("Others".into(), rest));
    }
    let loose = |(index, (kind, places)): (usize, &(String, Vec<Place>))| {
        let line = Line::marked(kind, TONES[index % TONES.len()], places.iter().copied());
        Line { loose: true, ..line }
    };
    let mut lines: Vec<Line> = kinds.iter().enumerate().map(loose).collect();
    lines.push(Line::marked("Frontier", Tone::Accent, best.iter().copied()));
    let end = |at: &Place| format!("{} at {}", y.unit.print(at.1), x.unit.print(at.0));
    let ends: Vec<String> = [best.first(), best.last()].into_iter().flatten().map(end).collect();
    let words = format!(
        "{} against {}, of {} plans simulated: the frontier runs from {}.",
        y.name,
        x.name,
        all.len(),
        ends.join(" to ")
    );
    let panels = vec![Panel { y, lines, ..Panel::default() }];
    Some(Block::figure(name, HEIGHT, Chart::Curves(Curves { x, panels, mark: None }), words))
}
