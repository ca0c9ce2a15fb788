//! A configuration beside up to three others: what differs, what comes of it, and how they scale.

use super::{Block, Case, Row, Span, Study, edit};
use crate::chart::{Axis, Chart, Curves, Line, Panel, Tone, Unit};
use crate::config::catalog::catalog;
use crate::config::inputs;
use crate::config::link::{Link, MOST_COMPARED};
use crate::config::{Dtype, Load, Scenario};
use crate::serving::report::Headline;
use crate::units::{Seconds, count, percent};

/// Clients at which each configuration is predicted for the shared axes.
const CLIENTS: [u32; 6] = [1, 4, 16, 64, 128, 256];
const HEIGHT: u32 = 260;
/// GPUs one click away, where they are not on the form already.
const SUGGESTED: [&str; 5] = ["h100-sxm", "h200-sxm", "b200", "a100-sxm-80gb", "l40s"];

/// The configurations of the link, then all of them over [`CLIENTS`].
pub fn cases(link: &Link) -> Vec<Case> {
    if link.compared.is_empty() {
        return Vec::new();
    }
    let named = |(index, scenario): (usize, &Scenario)| Case::new(name(index + 1), scenario.clone());
    let mut cases: Vec<Case> = link.compared.iter().enumerate().map(named).collect();
    for scenario in std::iter::once(&link.scenario).chain(&link.compared) {
        for clients in CLIENTS {
            cases.push(Case::edited("", scenario, |point| point.workload.load = Load::Concurrency(clients)));
        }
    }
    cases
}

/// `This`, `A`, `B`, `C`.
fn name(index: usize) -> &'static str {
    ["This", "A", "B", "C"].get(index).copied().unwrap_or("…")
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let compared = study.link.compared.len();
    let mut blocks = vec![offers(study)];
    if compared == 0 {
        return blocks;
    }
    let known = study.others();
    let columns: Vec<&Case> = std::iter::once(study.own()).chain(known.iter().take(compared)).collect();
    let rows =
        differences(&columns).into_iter().chain(numbers(&columns)).chain(actions(study, columns.len()));
    blocks.push(Block::table("What differs, and what comes of it", &head(&columns), rows.collect()));
    for case in &columns {
        if !case.reason().is_empty() {
            let which = if case.name.is_empty() { name(0) } else { &case.name };
            blocks.push(Block::text(format!("{which}: {}", case.reason())));
        }
    }
    blocks.extend(curves(study, known.get(compared..).unwrap_or_default()));
    blocks
}

/// What may be set beside the form, one click each.
fn offers(study: &Study) -> Block {
    let (base, link) = (&study.link.scenario, &study.link);
    if link.compared.len() >= MOST_COMPARED {
        return Block::text("Four configurations stand beside each other: remove one to add another.");
    }
    let beside = |scenario: Scenario| {
        let mut compared = link.compared.clone();
        compared.push(scenario);
        format!("#{}", Link { compared, ..link.clone() }.encode())
    };
    let mut offered: Vec<(String, Scenario)> =
        vec![("this very configuration, to change the form beside it".into(), base.clone())];
    let mut offer = |name: String, edit: &dyn Fn(&mut Scenario)| {
        let mut scenario = base.clone();
        edit(&mut scenario);
        offered.push((name, scenario));
    };
    for id in SUGGESTED.into_iter().filter(|id| *id != base.gpu) {
        if let Some(gpu) = catalog().gpu(id) {
            offer(gpu.name.clone(), &|scenario| edit::gpu(scenario, gpu));
        }
    }
    for engine in catalog().engines.engines.iter().filter(|engine| engine.id != base.engine) {
        offer(engine.name.clone(), &|scenario| edit::engine(scenario, engine));
    }
    let twice = base.tp.saturating_mul(2);
    offer(format!("TP {twice}"), &|scenario| edit::tp(scenario, twice));
    if base.weights != Some(Dtype::Fp8) {
        offer("FP8 weights".into(), &|scenario| scenario.weights = Some(Dtype::Fp8));
    }
    let mut spans: Vec<Span> = vec!["Set beside it: ".into()];
    let fresh = |scenario: &Scenario| !link.compared.contains(scenario);
    for (index, (name, scenario)) in offered.into_iter().filter(|(_, scenario)| fresh(scenario)).enumerate() {
        if index > 0 {
            spans.push(", ".into());
        }
        spans.push(Span::link(name, beside(scenario)));
    }
    spans.push(".".into());
    Block::spans(spans)
}

/// Every setting that is not the same in all.
fn differences(columns: &[&Case]) -> Vec<Row> {
    let links: Vec<Link> = columns.iter().map(|case| Link::new(case.scenario.clone())).collect();
    let mut rows = Vec::new();
    for input in inputs::in_links().filter(|input| input.in_json()) {
        let values: Vec<String> =
            links.iter().map(|link| input.get(link).unwrap_or_else(|| "–".into())).collect();
        if values.windows(2).any(|pair| pair[0] != pair[1]) {
            rows.push(Row::texts(std::iter::once(input.field.id().replace('_', " ")).chain(values)));
        }
    }
    rows
}

/// What to do with each.
fn actions(study: &Study, columns: usize) -> [Row; 2] {
    [open, remove].map(|action: fn(&Study, usize) -> Span| {
        Row::new(std::iter::once("".into()).chain((0..columns).map(|index| action(study, index))).collect())
    })
}

fn head(columns: &[&Case]) -> Vec<&'static str> {
    std::iter::once("").chain((0..columns.len()).map(name)).collect()
}

/// Puts column `index` on the form, and what was there in its place.
fn open(study: &Study, index: usize) -> Span {
    let Some(at) = index.checked_sub(1) else { return "on the form".into() };
    let mut link = study.link.clone();
    match link.compared.get_mut(at) {
        Some(other) => std::mem::swap(&mut link.scenario, other),
        None => return Span::default(),
    }
    Span::link("to the form", format!("#{}", link.encode()))
}

fn remove(study: &Study, index: usize) -> Span {
    let Some(at) = index.checked_sub(1).filter(|&at| at < study.link.compared.len()) else {
        return Span::default();
    };
    let mut link = study.link.clone();
    link.compared.remove(at);
    Span::link("remove", format!("#{}", link.encode()))
}

type Number = (&'static str, fn(&Headline) -> Option<String>);

const NUMBERS: [Number; 8] = [
    ("TTFT", |headline| Some(headline.ttft.print().to_string())),
    ("TPOT", |headline| headline.tpot.map(|tpot| tpot.print().to_string())),
    ("E2E", |headline| Some(headline.e2e.print().to_string())),
    ("Output, tok/s", |headline| Some(count(headline.output_per_s))),
    ("Output per GPU, tok/s", |headline| Some(count(headline.output_per_s_per_gpu))),
    ("Output per user, tok/s", |headline| headline.output_per_s_per_user.map(count)),
    ("Requests per second", |headline| Some(count(headline.requests_per_s))),
    ("Per million output tokens", |headline| {
        headline.dollars_per_million.map(|cost| cost.print().to_string())
    }),
];

fn numbers(columns: &[&Case]) -> Vec<Row> {
    let dash = || "–".to_owned();
    let mut rows: Vec<Row> = NUMBERS
        .iter()
        .map(|(name, read)| {
            let value = |case: &&Case| case.headline().and_then(read).unwrap_or_else(dash);
            Row::texts(std::iter::once((*name).to_owned()).chain(columns.iter().map(value)))
        })
        .collect();
    let filled = |case: &&Case| {
        let memory = case.report().map(|report| &report.memory);
        let share =
            memory.map(|memory| memory.kv_needed.0 / memory.kv_room.0).filter(|share| share.is_finite());
        share.map_or_else(dash, |share| percent(share).to_string())
    };
    rows.push(Row::texts(std::iter::once("KV cache filled".to_owned()).chain(columns.iter().map(filled))));
    rows
}

/// All of them over the same clients, on the same axes.
fn curves(study: &Study, points: &[Case]) -> Option<Block> {
    let configurations = 1 + study.link.compared.len();
    let tones = [Tone::Accent, Tone::Ink, Tone::Muted, Tone::Faint];
    let panel = |label: &str, unit: Unit, log: bool, of: fn(&Headline) -> Option<f64>| {
        let line = |index: usize| {
            let own = points.iter().skip(index * CLIENTS.len()).take(CLIENTS.len());
            let known = CLIENTS
                .into_iter()
                .zip(own)
                .filter_map(|(clients, case)| Some((f64::from(clients), of(case.headline()?)?)));
            let (x, y) = known.unzip();
            Line {
                name: name(index).into(),
                tone: tones[index.min(3)],
                x,
                y,
                marked: true,
                ..Line::default()
            }
        };
        let lines = (0..configurations).map(line).filter(|line| !line.x.is_empty()).collect();
        Panel { y: Axis { name: label.into(), unit, log }, lines, ..Panel::default() }
    };
    let panels = vec![
        panel("TTFT", Unit::Seconds, true, |headline| Some(headline.ttft.0)),
        panel("TPOT", Unit::Seconds, true, |headline| headline.tpot.map(|tpot| tpot.0)),
        panel("Output per GPU, tok/s", Unit::Count, false, |headline| Some(headline.output_per_s_per_gpu)),
    ];
    let panels: Vec<Panel> = panels.into_iter().filter(|panel| !panel.lines.is_empty()).collect();
    if panels.is_empty() {
        return None;
    }
    let words = words(&panels);
    let x = Axis { name: "Clients".into(), unit: Unit::Count, log: true };
    Some(Block::figure("Over clients", HEIGHT, Chart::Curves(Curves { x, panels, mark: None }), words))
}

fn words(panels: &[Panel]) -> String {
    let last = |line: &Line| line.y.last().copied().unwrap_or_default();
    let say = |panel: &Panel| {
        let each = panel.lines.iter().map(|line| {
            let value = match panel.y.unit {
                Unit::Seconds => Seconds(last(line)).print().to_string(),
                Unit::Count | Unit::Share => count(last(line).round()),
            };
            format!("{} {value}", line.name)
        });
        format!("{} at the most clients: {}.", panel.y.name, each.collect::<Vec<_>>().join(", "))
    };
    panels.iter().map(say).collect::<Vec<_>>().join(" ")
}
