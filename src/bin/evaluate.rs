//! Predicted against measured: error tables on a folder of measurements.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use rooflight::config::catalog::catalog;
use rooflight::evidence::cases::read_cases;
use rooflight::evidence::errors::Errors;
use rooflight::evidence::kernels::{Comparison, FamilyReport, compare, compare_collectives};
use rooflight::evidence::models::open_models;
use rooflight::evidence::sample::Selection;
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
    /// Kernel by kernel: errors of every family, by GPU, engine, format, kernel and size.
    Kernels {
        /// The folder of measured data, with the tables in its folder `kernels`.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Leaves a GPU's rows out (repeatable).
        #[arg(long, value_name = "ID")]
        exclude_gpu: Vec<String>,
        /// The folder of the ONNX models and their manifest.
        #[arg(long, default_value = "models")]
        models: PathBuf,
        /// Rows a family, about: larger tables are sampled, points whole, GPUs evenly.
        #[arg(long, default_value_t = 100_000)]
        sample: usize,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Prints JSON instead of tables.
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().what {
        What::Serving { cases, peers, per_case, models, json } => {
            serving(&cases, peers.as_deref(), per_case.as_deref(), &models, json)
        }
        What::Kernels { data, exclude_gpu, models, sample, seed, json } => {
            let selection = Selection { sample: Some(sample), seed };
            kernels(&data, &Comparison { selection, excluded: &exclude_gpu }, &models, json)
        }
    };
    match done {
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

fn kernels(data: &Path, comparison: &Comparison<'_>, models: &Path, json: bool) -> Result<(), String> {
    let models = open_models(models).map_err(|error| error.to_string())?;
    let physics = catalog().constants.physics().ok_or("the catalog of constants is incomplete")?;
    let core = (catalog(), &physics);
    let mut families: BTreeMap<&str, FamilyReport> = BTreeMap::new();
    for &family in models.manifest().families.keys() {
        let found = compare(family, data, &models, comparison, core).map_err(|error| error.to_string())?;
        families.extend(found.map(|report| (family.id(), report)));
    }
    let found = compare_collectives(data, comparison, core).map_err(|error| error.to_string())?;
    families.extend(found.map(|report| ("collectives", report)));
    if json {
        let report = serde_json::json!({ "sample": comparison.selection.sample, "families": families });
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
    } else {
        families.iter().for_each(|(name, report)| print_family(name, report));
    }
    Ok(())
}

fn print_family(name: &str, report: &FamilyReport) {
    println!("{name}: {} rows, errors in %: mean / median / p90 (bias)", report.rows);
    let FamilyReport { mean, median, p90, bias, roofline_mean, .. } = report;
    println!("  {:48}{mean:6.1} / {median:5.1} / {p90:5.1} ({bias:+.1})", "all");
    println!("  {:48}{roofline_mean:6.1}", "plain roofline");
    if let Some(covered) = report.covered80 {
        println!(
            "  {:48}{covered:6.1} % of the rows, {} beyond the training rows",
            "80 % bounds hold for", report.outside
        );
    }
    let groups = [
        &report.by_gpu,
        &report.by_engine,
        &report.by_dtype,
        &report.by_kernel,
        &report.by_size,
        &report.by_source,
    ];
    for (name, Errors { mean, median, p90, bias, cases }) in groups.into_iter().flatten() {
        println!("  {name:48}{mean:6.1} / {median:5.1} / {p90:5.1} ({bias:+.1}) {cases:>8} rows");
    }
    for (reason, rows) in &report.skipped {
        println!("  skipped {rows}: {reason}");
    }
    println!();
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
