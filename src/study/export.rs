//! The report as files: JSON, CSV, Markdown, and a citation.

use serde::Serialize;

use super::metric::{self, HeadlineMetric};
use super::{Block, Case, Document, Row, Study, against_measured, breakdown, refused, setting};
use crate::chart::csv;
use crate::config::LatencyMetric;
use crate::config::measured::given;
use crate::deploy::commands;
use crate::serving::Report;
use crate::serving::deviation::Deviation;
use crate::serving::report::{Basis, KernelLine, PassReport};
use crate::serving::run::Run;
use crate::study::words;
use crate::units::{Dollars, Seconds, chance, counted, decimal};

pub const CHOICES: [(&str, &str); 5] = [
    ("json", "JSON"),
    ("csv", "CSV"),
    ("markdown", "Markdown"),
    ("citation", "Citation"),
    ("runs", "Your runs"),
];

/// The content of the JSON file.
#[derive(Serialize)]
struct File<'a> {
    link: String,
    scenario: serde_json::Value,
    report: &'a Report,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    measured: Vec<Deviation>,
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    if study.chosen == "runs" {
        return runs(study);
    }
    let Some(report) = own.report() else { return refused(own.issues()) };
    let measured: Vec<Deviation> =
        against_measured::numbers(study).into_iter().map(|(_, both)| both).collect();
    match study.chosen.as_str() {
        "csv" => {
            let mut blocks = vec![Block::code("Kernels of both phases", "rooflight.csv", kernels(report))];
            if !measured.is_empty() {
                let name = "Measured and predicted";
                blocks.push(Block::code(name, "rooflight-measured.csv", differences(&measured)));
            }
            blocks
        }
        "markdown" => vec![Block::code("Report", "rooflight.md", markdown(study))],
        "citation" => vec![Block::code("BibTeX", "rooflight.bib", citation(study, report))],
        _ => {
            let scenario = &own.scenario;
            let file = File { link: study.predicted(), scenario: scenario.to_json(), report, measured };
            let text = serde_json::to_string_pretty(&file).unwrap_or_default();
            vec![Block::code("Report", "rooflight.json", text)]
        }
    }
}

/// The visitor's measured runs, in a form the page can read again.
fn runs(study: &Study) -> Vec<Block> {
    let runs = &study.link.runs;
    if runs.is_empty() {
        let text =
            "No run of yours is in use: paste or drop benchmark results under Load, Your measured runs.";
        return vec![Block::text(text)];
    }
    vec![
        Block::text("Open this file under Load, Your measured runs, to calibrate on the same runs again."),
        Block::code("Your runs", "rooflight-runs.jsonl", given::print(runs)),
    ]
}

const KERNEL_COLUMNS: [&str; 14] = [
    "phase",
    "part",
    "kernel",
    "shape",
    "launches",
    "time_s",
    "share",
    "bound_by",
    "flop",
    "bytes",
    "roofline_s",
    "ceiling_s",
    "efficiency",
    "time_from",
];

/// One line per kernel, in SI units.
fn kernels(report: &Report) -> String {
    let cells = |pass: &PassReport, kernel: &KernelLine| -> Vec<String> {
        [
            pass.phase.name().into(),
            words::block(kernel.block).into(),
            kernel.name.into(),
            kernel.shape.clone(),
            decimal(kernel.count as f64),
            number(kernel.time.0),
            number(kernel.share),
            words::bound(kernel).into(),
            number(kernel.flops.0),
            number(kernel.bytes.0),
            number(kernel.roofline.0),
            number(kernel.ceiling.0),
            number(kernel.efficiency),
            words::provenance(kernel.provenance).into(),
        ]
        .into()
    };
    let lines = report.passes.iter().flat_map(|pass| pass.kernels.iter().map(move |kernel| (pass, kernel)));
    csv(KERNEL_COLUMNS, lines.map(|(pass, kernel)| cells(pass, kernel)))
}

/// One line per number, in seconds or per second.
fn differences(measured: &[Deviation]) -> String {
    let cells = |both: &Deviation| {
        let median = both.median.map(number).unwrap_or_default();
        vec![both.name.into(), number(both.predicted), number(both.measured), median, number(both.difference)]
    };
    csv(["name", "predicted", "measured", "median", "difference"], measured.iter().map(cells))
}

fn number(value: f64) -> String {
    format!("{value:e}")
}

fn markdown(study: &Study) -> String {
    let own = study.own();
    let settings = setting::all(&study.link).map(|(name, value)| [name.to_owned(), value]);
    let mut blocks = vec![
        Block::heading("Configuration"),
        Block::table("Configuration", &["", "Value"], settings.map(Row::texts)),
        Block::text(study.address()),
        Block::heading("Prediction"),
    ];
    if let (Some(report), true) = (own.report(), own.headline().is_some()) {
        blocks.extend(answer(own, report));
    }
    blocks.extend(against_measured::blocks(study));
    // Without passes, the breakdown says why.
    if own.report().is_some_and(|report| !report.passes.is_empty()) {
        blocks.extend(refused(own.issues()));
    }
    blocks.extend(breakdown::blocks(study));
    if let Some(setup) = own.setup() {
        blocks.push(Block::heading("Commands"));
        blocks.push(Block::code("Start it and measure its load", "", commands(setup)));
    }
    Document { blocks, ..Document::default() }.to_markdown(&study.page)
}

/// Whether the limits are met, the times with their percentiles, the rates and costs, and what predicted them.
fn answer(own: &Case, report: &Report) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rows: Vec<[String; 2]> = Vec::new();
    if own.is_overloaded() || own.meets_limits().is_some() {
        let meets = if own.meets_limits() == Some(true) { "Yes" } else { "No" };
        rows.push(["Meets limits".into(), if own.is_overloaded() { own.meets() } else { meets.into() }]);
        let chance = own.chance_within_limits().map(chance);
        rows.extend(chance.map(|chance| ["Chance of meeting the limits".into(), chance]));
    }
    let is_in_times = |metric: &HeadlineMetric| {
        report.run.is_some() && LatencyMetric::ALL.iter().any(|time| time.name() == metric.name)
    };
    let others = metric::ALL.iter().filter(|metric| !is_in_times(metric));
    rows.extend(others.map(|metric| [metric.name.into(), metric.print(own)]));
    if let Some((setup, hourly)) = own.setup().and_then(|setup| Some((setup, setup.dollars_per_hour()?))) {
        let (hourly, gpus) = (Dollars(hourly), counted(setup.gpus(), "GPU"));
        let cost = format!("{} per hour, {} a month", hourly.print(), hourly.monthly().print());
        rows.push(["Cost of all GPUs".into(), format!("{cost} ({gpus})")]);
    }
    blocks.extend(report.run.as_ref().map(|run| times(run, report)));
    blocks.push(Block::table("Prediction", &["", "Value"], rows));
    let release = match &report.basis {
        Basis::Learned { release } => format!("the models of {release}"),
        Basis::Roofline => "the roofline alone, without learned models".into(),
    };
    blocks.push(Block::text(format!("Predicted by Rooflight {} with {release}.", env!("CARGO_PKG_VERSION"))));
    blocks
}

/// A table of the times of a run.
fn times(run: &Run, report: &Report) -> Block {
    let bands = report.calibrated.as_ref().map(|calibrated| &calibrated.bands);
    let print = |value: f64| Seconds(value).print();
    let row = |time: LatencyMetric| {
        let stats = run.metrics.latency(time)?;
        let band = bands.and_then(|bands| bands.latency(time));
        let band = band.map(|band| print(band.mean.low).to(&print(band.mean.high)));
        let [mean, p50, p90, p99] =
            [stats.mean, stats.p50, stats.p90, stats.p99].map(|value| print(value).to_string());
        Some(Row::texts([time.name().into(), mean, band.unwrap_or_else(|| "–".into()), p50, p90, p99]))
    };
    let head = ["", "Mean", "80 % band of the mean", "P50", "P90", "P99"];
    Block::table("Times", &head, LatencyMetric::ALL.into_iter().filter_map(row))
}

fn citation(study: &Study, report: &Report) -> String {
    let release = match &report.basis {
        Basis::Learned { release } => format!("models of {release}"),
        Basis::Roofline => "plain roofline".into(),
    };
    format!(
        "@misc{{rooflight,\n  title = {{Rooflight: LLM serving performance, predicted in the browser}},\n  version = {{{}, {release}}},\n  \
         url = {{{}}}\n}}\n",
        env!("CARGO_PKG_VERSION"),
        study.address(),
    )
}
