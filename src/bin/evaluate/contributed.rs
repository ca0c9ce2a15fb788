//! Checks contributed runs.

use std::fs::{metadata, read_dir};
use std::path::{Path, PathBuf};

use clap::Args;
use rooflight::efficiency::onnx::Models;
use rooflight::evidence::compared::ErrorMetric;
use rooflight::evidence::contributed::{Finding, Predicted, checked};
use rooflight::evidence::models::models_of;
use serde_json::{Value, json};

use super::serving::{in_file, read, write_lines};

#[derive(Args)]
pub struct Arguments {
    /// Files of runs, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Writes JSON Lines for `training/calibration/fit.py --contributed`, if there are no errors.
    #[arg(long)]
    responses: Option<PathBuf>,
    /// A folder of ONNX models with their manifest, instead of the built-in models.
    #[arg(long)]
    models: Option<PathBuf>,
    /// Prints JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Largest file in bytes, as in its JSON reader.
const LARGEST: u64 = 1 << 20;
/// Files that a folder of runs may have, too.
const OTHERS: [&str; 2] = ["schema.json", "README.md"];

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let Arguments { paths, responses, models, json } = arguments;
    let models = models_of(models.as_deref());
    let (runs, findings) = of_paths(paths, &models.map_err(|error| error.to_string())?)?;
    if *json {
        let of_runs: Vec<Value> = runs.iter().map(as_json).collect();
        let all = json!({ "runs": of_runs, "findings": findings });
        println!("{}", serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?);
    } else {
        runs.iter().for_each(print);
        findings.iter().for_each(|finding| println!("{finding}"));
        println!("runs to learn from: {}", runs.len());
    }
    refuse(&findings)?;
    if let Some(path) = responses {
        write_lines(path, runs.iter().map(Predicted::response))?;
    }
    Ok(())
}

/// The runs of these files. Fails if any finding is an error.
pub fn sound(paths: &[PathBuf], models: &Models) -> Result<Vec<Predicted>, String> {
    let (runs, findings) = of_paths(paths, models)?;
    findings.iter().filter(|finding| finding.is_error()).for_each(|finding| eprintln!("{finding}"));
    refuse(&findings)?;
    Ok(runs)
}

fn refuse(findings: &[Finding]) -> Result<(), String> {
    match findings.iter().filter(|finding| finding.is_error()).count() {
        0 => Ok(()),
        1 => Err("1 error in contributed runs".into()),
        more => Err(format!("{more} errors in contributed runs")),
    }
}

fn of_paths(paths: &[PathBuf], models: &Models) -> Result<(Vec<Predicted>, Vec<Finding>), String> {
    let mut files = Vec::new();
    for path in paths {
        for file in listed(path)? {
            let size = metadata(&file).map_err(|error| in_file(&file, error))?.len();
            if size > LARGEST {
                let (size, most) = (size / 1024, LARGEST / 1024);
                return Err(in_file(
                    &file,
                    format!("it has {size} KiB: the limit is {most} KiB, so split it"),
                ));
            }
            files.push((file.display().to_string(), read(&file)?));
        }
    }
    let ask = |rows: &_| models.answer(rows).map_err(|error| error.to_string());
    Ok(checked(&files, &ask))
}

/// A file, or those of a folder by name.
fn listed(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = read_dir(path).map_err(|error| in_file(path, error))?;
    let files: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut files = files.map_err(|error| in_file(path, error))?;
    files.retain(|file| !OTHERS.iter().any(|other| file.ends_with(other)));
    if let Some(other) = files.iter().find(|file| file.extension().is_none_or(|end| end != "json")) {
        return Err(in_file(other, "not a `.json` file of runs: remove it"));
    }
    files.sort();
    Ok(files)
}

fn as_json(run: &Predicted) -> Value {
    let figure = |(metric, [predicted, low, high, measured]): (ErrorMetric, [f64; 4])| json!({ "metric": metric, "predicted": predicted, "low": low, "high": high, "measured": measured });
    json!({
        "file": run.file,
        "run": run.number,
        "contributor": run.contributor,
        "engine_version": run.version.text(),
        "link": run.compared.link,
        "calibrated_on": run.is_known,
        "figures": run.figures().map(figure).collect::<Vec<_>>(),
    })
}

fn print(run: &Predicted) {
    let known = if run.is_known { ", which the calibration knows" } else { "" };
    println!("{}, run {} by {}{known}", run.file, run.number, run.contributor);
    println!("  {} {}: {}", run.compared.engine, run.version, run.compared.link);
    for (metric, [predicted, low, high, measured]) in run.figures() {
        let unit = if metric == ErrorMetric::Throughput { "tok/s" } else { "ms" };
        let off = 100.0 * (measured / predicted - 1.0);
        println!(
            "  {:10} predicted {predicted:.2} {unit}, 80 % band {low:.2} to {high:.2}, measured {measured:.2} ({off:+.0} %)",
            metric.name()
        );
    }
}
