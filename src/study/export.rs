//! The report as a file: JSON, CSV, Markdown, and a citation.

use serde::Serialize;

use super::{Block, Document, Row, Study, breakdown, measured, print, refused};
use crate::config::{Scenario, link};
use crate::serving::Report;
use crate::serving::measured::Deviation;
use crate::serving::report::{Basis, KernelLine, PassReport};
use crate::serving::words;
use crate::units::{Seconds, count, decimal};

pub const CHOICES: [(&str, &str); 4] =
    [("json", "JSON"), ("csv", "CSV"), ("markdown", "Markdown"), ("citation", "Citation")];

/// What the JSON holds.
#[derive(Serialize)]
struct File<'a> {
    link: String,
    scenario: serde_json::Value,
    report: &'a Report,
    /// What was measured, beside what is predicted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    measured: Vec<Deviation>,
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    let Some(report) = own.report() else { return refused(own.issues()) };
    let measured: Vec<Deviation> =
        measured::numbers(study).into_iter().map(|(_, deviation)| deviation).collect();
    let block = match study.chosen.as_str() {
        "csv" => Block::code("Every kernel of both phases", "rooflight.csv", kernels(report)),
        "markdown" => Block::code("The report", "rooflight.md", markdown(study, report)),
        "citation" => Block::code("BibTeX", "rooflight.bib", citation(study, report)),
        _ => Block::code("The report", "rooflight.json", json(&own.scenario, report, measured.clone())),
    };
    let mut blocks = vec![block];
    if study.chosen == "csv" && !measured.is_empty() {
        let name = "What was measured, beside what is predicted";
        blocks.push(Block::code(name, "rooflight-measured.csv", differences(&measured)));
    }
    blocks
}

fn json(scenario: &Scenario, report: &Report, measured: Vec<Deviation>) -> String {
    let file = File { link: link::encode(scenario), scenario: scenario.to_json(), report, measured };
    serde_json::to_string_pretty(&file).unwrap_or_default()
}

/// A line a kernel, in SI units.
fn kernels(report: &Report) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = [
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
    // Writing to memory does not fail.
    let _ = writer.write_record(head);
    for pass in &report.passes {
        for kernel in &pass.kernels {
            let _ = writer.write_record(cells(pass, kernel));
        }
    }
    text(writer)
}

/// A line a number, in seconds or per second.
fn differences(measured: &[Deviation]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_record(["name", "predicted", "measured", "median", "difference"]);
    for deviation in measured {
        let number = |value: f64| format!("{value:e}");
        let median = deviation.median.map(number).unwrap_or_default();
        let [predicted, measured, difference] =
            [deviation.predicted, deviation.measured, deviation.difference].map(number);
        let _ = writer.write_record([deviation.name, &predicted, &measured, &median, &difference]);
    }
    text(writer)
}

/// What was written.
fn text(writer: csv::Writer<Vec<u8>>) -> String {
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn cells(pass: &PassReport, kernel: &KernelLine) -> [String; 14] {
    let number = |value: f64| format!("{value:e}");
    [
        words::phase(pass.phase).into(),
        words::block(kernel.block).into(),
        kernel.name.into(),
        kernel.shape.clone(),
        decimal(kernel.count as f64),
        number(kernel.time.0),
        number(kernel.share),
        words::resource(kernel.limit).into(),
        number(kernel.flops.0),
        number(kernel.bytes.0),
        number(kernel.roofline.0),
        number(kernel.ceiling.0),
        number(kernel.efficiency),
        words::provenance(kernel.provenance).into(),
    ]
}

fn markdown(study: &Study, report: &Report) -> String {
    let mut blocks = vec![Block::heading("Configuration")];
    let scenario = study.own().scenario.to_json();
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fields = scenario.as_object().into_iter().flatten();
    let rows = fields.map(|(name, value)| Row::texts([name.replace('_', " "), text(value)])).collect();
    blocks.push(Block::table("Configuration", &["", "Value"], rows));
    blocks.push(Block::text(format!("{}{}", study.page, study.link_to(&study.own().scenario))));
    blocks.push(Block::heading("Prediction"));
    if let Some(headline) = &report.headline {
        let tpot = print::or_dash(headline.tpot.map(Seconds::print));
        let rows = [
            ["TTFT".to_owned(), headline.ttft.print().to_string()],
            ["TPOT".to_owned(), tpot],
            ["E2E".to_owned(), headline.e2e.print().to_string()],
            ["Output".to_owned(), format!("{} tok/s", count(headline.output_per_s))],
            ["Output per GPU".to_owned(), format!("{} tok/s", count(headline.output_per_s_per_gpu))],
            ["Requests".to_owned(), format!("{} per second", count(headline.requests_per_s))],
        ];
        blocks.push(Block::table("Prediction", &["", "Value"], rows.into_iter().map(Row::texts).collect()));
    }
    blocks.extend(measured::blocks(study));
    blocks.extend(refused(study.own().issues()));
    blocks.extend(breakdown::blocks(study));
    Document { blocks, ..Document::default() }.to_markdown(&study.page)
}

fn citation(study: &Study, report: &Report) -> String {
    let release = match &report.basis {
        Basis::Learned { release } => format!("models of {release}"),
        Basis::Roofline => "plain roofline".into(),
    };
    let address = format!("{}{}", study.page, study.link_to(&study.own().scenario));
    format!(
        "@misc{{rooflight,\n  title = {{Rooflight: LLM serving speed, predicted in the browser}},\n  version = {{{}, {release}}},\n  \
         url = {{{address}}}\n}}\n",
        env!("CARGO_PKG_VERSION"),
    )
}
