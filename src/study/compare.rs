//! A configuration next to up to three others: differences, results, and scaling with load.

use super::pick::Fit;
use super::presets::compared_gpus;
use super::rank::{COMPARED, CONFIDENT, WinProbability};
use super::{Block, Case, Row, Span, Study, against_measured, edit, metric, setting, to_measure, words};
use crate::chart::runs::size_of;
use crate::chart::{Axis, Chart, ChartUnit, Curves, Line, Panel, Tone};
use crate::config::inputs::{self, FormGroup};
use crate::config::link::{Link, MOST_COMPARED};
use crate::config::{Dtype, Load, ModelChoice, Scenario, catalog, check};
use crate::units::{chance, fixed, percent};

/// Clients or sequences at which each configuration is predicted for the curves; multiples of any other load.
const CLIENTS: [f64; 6] = [1.0, 4.0, 16.0, 64.0, 128.0, 256.0];
const SHARES: [f64; 6] = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0];
const HEIGHT: u32 = 260;
/// The configurations by name, the one on the form first.
const NAMES: [&str; 1 + MOST_COMPARED] = ["This", "A", "B", "C"];
const TONES: [Tone; 1 + MOST_COMPARED] = [Tone::Accent, Tone::Ink, Tone::Muted, Tone::Faint];

/// The link's configurations to compare with; by default another GPU, and another engine that can run the format.
pub fn shown(link: &Link) -> Vec<Scenario> {
    if !link.compared.is_empty() {
        return link.compared.clone();
    }
    let runs = |case: &Case| check(&case.scenario, catalog()).0.is_some();
    let firsts =
        [other_gpus(&link.scenario).next(), edit::other_engines(&link.scenario).into_iter().find(runs)];
    firsts.into_iter().flatten().map(|case| case.scenario).collect()
}

/// On GPUs other than the form's that have room for the model.
fn other_gpus(base: &Scenario) -> impl Iterator<Item = Case> {
    let gpus = compared_gpus().filter(|id| *id != base.gpu).filter_map(|id| catalog().gpu(id));
    edit::on_gpus(base, gpus).into_iter().filter(|case| Fit::of(&case.scenario).0 == Fit::Fits)
}

/// The loads of the curves, of the form's kind.
fn loads(own: Load) -> [Load; 6] {
    let amounts = match own {
        Load::Concurrency(_) | Load::Batch(_) => CLIENTS,
        _ if own.is_rate() => SHARES.map(|share| share * own.amount()),
        _ => SHARES.map(|share| (share * own.amount()).max(1.0)),
    };
    amounts.map(|amount| own.with_amount(amount))
}

/// The configurations [`shown`], then all of them over the loads of the curves.
pub fn cases(link: &Link, _: &str) -> Vec<Case> {
    let compared = shown(link);
    let all = std::iter::once(&link.scenario).chain(&compared);
    let loads = loads(link.scenario.workload.load);
    let points = all.flat_map(|scenario| {
        loads.map(|load| Case::edited("", scenario, |point| point.workload.load = load))
    });
    let points: Vec<Case> = points.collect();
    compared.into_iter().map(|scenario| Case::new("", scenario)).chain(points).collect()
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let compared = shown(&study.link).len().min(MOST_COMPARED);
    const BASE: &str =
        "Percentages are against This, the configuration on the form, and change as you edit it.";
    let mut blocks = vec![offers(study), Block::text(BASE)];
    let known = study.others();
    let columns: Vec<&Case> = std::iter::once(study.own()).chain(known.iter().take(compared)).collect();
    let head: Vec<&str> = std::iter::once("").chain(NAMES.into_iter().take(columns.len())).collect();
    let rows =
        differences(&columns).into_iter().chain(numbers(&columns)).chain(actions(study, columns.len()));
    blocks.push(Block::table("Differences and results", &head, rows));
    for (name, case) in NAMES.iter().zip(&columns).skip(1) {
        blocks.extend(verdict(name, case).map(|text| Block::text(text).called("ranked")));
        blocks.extend(settling(name, columns[0], case));
    }
    let refused = NAMES.iter().zip(&columns).filter(|(_, case)| !case.reason().is_empty());
    blocks.extend(refused.map(|(name, case)| Block::text(format!("{name}: {}", case.reason()))));
    blocks.extend(curves(study, known.get(compared..).unwrap_or_default()));
    blocks
}

/// What can be added to the comparison with one click.
fn offers(study: &Study) -> Block {
    let (base, link) = (&study.link.scenario, &study.link);
    if link.compared.len() >= MOST_COMPARED {
        return Block::text("Four configurations are compared: remove one to add another.");
    }
    let mut offered: Vec<Case> = other_gpus(base).chain(edit::other_engines(base)).collect();
    let twice = base.parallel.tp.saturating_mul(2);
    offered.push(Case::edited(format!("TP {twice}"), base, |scenario| edit::tp(scenario, twice)));
    if base.weights != Some(Dtype::Fp8) {
        offered.push(Case::edited("FP8 weights", base, |scenario| scenario.weights = Some(Dtype::Fp8)));
    }
    offered.retain(|case| !link.compared.contains(&case.scenario));
    let added = |case: Case| {
        let mut link = link.clone();
        link.compared.push(case.scenario);
        Span::link(case.name, format!("#{}", link.encode()))
    };
    let mut spans: Vec<Span> = Vec::new();
    let mut keep = "Keep a copy";
    if link.compared.is_empty() {
        spans.push("Compared with another GPU and another engine. To compare something else, ".into());
        keep = "keep a copy";
    }
    let copied = link.compared.contains(base);
    if !copied {
        spans.extend([added(Case::new(keep, base.clone())), ", then edit this one. ".into()]);
    } else {
        spans.push("A copy is kept: edit the form, and only This changes. ".into());
    }
    let begin = "Or compare with one change: ";
    let end = (!offered.is_empty()).then(|| ".".into());
    for (index, case) in offered.into_iter().enumerate() {
        spans.push(if index == 0 { begin } else { ", " }.into());
        spans.push(added(case));
    }
    spans.extend(end);
    Block::spans(spans)
}

/// Every setting in which they differ.
fn differences(columns: &[&Case]) -> Vec<Row> {
    let links: Vec<Link> = columns.iter().map(|case| Link::new(case.scenario.clone())).collect();
    let mut rows = Vec::new();
    let edited = |link: &Link| matches!(link.scenario.model, ModelChoice::Custom(_));
    let sizes = if links.iter().any(edited) { FormGroup::Architecture.inputs() } else { Vec::new() };
    for input in inputs::in_links().filter(|input| input.in_json()).chain(sizes) {
        let value = |link: &Link| setting::shown(input, link).unwrap_or_else(|| "–".into());
        let values: Vec<String> = links.iter().map(value).collect();
        if values.windows(2).any(|pair| pair[0] != pair[1]) {
            let label = Span { text: input.label.into(), link: format!("term:{}", input.help) };
            rows.push(Row::new(std::iter::once(label).chain(values.into_iter().map(Into::into)).collect()));
        }
    }
    rows
}

fn numbers(columns: &[&Case]) -> impl Iterator<Item = Row> {
    let (own, others) = (columns[0], &columns[1..]);
    let metrics = metric::ALL.iter().map(move |metric| {
        let changes = others.iter().map(|case| metric.print_change(case, own));
        row(metric.name, std::iter::once(metric.print(own)).chain(changes))
    });
    let filled = columns.iter().map(|case| {
        let memory = case.report().map(|report| &report.memory);
        let share = memory.map(|memory| memory.kv_needed.0 / memory.kv_room.0);
        share.filter(|share| share.is_finite()).map_or_else(|| "–".into(), |share| percent(share).to_string())
    });
    let limited = columns.iter().any(|case| case.meets_limits().is_some() || case.is_overloaded());
    let meets = limited.then(|| row("Meets limits", columns.iter().map(|case| case.meets())));
    metrics.chain(meets).chain([row("KV cache filled", filled)])
}

/// The metrics in which a configuration beats the form, and how sure that is. `None` without calibration.
fn verdict(name: &str, case: &Case) -> Option<String> {
    let known: Vec<&WinProbability> = COMPARED.into_iter().filter_map(|metric| case.beats(metric)).collect();
    let list = |of: &dyn Fn(&WinProbability) -> Option<String>| {
        let one = |beats: &&WinProbability| Some(format!("{} ({})", name_of(beats), of(beats)?));
        known.iter().filter_map(one).collect::<Vec<_>>().join(", ")
    };
    let sure = |with: f64| (with >= CONFIDENT).then(|| chance(with));
    let better = list(&|beats| sure(beats.with));
    let worse = list(&|beats| sure(1.0 - beats.with));
    let unclear = list(&|beats| is_open(beats).then(|| leader(name, beats.with)));
    let parts = [("better in ", better), ("worse in ", worse), ("too close to call in ", unclear)];
    let parts = parts.into_iter().filter(|(_, of)| !of.is_empty()).map(|(is, of)| is.to_owned() + &of);
    // Times and costs under overload say less than that.
    let overloaded = case.is_overloaded().then(|| "overloaded by this load".to_owned());
    let parts: Vec<String> = overloaded.into_iter().chain(parts).collect();
    if parts.is_empty() {
        return None;
    }
    Some(format!("{name} against {}: {}.", NAMES[0], parts.join("; ")))
}

/// `62 % that A is better`: which is ahead, if either is.
fn leader(name: &str, with: f64) -> String {
    let (ahead, sure) = if with < 0.5 { (NAMES[0], 1.0 - with) } else { (name, with) };
    match chance(sure) {
        even if even == chance(0.5) => even,
        sure => format!("{sure} that {ahead} is better"),
    }
}

/// The run to measure if they are too close to call, and its commands.
fn settling(name: &str, form: &Case, case: &Case) -> Option<Block> {
    let gain = |beats: &WinProbability| beats.narrowed.into_iter().fold(0.0, f64::max);
    let open = COMPARED.into_iter().filter_map(|metric| case.beats(metric)).filter(|beats| is_open(beats));
    let beats = open.max_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let [of_form, of_case] = beats.narrowed;
    let (which, measured) = if of_case >= of_form { (name, case) } else { ("this configuration", form) };
    let what = format!(
        "Measuring {which} would remove {} % of the uncertainty in {}",
        fixed(100.0 * gain(beats), 0),
        name_of(beats),
    );
    Some(to_measure(format!("settle-{name}"), what, measured.setup()?))
}

/// Either may be better.
fn is_open(beats: &WinProbability) -> bool {
    (1.0 - CONFIDENT..CONFIDENT).contains(&beats.with)
}

/// The metric's name without its unit.
fn name_of(beats: &WinProbability) -> &'static str {
    beats.metric.name.split(',').next().unwrap_or(beats.metric.name)
}

fn row(name: &str, cells: impl IntoIterator<Item = impl Into<Span>>) -> Row {
    Row::new(std::iter::once(Span::term(name)).chain(cells.into_iter().map(Into::into)).collect())
}

/// Links that swap each of the others with the form, and that remove it.
fn actions(study: &Study, columns: usize) -> [Row; 2] {
    let link = |name: &str, index: usize, change: fn(&mut Link, usize)| {
        let mut link = Link { compared: shown(&study.link), ..study.link.clone() };
        change(&mut link, index);
        Span::link(name, format!("#{}", link.encode()))
    };
    let others = 0..columns - 1;
    let swap = others.clone().map(|index| {
        link("edit", index, |link, index| {
            std::mem::swap(&mut link.scenario, &mut link.compared[index]);
        })
    });
    let remove = others.map(|index| link("remove", index, |link, index| drop(link.compared.remove(index))));
    [
        row("Edited in the form", std::iter::once("this one".into()).chain(swap)),
        row("Remove", std::iter::once(Span::default()).chain(remove)),
    ]
}

/// Curves of all configurations over the same loads, on common axes.
fn curves(study: &Study, points: &[Case]) -> Option<Block> {
    let loads = loads(study.link.scenario.workload.load);
    let at = loads.map(Load::amount);
    let panel = |metric: &metric::HeadlineMetric| {
        let cases = NAMES.iter().zip(TONES).zip(points.chunks(loads.len()));
        let lines = cases.map(|((name, tone), own)| metric.line(name, tone, at.into_iter().zip(own)));
        let all = at.into_iter().cycle().zip(points);
        metric.panel(lines.chain([against_measured::dots(study, *metric, all)]).collect())
    };
    let panels: Vec<Panel> = metric::CURVES.iter().filter_map(panel).collect();
    if panels.is_empty() {
        return None;
    }
    let words = at_most(&panels, loads[0]);
    let x = Axis::new(size_of(loads[0]), ChartUnit::Count, !loads[0].is_rate());
    Some(Block::figure("By load", HEIGHT, Chart::Curves(Curves { x, panels, mark: None }), words))
}

/// The lines of predictions: measured runs are loose points.
fn predicted(panel: &Panel) -> impl Iterator<Item = &Line> {
    panel.lines.iter().filter(|line| !line.loose)
}

/// The values at the largest load that all lines reach, of those predicted so far.
fn at_most(panels: &[Panel], own: Load) -> String {
    let ends = panels.iter().flat_map(predicted).filter_map(|line| line.x.last().copied());
    let Some(most) = ends.reduce(f64::min) else { return String::new() };
    let sentence = |panel: &Panel| {
        let value = |line: &Line| {
            let at = line.x.iter().position(|x| *x == most)?;
            Some(format!("{} {}", line.name, panel.y.unit.print(line.y[at])))
        };
        let values = predicted(panel).filter_map(value).collect::<Vec<_>>().join(", ");
        format!("{} at {}: {values}.", panel.y.name, words::load(own.with_amount(most)))
    };
    panels.iter().map(sentence).collect::<Vec<_>>().join(" ")
}
