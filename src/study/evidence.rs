//! Predicted against measured: the errors of this release, and every measured case as a link.

use super::print::change;
use super::{Block, Row, Span, Study};
use crate::chart::{Axis, Chart, Curves, Line, Panel, Tone, Unit};
use crate::config::{Lengths, Load, link};
use crate::serving::accuracy::{Accuracy, Error, Group, Point};
use crate::units::{count, fixed};

pub const CHOICES: [(&str, &str); 5] = [
    ("loops", "Closed loops"),
    ("batches", "Batches and traces"),
    ("kernels", "Kernels"),
    ("cases", "Every case"),
    ("limits", "Known limits"),
];

const HEIGHT: u32 = 340;
/// Cases of a number of clients that a line of their own takes.
const FEW: u32 = 10;
/// The same model, GPU and clients, measured again, lie within this share of each other in nine of ten pairs.
const NOISE: &str = "Repeated measurements of the same run lie within 2.7 % of each other in nine of ten pairs, most within \
                     1 %: no predictor can be better than that.";

/// What is known to be wrong, or not known at all.
const LIMITS: [&str; 8] = [
    "Traffic between machines is counted by what the network is specified for: a port for each GPU, as NVIDIA's own \
     machines have it. No exchange between machines, and no replica over several, was measured.",
    "Attention of DeepSeek-V4 and MiniMax-M3 is counted, and timed as the nearest attention that was measured: nobody \
     published measurements of theirs.",
    "GPUs without measurements (A40, L20, L40, A6000, 6000 Ada, H20, H800, T4 and others) are predicted from their \
     records; their kernels are marked as extrapolated.",
    "Host times of the engines were set from closed loops of few clients, so those are not runs unseen.",
    "Of 259 measured runs something about how they were started was read off the runs themselves; the errors are \
     given with and without them.",
    "TTFT under load depends on how requests happen to meet: the closed form has clients out of step, a benchmark that \
     starts all at once keeps clients of equal lengths in step.",
    "Decode steps on the H20 are predicted 17 % too slow: its memory is fast for so few multiprocessors.",
    "Step times between tabulated points are interpolated: up to 9 % off at single points, 0.5 % on average.",
];

pub fn blocks(study: &Study) -> Vec<Block> {
    let Some(accuracy) = &study.accuracy else {
        return vec![Block::text("The report of measured cases could not be loaded.")];
    };
    match study.chosen.as_str() {
        "batches" => batches(accuracy),
        "kernels" => kernels(accuracy),
        "cases" => cases(study, accuracy),
        "limits" => limits(accuracy),
        _ => loops(accuracy),
    }
}

fn loops(accuracy: &Accuracy) -> Vec<Block> {
    let all = accuracy.closed_loops("all", "").map_or(0, |group| group.cases);
    let mut blocks = vec![Block::text(format!(
        "{} measured runs of a closed loop of clients, simulated as each was started (models of {}). Errors of the mean \
         TTFT and TPOT of a run, in per cent of what was measured: mean / median.",
        count(f64::from(all)),
        accuracy.release,
    ))];
    if let [ttft, tpot] = accuracy.factors[..] {
        blocks.push(Block::text(format!(
            "80 % of TTFTs lie within a factor of {} of the prediction, 80 % of TPOTs within {}.",
            fixed(ttft, 2),
            fixed(tpot, 2)
        )));
    }
    let points: Vec<&Point> = accuracy.points.iter().filter(|point| point.kind == "loop").collect();
    blocks.push(scatter(&points, &["TTFT", "TPOT"]));
    let kinds = [
        ("All", ["all", "told", "few clients", "roofline"].as_slice()),
        ("Beside others, on their cases", &["peer", "ours"]),
        ("By engine", &["engine"]),
        ("By GPU", &["gpu"]),
        ("By model", &["model"]),
        ("By clients", &["clients"]),
    ];
    for (name, kinds) in kinds {
        blocks.push(groups(name, &["TTFT", "TPOT"], &accuracy.loops, kinds));
    }
    blocks.push(Block::text(NOISE));
    blocks
}

fn batches(accuracy: &Accuracy) -> Vec<Block> {
    let points: Vec<&Point> = accuracy.points.iter().filter(|point| point.kind == "batch").collect();
    let metrics = ["Prefill", "Decode step", "Total"];
    let mut blocks = vec![
        Block::text("Offline batches: mean / median error in per cent of what was measured."),
        scatter(&points, &metrics),
    ];
    let kinds = [
        ("All", ["all", "roofline", "peer", "ours"].as_slice()),
        ("By GPU", &["gpu"]),
        ("By model", &["model"]),
    ];
    blocks.extend(kinds.map(|(name, kinds)| groups(name, &metrics, &accuracy.batches, kinds)));
    blocks.push(Block::heading("Traces"));
    blocks.push(Block::text("Replayed request by request: mean / median error of the means over a trace."));
    blocks.push(groups("Traces", &["TTFT", "TPOT", "Output per second"], &accuracy.traces, &["all"]));
    blocks
}

fn kernels(accuracy: &Accuracy) -> Vec<Block> {
    let row = |kernels: &crate::serving::accuracy::Kernels| {
        Row::texts([
            kernels.family.replace('_', " "),
            count(f64::from(kernels.rows)),
            error(&kernels.error),
            format!("{} %", fixed(kernels.roofline, 0)),
        ])
    };
    let rows = accuracy.kernels.iter().map(row).collect();
    vec![
        Block::text(
            "The shipped models on measured launches, sampled evenly over GPUs. Much of this was seen in training: what \
             models trained without whole shapes or whole GPUs reach on those stands in the report of the models.",
        ),
        Block::table("Kernels", &["Family", "Launches", "Mean / median error", "Plain roofline"], rows),
    ]
}

/// Every case by model and GPU, each a link.
fn cases(study: &Study, accuracy: &Accuracy) -> Vec<Block> {
    let mut groups: Vec<(String, Vec<&Point>)> = Vec::new();
    for point in &accuracy.points {
        let name = match point.kind.as_str() {
            "trace" => "Traces".to_owned(),
            kind => format!(
                "{}, {}, {}{}",
                point.model,
                point.gpu,
                point.engine,
                if kind == "batch" { ", batches" } else { "" }
            ),
        };
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => groups.push((name, vec![point])),
        }
    }
    // The group of the form's own model, GPU and engine is what its visitor asks about.
    let near = |points: &[&Point]| {
        let scenario = &study.link.scenario;
        let same = |point: &&&Point| point.gpu == scenario.gpu && point.engine == scenario.engine;
        points.iter().any(|point| same(&point))
    };
    let mut blocks = vec![Block::text(
        "Measured cases by model, GPU and engine; those of this GPU and engine first. A click puts a case on the form, \
         as near as a link comes to how it was started.",
    )];
    groups.sort_by_key(|(_, points)| !near(points));
    for (index, (name, points)) in groups.into_iter().enumerate() {
        let name = format!("{name}: {} cases", points.len());
        blocks.push(Block::fold(format!("cases-{index}"), name, vec![case_table(&points)]));
    }
    blocks
}

fn case_table(points: &[&Point]) -> Block {
    let head: &[&str] = match points.first().map(|point| point.kind.as_str()) {
        Some("batch") => &["Case", "Prefill, ms", "", "Decode step, ms", "", "Total, ms", ""],
        Some("trace") => &["Case", "TTFT, ms", "", "TPOT, ms", "", "Output, tok/s", ""],
        _ => &["Case", "TTFT, ms", "", "TPOT, ms", ""],
    };
    let row = |point: &&Point| {
        let name = asked(point);
        let mut cells = vec![Span::link(name, format!("#{}", point.link))];
        for (predicted, measured) in point.predicted.iter().zip(&point.measured) {
            cells.push(format!("{} / {}", count(*predicted), count(*measured)).into());
            cells.push(change(*predicted, *measured).unwrap_or_else(|| "–".into()).into());
        }
        Row::new(cells)
    };
    Block::table("Predicted of measured", head, points.iter().map(row).collect())
}

/// What a case asked for, in a few words.
fn asked(point: &Point) -> String {
    let (link, _) = link::decode(&point.link);
    let (tp, workload) = (link.scenario.tp, link.scenario.workload);
    let isl = match workload.isl {
        Lengths::Fixed(isl) => count(f64::from(isl)),
        Lengths::Each(all) => format!("{} lengths", all.len()),
    };
    let load = match workload.load {
        Load::Concurrency(1) => "1 client".into(),
        Load::Concurrency(clients) => format!("{clients} clients"),
        Load::Rate(rate) => format!("{} per second", count(rate)),
        Load::Batch(prompts) => format!("batch of {prompts}"),
    };
    format!("{isl} in, {} out, {load}, TP {tp}", count(f64::from(workload.osl)))
}

fn limits(accuracy: &Accuracy) -> Vec<Block> {
    let mut blocks: Vec<Block> = LIMITS.into_iter().map(Block::text).collect();
    blocks.push(Block::text(NOISE));
    if !accuracy.skipped.is_empty() {
        blocks.push(Block::heading("Measured cases left out"));
        let rows =
            accuracy.reasons().map(|(reason, cases)| Row::texts([reason, &cases.to_string()])).collect();
        blocks.push(Block::table("Left out", &["Reason", "Cases"], rows));
    }
    blocks
}

fn error(error: &Error) -> String {
    format!("{} / {} %", fixed(error.mean, 1), fixed(error.median, 1))
}

fn groups(name: &str, metrics: &[&str], all: &[Group], kinds: &[&str]) -> Block {
    let row = |group: &Group| {
        let errors = group.errors.iter().map(error);
        Row::texts([label(group), count(f64::from(group.cases))].into_iter().chain(errors))
    };
    let head: Vec<&str> = [name, "Cases"].into_iter().chain(metrics.iter().copied()).collect();
    // What was measured once or twice with so many clients says nothing of them.
    let few = |group: &Group| group.of == "clients" && group.cases < FEW;
    let shown = all.iter().filter(|group| kinds.contains(&&*group.of) && !few(group));
    Block::table(name, &head, shown.map(row).collect())
}

fn label(group: &Group) -> String {
    match group.of.as_str() {
        "all" => "Rooflight".into(),
        "told" => "of whose start nothing was inferred".into(),
        "few clients" => "with at most 4 clients".into(),
        "roofline" => "plain roofline, simulated alike".into(),
        "ours" => format!("Rooflight on the cases of {}", group.name),
        _ => group.name.clone(),
    }
}

/// Every case as a point: on the line where prediction and measurement are one.
fn scatter(points: &[&Point], metrics: &[&str]) -> Block {
    let panel = |(index, name): (usize, &&str)| {
        let pairs = points.iter().filter_map(|point| {
            let (predicted, measured) =
                (*point.predicted.get(index)? * 1e-3, *point.measured.get(index)? * 1e-3);
            (predicted > 0.0 && measured > 0.0).then_some((measured, predicted))
        });
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let least = x.iter().chain(&y).copied().fold(f64::INFINITY, f64::min);
        let most = x.iter().chain(&y).copied().fold(0.0, f64::max);
        let line = Line { tone: Tone::Ink, x: vec![least, most], y: vec![least, most], ..Line::default() };
        let dots = Line { tone: Tone::Accent, x, y, marked: true, loose: true, ..Line::default() };
        let y = Axis { name: format!("{name}, predicted"), unit: Unit::Seconds, log: true };
        Panel { y, lines: vec![dots, line], ..Panel::default() }
    };
    let panels = metrics.iter().enumerate().map(panel).collect();
    let x = Axis { name: "Measured".into(), unit: Unit::Seconds, log: true };
    let words = format!("{} cases; a point on the line is predicted exactly.", count(points.len() as f64));
    Block::figure(
        "Predicted against measured",
        HEIGHT,
        Chart::Curves(Curves { x, panels, mark: None }),
        words,
    )
}
