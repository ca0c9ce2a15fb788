//! Speed for one user against throughput of a GPU, over tensor parallelism and clients.

use super::{Block, Case, Row, Span, Study, edit, print};
use crate::chart::{Axis, Chart, Curves, Line, Panel, Tone, Unit};
use crate::config::{Load, Scenario};
use crate::units::{Dollars, Seconds, count};

const DEGREES: [u32; 4] = [1, 2, 4, 8];
const CLIENTS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const HEIGHT: u32 = 340;

/// One configuration of the picture, as it is drawn.
struct Point<'a> {
    case: &'a Case,
    /// Tokens per second that one user reads, and that a GPU writes.
    user: f64,
    gpu: f64,
}

/// One replica of every degree, under every number of clients.
pub fn cases(base: &Scenario) -> Vec<Case> {
    let case = |(tp, clients): (u32, u32)| {
        Case::edited(format!("TP {tp}"), base, |scenario| {
            scenario.tp = tp;
            // Experts stay dealt, or stay cut.
            scenario.ep = if base.ep > 1 { edit::stage(scenario) } else { 1 };
            scenario.replicas = 1;
            scenario.workload.load = Load::Concurrency(clients);
        })
    };
    DEGREES.into_iter().flat_map(|tp| CLIENTS.map(|clients| (tp, clients))).map(case).collect()
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let mut blocks = vec![Block::text(
        "One replica under 1 to 256 clients, tensor parallel over 1 to 8 GPUs: to the right each user reads faster, \
         upwards each GPU writes more. No other point of the frontier is better in both.",
    )];
    let points: Vec<Point<'_>> = study.others().iter().filter_map(point).collect();
    if points.is_empty() {
        let over = study.done == study.cases.len();
        blocks.extend(over.then(|| {
            Block::text("None of them fits, or output is one token: there is no trade-off to draw.")
        }));
        return blocks;
    }
    let best = frontier(&points);
    blocks.push(chart(study, &points, &best));
    let head =
        ["On the frontier", "Clients", "Output per user", "Output per GPU", "TTFT", "TPOT", "$ per M tokens"];
    let rows = best.iter().map(|point| row(study, point)).collect();
    blocks.push(Block::table("The frontier", &head, rows));
    blocks
}

fn point(case: &Case) -> Option<Point<'_>> {
    let headline = case.headline()?;
    Some(Point { case, user: headline.output_per_s_per_user?, gpu: headline.output_per_s_per_gpu })
}

/// From the slowest user to the fastest.
fn frontier<'a, 'b>(points: &'b [Point<'a>]) -> Vec<&'b Point<'a>> {
    let beaten = |point: &Point<'_>| {
        points.iter().any(|other| {
            other.user >= point.user
                && other.gpu >= point.gpu
                && (other.user > point.user || other.gpu > point.gpu)
        })
    };
    let mut best: Vec<&Point<'_>> = points.iter().filter(|point| !beaten(point)).collect();
    best.sort_by(|a, b| a.user.total_cmp(&b.user));
    best
}

fn chart(study: &Study, points: &[Point<'_>], best: &[&Point<'_>]) -> Block {
    let line = |name: String, tone: Tone, points: &[&Point<'_>], marked: bool| Line {
        name,
        tone,
        x: points.iter().map(|point| point.user).collect(),
        y: points.iter().map(|point| point.gpu).collect(),
        marked,
        ..Line::default()
    };
    let mut lines: Vec<Line> = DEGREES
        .into_iter()
        .map(|tp| {
            let own: Vec<&Point<'_>> = points.iter().filter(|point| point.case.scenario.tp == tp).collect();
            line(format!("TP {tp}"), Tone::Faint, &own, true)
        })
        .filter(|line| !line.x.is_empty())
        .collect();
    lines.push(line("frontier".into(), Tone::Accent, best, true));
    let own = study.own().headline().and_then(|headline| headline.output_per_s_per_user);
    let panel = Panel {
        y: Axis { name: "Output per GPU, tok/s".into(), unit: Unit::Count, log: false },
        lines,
        ..Panel::default()
    };
    let x = Axis { name: "Output per user, tok/s".into(), unit: Unit::Count, log: false };
    let words = match (best.first(), best.last()) {
        (Some(slow), Some(fast)) => format!(
            "The frontier goes from {} tok/s per GPU at {} tok/s per user ({}) to {} at {} ({}).",
            count(slow.gpu.round()),
            count(slow.user.round()),
            described(slow.case),
            count(fast.gpu.round()),
            count(fast.user.round()),
            described(fast.case),
        ),
        _ => String::new(),
    };
    let chart = Chart::Curves(Curves { x, panels: vec![panel], mark: own });
    Block::figure("Output per GPU over output per user", HEIGHT, chart, words)
}

fn described(case: &Case) -> String {
    let clients = case.scenario.workload.load.amount();
    let unit = if clients == 1.0 { "client" } else { "clients" };
    format!("{}, {} {unit}", case.name, count(clients))
}

fn row(study: &Study, point: &Point<'_>) -> Row {
    let Some(headline) = point.case.headline() else { return Row::default() };
    Row::new(vec![
        Span::link(&point.case.name, study.link_to(&point.case.scenario)),
        count(point.case.scenario.workload.load.amount()).into(),
        format!("{} tok/s", count(point.user)).into(),
        format!("{} tok/s", count(point.gpu)).into(),
        headline.ttft.print().to_string().into(),
        print::or_dash(headline.tpot.map(Seconds::print)).into(),
        print::or_dash(headline.dollars_per_million.map(Dollars::print)).into(),
    ])
}
