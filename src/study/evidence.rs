//! Predicted against measured: the errors of this release, and every measured case as a link.

use super::metric::change;
use super::{Block, Row, Span, Study, basis};
use crate::chart::{Axis, Chart, ChartUnit, Curves, Line, Panel, Tone};
use crate::config::names::named;
use crate::config::{Field, Lengths, catalog, link};
use crate::study::accuracy::{
    Accuracy, CaseKind, CasePoint, Error, ErrorGroup, Grouping, Kernels, Ranked, Reliability,
};
use crate::study::words;
use crate::units::{Order, count, fixed};

pub const CHOICES: [(&str, &str); 7] = [
    ("this", "This answer"),
    ("loops", "Closed loops"),
    ("ranks", "Which is faster"),
    ("batches", "Batches and traces"),
    ("kernels", "Kernels"),
    ("cases", "All cases"),
    ("limits", "Known limits"),
];

const HEIGHT: u32 = 340;
/// Minimum number of cases for a row by clients.
const FEW: u32 = 10;

/// Known limitations of every release; figures of this release are added.
const LIMITS: [&str; 5] = [
    "Multi-node traffic is counted at the network's specified rate, one port per GPU as in NVIDIA's own nodes. No \
     inter-node communication and no multi-node replica was measured.",
    "Attention of DeepSeek-V4 and MiniMax-M3 has no published measurements: its work is counted, and timed like the \
    most similar measured attention.",
    "Host times were fitted on closed loops of up to 8 clients and on every fifth of the others, so these are not held out.",
    "TTFT under load depends on how requests line up: clients with equal lengths that start together stay in \
    lockstep longer in the simulation than behind a real server's front end.",
    "Step times of simulated runs are interpolated between tabulated points.",
];

pub fn blocks(study: &Study) -> Vec<Block> {
    if study.chosen == "this" {
        return basis::blocks(study);
    }
    let Some(accuracy) = &study.accuracy else {
        return vec![Block::text("The accuracy report could not be loaded.")];
    };
    match study.chosen.as_str() {
        "ranks" => ranks(accuracy),
        "batches" => batches(accuracy),
        "kernels" => kernels(accuracy),
        "cases" => cases(study, accuracy),
        "limits" => limits(accuracy),
        _ => loops(accuracy),
    }
}

fn loops(accuracy: &Accuracy) -> Vec<Block> {
    let metrics = ["TTFT", "TPOT"];
    let mut blocks = vec![Block::text(format!(
        "{} measured closed-loop runs, each simulated with its server's launch settings (models of {}) and \
        calibrated on other runs: none of the same model, GPU, format, engine version and layout. Errors of mean TTFT and TPOT in % of the measurement: mean / median over runs.",
        count(cases_of(accuracy, Grouping::All)),
        accuracy.release,
    ))];
    if let [ttft, tpot] = accuracy.covered[..] {
        let (ttft, tpot) = (fixed(ttft, 0), fixed(tpot, 0));
        blocks.push(Block::text(format!(
            "{ttft} % of measured TTFTs and {tpot} % of measured TPOTs lie within the 80 % bands."
        )));
    }
    blocks.push(scatter(accuracy, CaseKind::Loop, &metrics));
    let tables = [
        (
            "All",
            [
                Grouping::All,
                Grouping::Physics,
                Grouping::WithoutVersion,
                Grouping::WithoutModel,
                Grouping::WithoutGpu,
                Grouping::KnownLaunch,
                Grouping::FewClients,
                Grouping::Roofline,
            ]
            .as_slice(),
        ),
        ("Against other predictors, on the cases they cover", &[Grouping::Peer, Grouping::Ours]),
        ("By engine", &[Grouping::Engine]),
        ("By GPU", &[Grouping::Gpu]),
        ("By model", &[Grouping::Model]),
        ("By clients", &[Grouping::Clients]),
    ];
    blocks.extend(tables.map(|(name, kinds)| groups(name, &metrics, &accuracy.loops, kinds)));
    if !accuracy.outside.is_empty() {
        blocks.push(Block::text(
            "Third-party runs that no constant was fitted on. For saturated servers, TPOT is the median time between \
            tokens.",
        ));
        let metrics =
            ["TTFT", "TPOT", "Output", "J per token", "J at the measured rate", "W per GPU", "Median TTFT"];
        blocks.push(groups("Not fitted on", &metrics, &accuracy.outside, &[Grouping::Outside]));
    }
    blocks
}

/// How often the faster of two runs is identified, and whether the confidence is calibrated.
fn ranks(accuracy: &Accuracy) -> Vec<Block> {
    let percent = |value: f64| format!("{} %", fixed(value, 0));
    let row = |one: &Ranked| {
        let difference = if one.difference == "gpu" { "GPU" } else { &one.difference };
        let what = format!("{difference}, {}", one.metric);
        [what, count(f64::from(one.pairs)), percent(one.right), percent(one.physics)]
    };
    let head = ["Runs that differ in", "Pairs", "Correct", "Uncalibrated"];
    vec![
        Block::text(
            "Pairs of measured closed loops that differ in one thing, predicted with the runs of both configurations left out. How often \
             the faster of the two is named, among pairs measured more than 10 % apart:",
        ),
        Block::table("The faster of two", &head, accuracy.ranks.iter().map(row)),
        Block::text(
            "How sure the prediction was, over all pairs, and how often it was correct: points on the line are well \
            calibrated.",
        ),
        reliability(accuracy),
    ]
}

fn reliability(accuracy: &Accuracy) -> Block {
    let metrics = ["TTFT", "TPOT"];
    let panel = |name: &str| {
        let of_metric: Vec<&Reliability> =
            accuracy.reliability.iter().filter(|one| one.metric == name).collect();
        let dots = of_metric.iter().map(|one| (one.said * 1e-2, one.came_true * 1e-2));
        let dots = Line { loose: true, ..Line::marked("", Tone::Accent, dots) };
        let line = Line::new("", Tone::Ink, [(0.5, 0.5), (1.0, 1.0)]);
        let y = Axis::new(&format!("{name}, observed"), ChartUnit::Share, false);
        Panel { y, lines: vec![dots, line], ..Panel::default() }
    };
    let chart = Chart::Curves(Curves {
        x: Axis::new("Predicted", ChartUnit::Share, false),
        panels: metrics.iter().map(|name| panel(name)).collect(),
        mark: None,
    });
    let said = |one: &Reliability| {
        format!(
            "{}: {} % predicted, {} % observed, {} pairs",
            one.metric,
            fixed(one.said, 0),
            fixed(one.came_true, 0),
            one.pairs
        )
    };
    let words = accuracy.reliability.iter().map(said).collect::<Vec<_>>().join(". ");
    Block::figure("Predicted and observed", HEIGHT, chart, words)
}

fn batches(accuracy: &Accuracy) -> Vec<Block> {
    let metrics = ["Prefill", "Decode step", "Total"];
    let mut blocks = vec![
        Block::text("Offline batches: mean / median error in % of the measurement."),
        scatter(accuracy, CaseKind::Batch, &metrics),
    ];
    let tables = [
        ("All", [Grouping::All, Grouping::Roofline, Grouping::Peer, Grouping::Ours].as_slice()),
        ("By GPU", &[Grouping::Gpu]),
        ("By model", &[Grouping::Model]),
    ];
    blocks.extend(tables.map(|(name, kinds)| groups(name, &metrics, &accuracy.batches, kinds)));
    blocks.push(Block::heading("Traces"));
    blocks.push(Block::text("Replayed request by request: mean / median error of the means of a trace."));
    blocks.push(groups("Traces", &["TTFT", "TPOT", "Output"], &accuracy.traces, &[Grouping::All]));
    blocks
}

fn kernels(accuracy: &Accuracy) -> Vec<Block> {
    let row = |kernels: &Kernels| {
        let family = kernels.family.replace('_', " ");
        let roofline = format!("{} %", fixed(kernels.roofline, 0));
        [family, count(f64::from(kernels.rows)), error(Some(kernels.error)), roofline]
    };
    let head = ["Family", "Launches", "Mean / median error", "Plain roofline"];
    vec![
        Block::text(
            "The shipped models on measured launches, sampled evenly over GPUs. Much of this data was used in training; \
             models/manifest.json has the errors of models trained without whole shapes or whole GPUs.",
        ),
        Block::table("Kernels", &head, accuracy.kernels.iter().map(row)),
    ]
}

/// Every case by model, GPU and engine, as links.
fn cases(study: &Study, accuracy: &Accuracy) -> Vec<Block> {
    let mut groups: Vec<(String, Vec<&CasePoint>)> = Vec::new();
    for point in &accuracy.points {
        let (gpu, engine) = (named(Field::Gpu, &point.gpu), named(Field::Engine, &point.engine));
        let model = &point.model;
        let name = match point.kind {
            CaseKind::Trace => "Traces".to_owned(),
            CaseKind::Batch => format!("{model}, {gpu}, {engine}, batches"),
            CaseKind::Loop => format!("{model}, {gpu}, {engine}"),
        };
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => groups.push((name, vec![point])),
        }
    }
    let form = &study.link.scenario;
    groups.order_by_key(|(_, points)| {
        !points.iter().any(|point| point.gpu == form.gpu && point.engine == form.engine)
    });
    let folds = groups.into_iter().enumerate().map(|(index, (name, points))| {
        let name = match points.len() {
            1 => format!("{name}: 1 case"),
            many => format!("{name}: {many} cases"),
        };
        Block::fold(format!("cases-{index}"), name, vec![case_table(&points)])
    });
    let text = "Measured cases by model, GPU and engine; those of this GPU and engine first. Click a case to open \
        it; the link reproduces its launch as closely as it can.";
    std::iter::once(Block::text(text)).chain(folds).collect()
}

fn case_table(points: &[&CasePoint]) -> Block {
    let head: &[&str] = match points.first().map(|point| point.kind) {
        Some(CaseKind::Batch) => &["Case", "Prefill, ms", "", "Decode step, ms", "", "Total, ms", ""],
        Some(CaseKind::Trace) => &["Case", "TTFT, ms", "", "TPOT, ms", "", "Output, tok/s", ""],
        _ => &HEAD_OF_LOOPS,
    };
    Block::table("Predicted / measured", head, points.iter().map(|point| row_of(point, &describe(point))))
}

/// Header for [`row_of`] with closed loops.
const HEAD_OF_LOOPS: [&str; 5] = ["Case", "TTFT, ms", "", "TPOT, ms", ""];

/// Prediction and measurement of a case, with a link on its name.
fn row_of(point: &CasePoint, name: &str) -> Row {
    let mut cells = vec![Span::link(name, format!("#{}", point.link))];
    let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), count);
    for (&predicted, &measured) in point.predicted.iter().zip(&point.measured) {
        cells.push(format!("{} / {}", shown(predicted), shown(measured)).into());
        let differs = predicted.zip(measured).and_then(|(predicted, measured)| change(predicted, measured));
        cells.push(differs.unwrap_or_else(|| "–".into()).into());
    }
    Row::new(cells)
}

/// Lengths, load and TP of a case: `1024 in, 512 out, 8 clients, TP 2`.
fn describe(point: &CasePoint) -> String {
    let (link, _) = link::decode(&point.link);
    let (tp, workload) = (link.scenario.parallel.tp, link.scenario.workload);
    let isl = match workload.isl {
        Lengths::Fixed(isl) => count(f64::from(isl)),
        Lengths::Each(all) => format!("{} lengths", all.len()),
    };
    let load = words::load(workload.load);
    format!("{isl} in, {} out, {load}, TP {tp}", count(f64::from(workload.osl)))
}

fn limits(accuracy: &Accuracy) -> Vec<Block> {
    let mut blocks: Vec<Block> = LIMITS.map(Block::text).into();
    let inferred = cases_of(accuracy, Grouping::All) - cases_of(accuracy, Grouping::KnownLaunch);
    if inferred > 0.0 {
        blocks.push(Block::text(format!(
            "For {} of the closed-loop runs, part of the server's configuration was inferred from the run itself; errors \
             are given with and without these.",
            count(inferred),
        )));
    }
    let measured = |id: &str| accuracy.points.iter().any(|point| point.gpu == id);
    let gpus = catalog().gpus.gpus.iter().filter(|gpu| !measured(&gpu.id)).map(|gpu| &*gpu.name);
    let gpus = gpus.collect::<Vec<_>>().join(", ");
    blocks.push(Block::text(format!(
        "None of the runs under All cases was on {gpus}. Kernels on GPUs that no model was trained on are marked as extrapolated."
    )));
    if !accuracy.skipped.is_empty() {
        blocks.push(Block::heading("Measured cases left out"));
        let rows = accuracy.skipped.iter().map(|one| [one.reason.clone(), one.cases.to_string()]);
        blocks.push(Block::table("Left out", &["Reason", "Cases"], rows));
    }
    blocks
}

/// Number of closed-loop cases of a group.
fn cases_of(accuracy: &Accuracy, of: Grouping) -> f64 {
    accuracy.closed_loops(of, "").map_or(0.0, |group| f64::from(group.cases))
}

fn error(error: Option<Error>) -> String {
    let shown = |error: Error| format!("{} / {} %", fixed(error.mean, 1), fixed(error.median, 1));
    error.map_or_else(|| "–".into(), shown)
}

/// One row per group of `kinds`: cases and error by metric.
fn groups(name: &str, metrics: &[&str], all: &[ErrorGroup], kinds: &[Grouping]) -> Block {
    let row = |group: &ErrorGroup| {
        let errors = group.errors.iter().copied().map(error);
        Row::texts([label(group), count(f64::from(group.cases))].into_iter().chain(errors))
    };
    let head: Vec<&str> = [name, "Cases"].into_iter().chain(metrics.iter().copied()).collect();
    let few = |group: &ErrorGroup| group.of == Grouping::Clients && group.cases < FEW;
    let shown = all.iter().filter(|group| kinds.contains(&group.of) && !few(group));
    Block::table(name, &head, shown.map(row))
}

fn label(group: &ErrorGroup) -> String {
    match group.of {
        Grouping::All => "Rooflight".into(),
        Grouping::KnownLaunch => "Rooflight, server configuration fully known".into(),
        Grouping::FewClients => "Rooflight, at most 4 clients".into(),
        Grouping::Physics => "Uncalibrated".into(),
        Grouping::WithoutVersion => "Without runs of the same engine version".into(),
        Grouping::WithoutModel => "Without runs of the same model".into(),
        Grouping::WithoutGpu => "Without runs on the same GPU".into(),
        Grouping::Roofline => "Plain roofline, same simulation".into(),
        Grouping::Ours => format!("Rooflight on the cases of {}", group.name),
        Grouping::Engine => named(Field::Engine, &group.name).into(),
        Grouping::Gpu => named(Field::Gpu, &group.name).into(),
        Grouping::Model | Grouping::Clients | Grouping::Peer | Grouping::Outside => group.name.clone(),
    }
}

/// Every case of a kind as a point, and the line where prediction equals measurement.
fn scatter(accuracy: &Accuracy, kind: CaseKind, metrics: &[&str]) -> Block {
    let points: Vec<&CasePoint> = accuracy.points.iter().filter(|point| point.kind == kind).collect();
    let panel = |(index, name): (usize, &&str)| {
        let pairs = points.iter().filter_map(|point| {
            Some(((*point.measured.get(index)?)? * 1e-3, (*point.predicted.get(index)?)? * 1e-3))
        });
        let dots = Line { loose: true, ..Line::marked("", Tone::Measured, pairs) };
        let values = dots.x.iter().chain(&dots.y).copied();
        let ends = [values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max)];
        let line = Line::new("", Tone::Ink, ends.map(|end| (end, end)));
        let y = Axis::new(&format!("{name}, predicted"), ChartUnit::Seconds, true);
        Panel { y, lines: vec![dots, line], ..Panel::default() }
    };
    let panels = metrics.iter().enumerate().map(panel).collect();
    let x = Axis::new("Measured", ChartUnit::Seconds, true);
    let chart = Chart::Curves(Curves { x, panels, mark: None });
    let words = format!("{} cases; on the line, prediction equals measurement.", count(points.len() as f64));
    Block::figure("Predicted against measured", HEIGHT, chart, words)
}
