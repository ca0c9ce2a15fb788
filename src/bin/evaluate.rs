//! Predicted against measured: error tables on a folder of measurements.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use rooflight::config::catalog::catalog;
use rooflight::evidence::cases::read_cases;
use rooflight::evidence::errors::Errors;
use rooflight::evidence::models::open_models;
use rooflight::evidence::serving::{BatchReport, Compared, Metrics, PeerRow, batch_report};

#[derive(Parser)]
#[command(about = "Error tables of the predictor on measured data")]
struct Cli {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// End-to-end cases: prefill, decode step and total of offline batches.
    Serving {
        /// Measured cases, one JSON object a line.
        #[arg(long)]
        cases: PathBuf,
        /// What other predictors say for the same ids (CSV).
        #[arg(long)]
        peers: Option<PathBuf>,
        /// Writes one JSON object a line: id, predicted, measured.
        #[arg(long)]
        per_case: Option<PathBuf>,
        /// The folder of the ONNX models and their manifest.
        #[arg(long, default_value = "models")]
        models: PathBuf,
        /// Prints JSON instead of tables.
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    let What::Serving { cases, peers, per_case, models, json } = Cli::parse().what;
    match serving(&cases, peers.as_deref(), per_case.as_deref(), &models, json) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evaluate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serving(
    cases: &Path,
    peers: Option<&Path>,
    per_case: Option<&Path>,
    models: &Path,
    json: bool,
) -> Result<(), String> {
    let cases = read_cases(&read(cases)?).map_err(|error| format!("{}: {error}", cases.display()))?;
    let peers = peers.map(read_peers).transpose()?.unwrap_or_default();
    let models = open_models(models).map_err(|error| error.to_string())?;
    let ask = |rows: &_| models.answer(rows).map_err(|error| error.to_string());
    let (report, compared) = batch_report(&cases, catalog(), &ask, &peers);
    if let Some(path) = per_case {
        write_cases(path, &compared)?;
    }
    if json {
        let report = serde_json::json!({ "batch": report });
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
    } else {
        print(&report);
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn read_peers(path: &Path) -> Result<Vec<PeerRow>, String> {
    let mut reader = csv::Reader::from_path(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rows: Result<Vec<PeerRow>, _> = reader.deserialize().collect();
    rows.map_err(|error| format!("{}: {error}", path.display()))
}

fn write_cases(path: &Path, compared: &[Compared]) -> Result<(), String> {
    let lines: Result<Vec<String>, _> = compared.iter().map(serde_json::to_string).collect();
    let text = lines.map_err(|error| error.to_string())?.join("\n") + "\n";
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn print(report: &BatchReport) {
    println!("offline batches: {} predicted, {} skipped", report.cases, report.skipped.len());
    println!("errors in %: mean / median / p90 (bias)\n");
    println!("{:24}{:>26}{:>26}{:>26}", "", "prefill", "decode step", "total");
    line("rooflight", &report.metrics);
    line("plain roofline", &report.roofline);
    for (peer, metrics) in &report.peers {
        line(peer, &metrics.peer);
        line("  rooflight, same cases", &metrics.ours);
    }
    println!();
    for (name, metrics) in report.by_gpu.iter().chain(&report.by_model) {
        line(name, metrics);
    }
    for skipped in &report.skipped {
        println!("skipped {}: {}", skipped.id, skipped.reason);
    }
}

fn line(name: &str, metrics: &Metrics) {
    let cell = |errors: Option<Errors>| {
        errors.map_or("–".into(), |e| {
            format!("{:.1} / {:.1} / {:.1} ({:+.1})", e.mean, e.median, e.p90, e.bias)
        })
    };
    let [prefill, decode, total] = [metrics.prefill, metrics.decode_step, metrics.total].map(cell);
    println!("{name:24}{prefill:>26}{decode:>26}{total:>26}");
}
