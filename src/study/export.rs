//! The report as files: JSON, CSV, Markdown, and a citation.

use serde::Serialize;

use super::{Block, Document, Row, Study, against_measured, breakdown, metric, refused};
use crate::chart::csv;
use crate::config::measured::given;
use crate::serving::Report;
use crate::serving::deviation::Deviation;
use crate::serving::report::{Basis, KernelLine, PassReport};
use crate::study::words;
use crate::units::decimal;

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
            words::phase(pass.phase).into(),
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
    let scenario = own.scenario.to_json();
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fields = scenario.as_object().into_iter().flatten();
    let fields = fields.map(|(name, value)| Row::texts([name.replace('_', " "), text(value)]));
    let mut blocks = vec![
        Block::heading("Configuration"),
        Block::table("Configuration", &["", "Value"], fields),
        Block::text(study.address()),
        Block::heading("Prediction"),
    ];
    if own.headline().is_some() {
        let rows = metric::ALL.iter().map(|metric| (metric.name, metric.print(own)));
        blocks.push(Block::table("Prediction", &["", "Value"], rows));
    }
    blocks.extend(against_measured::blocks(study));
    // Without passes, the breakdown says why.
    if own.report().is_some_and(|report| !report.passes.is_empty()) {
        blocks.extend(refused(own.issues()));
    }
    blocks.extend(breakdown::blocks(study));
    Document { blocks, ..Document::default() }.to_markdown(&study.page)
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
