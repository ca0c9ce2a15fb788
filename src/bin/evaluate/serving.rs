//! End-to-end errors.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use rooflight::config::catalog::{Catalog, EngineCatalog};
use rooflight::efficiency::onnx::Models;
use rooflight::evidence::cases::{BatchCase, Cases, LoadKind, TraceCase};
use rooflight::evidence::compared::{ComparedCase, ErrorMetric, ErrorReport, PeerRow, SkippedCase, parted};
use rooflight::evidence::launch::replace_plan;
use rooflight::evidence::models::models_of;
use rooflight::evidence::served::calibrated::LeaveOut;
use rooflight::evidence::served::pools::report::{PoolReport, pool_report};
use rooflight::evidence::served::report::{ServedReports, served_reports};
use rooflight::evidence::served::response::responses;
use serde::Serialize;
use serde_json::{Value, json};

use super::tables::{print_loops, print_pools, print_report, print_skipped, title};

#[derive(Args)]
pub struct Arguments {
    /// Measured cases, as JSON Lines (repeatable).
    #[arg(long, required = true)]
    cases: Vec<PathBuf>,
    /// Predictions of other tools for the same ids (CSV).
    #[arg(long)]
    peers: Option<PathBuf>,
    /// Only every n-th served run.
    #[arg(long, default_value = "1")]
    every: NonZeroUsize,
    /// Also predicts without the measured runs of the same engine version, model or GPU (repeatable).
    #[arg(long)]
    leave: Vec<LeaveOut>,
    /// Uses this modified copy of `static/catalog/engines.json`.
    #[arg(long)]
    engines: Option<PathBuf>,
    /// Uses this plan of launches instead of `training/launch_plan.json`.
    #[arg(long)]
    launches: Option<PathBuf>,
    /// Writes JSON Lines: id, predicted, measured.
    #[arg(long)]
    per_case: Option<PathBuf>,
    /// Instead of errors, writes JSON Lines with the response of each served run to longer steps.
    #[arg(long)]
    responses: Option<PathBuf>,
    /// Step-time factors that responses start from, by case (JSON).
    #[arg(long, requires = "responses")]
    factors: Option<PathBuf>,
    /// A folder of ONNX models with their manifest, instead of the models built in.
    #[arg(long)]
    models: Option<PathBuf>,
    /// Prints JSON instead of tables.
    #[arg(long)]
    json: bool,
}

/// Results for all kinds of cases.
pub struct Results {
    pub batches: ErrorReport,
    pub served: ServedReports,
    /// Separate prefill and decode workers.
    pub pools: PoolReport,
    pub traces: ErrorReport,
    /// Lines of other kinds.
    pub skipped: Vec<SkippedCase>,
}

/// Predicts the cases of the files, with every n-th served run.
pub fn found(
    files: &[PathBuf],
    peers: Option<&Path>,
    (every, leave): (NonZeroUsize, &[LeaveOut]),
    models: &Models,
    catalog: &Catalog,
) -> Result<Results, String> {
    let cases = read_cases(files)?;
    let peers = peers.map(read_peers).transpose()?.unwrap_or_default();
    let ask = |rows: &_| models.answer(rows).map_err(|error| error.to_string());
    let served: Vec<_> = cases.served.iter().step_by(every.get()).collect();
    let pools: Vec<_> = cases.pools.iter().step_by(every.get()).collect();
    let leaves: Vec<LeaveOut> =
        std::iter::once(LeaveOut::Configuration).chain(leave.iter().copied()).collect();
    let batches = cases.batches.iter().map(|case| (&case.ran.id, case.compare(catalog, &ask)));
    let traces = cases.traces.iter().map(|case| (&case.ran.id, case.compare(catalog, &ask)));
    Ok(Results {
        batches: report(&BatchCase::METRICS, batches, &peers),
        served: served_reports(&served, catalog, &ask, &peers, &leaves)?,
        pools: pool_report(&pools, catalog, &ask, &peers)?,
        traces: report(&TraceCase::METRICS, traces, &peers),
        skipped: cases.skipped,
    })
}

fn read_cases(files: &[PathBuf]) -> Result<Cases, String> {
    let mut cases = Cases::default();
    for path in files {
        // Constants are fitted only on this file of the measured data.
        let fitted = path.file_name().is_some_and(|name| name == "cases.jsonl");
        cases.read(&read(path)?, fitted).map_err(|error| in_file(path, error))?;
    }
    let kept = [cases.served.len(), cases.pools.len(), cases.batches.len(), cases.traces.len()];
    if kept.iter().sum::<usize>() + cases.skipped.len() == 0 {
        return Err("these files have no cases".into());
    }
    Ok(cases)
}

fn report<'a>(
    metrics: &'static [ErrorMetric],
    cases: impl Iterator<Item = (&'a String, Result<ComparedCase, String>)>,
    peers: &[PeerRow],
) -> ErrorReport {
    let (compared, skipped) = parted(cases);
    ErrorReport::of(metrics, compared, skipped, peers)
}

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let Arguments {
        cases,
        peers,
        every,
        leave,
        engines,
        launches,
        per_case,
        responses,
        factors,
        models,
        json,
    } = arguments;
    if let Some(path) = launches {
        replace_plan(&read(path)?).map_err(|error| in_file(path, error))?;
    }
    let models = models_of(models.as_deref()).map_err(|error| error.to_string())?;
    let catalog = catalog_with(engines.as_deref())?;
    if let Some(path) = responses {
        return write_responses(path, factors.as_deref(), (cases, *every), &models, &catalog);
    }
    let Results { batches, served, pools, traces, skipped } =
        found(cases, peers.as_deref(), (*every, leave), &models, &catalog)?;
    let ServedReports { closed_loops: loops, others } = served;
    if let Some(path) = per_case {
        let reports = [&batches, &loops.all, &pools.all, &traces].into_iter().chain(others.values());
        write_lines(path, reports.flat_map(|report| &report.compared))?;
    }
    if *json {
        let mut report =
            json!({ "batch": batches, "closed_loop": loops, "disaggregated": pools, "trace": traces });
        for (kind, of_kind) in &others {
            report[kind.id()] = json!(of_kind);
        }
        if !skipped.is_empty() {
            report["skipped"] = json!(skipped);
        }
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
    } else {
        println!("errors in %: mean / median / p90 (bias)");
        print_report("offline batches", &batches);
        print_report(title(LoadKind::ClosedLoop), &loops.all);
        print_loops(&loops);
        print_report("Prefill and decode pools", &pools.all);
        print_pools(&pools);
        print_report("traces", &traces);
        for (kind, report) in &others {
            print_report(title(*kind), report);
            if *kind == LoadKind::SteadyState {
                println!("TPOT of saturated servers is the median time between tokens.");
            }
        }
        print_skipped(&skipped);
    }
    Ok(())
}

fn write_responses(
    path: &Path,
    factors: Option<&Path>,
    (files, every): (&[PathBuf], NonZeroUsize),
    models: &Models,
    catalog: &Catalog,
) -> Result<(), String> {
    let factors = match factors {
        Some(path) => serde_json::from_str(&read(path)?).map_err(|error| in_file(path, error))?,
        None => BTreeMap::new(),
    };
    let cases = read_cases(files)?;
    let served: Vec<_> = cases.served.iter().step_by(every.get()).collect();
    let ask = |rows: &_| models.answer(rows).map_err(|error| error.to_string());
    let (found, skipped) = responses(&served, catalog, &ask, &factors)?;
    write_lines(path, &found)?;
    print_skipped(&skipped);
    Ok(())
}

pub fn in_file(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

/// The built-in catalog, with the engines of a modified copy of `static/catalog/engines.json` if one is given.
pub fn catalog_with(engines: Option<&Path>) -> Result<Catalog, String> {
    let mut catalog = Catalog::shipped();
    let Some(path) = engines else { return Ok(catalog) };
    let mut file: Value = serde_json::from_str(&read(path)?).map_err(|error| in_file(path, error))?;
    if let Some(file) = file.as_object_mut() {
        // The sources of the figures are not needed here.
        file.remove("sources");
    }
    let engines: EngineCatalog = serde_json::from_value(file).map_err(|error| in_file(path, error))?;
    catalog.engines = engines.into();
    Ok(catalog)
}

pub fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| in_file(path, error))
}

/// Writes a line of JSON for each record.
pub fn write_lines(path: &Path, records: impl IntoIterator<Item = impl Serialize>) -> Result<(), String> {
    let lines = records.into_iter().map(|record| serde_json::to_string(&record).map(|line| line + "\n"));
    let lines = lines.collect::<Result<String, _>>().map_err(|error| error.to_string())?;
    std::fs::write(path, lines).map_err(|error| in_file(path, error))
}

fn read_peers(path: &Path) -> Result<Vec<PeerRow>, String> {
    let mut reader = csv::Reader::from_path(path).map_err(|error| in_file(path, error))?;
    let rows: Result<Vec<PeerRow>, _> = reader.deserialize().collect();
    rows.map_err(|error| in_file(path, error))
}
