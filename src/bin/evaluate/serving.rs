//! End-to-end errors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use rooflight::config::catalog::{Catalog, EngineCatalog, constants};
use rooflight::efficiency::onnx::Models;
use rooflight::evidence::cases::{BatchCase, Cases, Kind, TraceCase};
use rooflight::evidence::compared::{Compared, Metric, Metrics, PeerRow, Report, Skipped};
use rooflight::evidence::coverage::{CalibratedReport, Covered};
use rooflight::evidence::errors::Errors;
use rooflight::evidence::models::{open_models, shipped_models};
use rooflight::evidence::served::calibrated::Leave;
use rooflight::evidence::served::pools::report::{PoolReport, pool_report};
use rooflight::evidence::served::ranks::{Named, Ranks, Reliability};
use rooflight::evidence::served::report::{LoopReport, ServedReports, served_reports};
use rooflight::evidence::served::response::responses;
use serde_json::{Value, json};

#[derive(Args)]
pub struct Arguments {
    /// Measured cases, as JSON Lines (repeatable).
    #[arg(long, required = true)]
    cases: Vec<PathBuf>,
    /// Predictions of other tools for the same ids (CSV).
    #[arg(long)]
    peers: Option<PathBuf>,
    /// Only every n-th served run.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Also predicts without the measured runs of the same engine version, model or GPU (repeatable).
    #[arg(long)]
    leave: Vec<Leave>,
    /// Uses this modified copy of `static/catalog/engines.json`.
    #[arg(long)]
    engines: Option<PathBuf>,
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
    pub batches: Report,
    pub served: ServedReports,
    /// Separate prefill and decode workers.
    pub pools: PoolReport,
    pub traces: Report,
    /// Lines of other kinds.
    pub skipped: Vec<Skipped>,
}

/// Predicts the cases of the files, with every n-th served run.
pub fn found(
    files: &[PathBuf],
    peers: Option<&Path>,
    (every, leave): (usize, &[Leave]),
    models: &Models,
    catalog: &Catalog,
) -> Result<Results, String> {
    let cases = read_cases(files)?;
    let peers = peers.map(read_peers).transpose()?.unwrap_or_default();
    let ask = |rows: &_| models.answer(rows).map_err(|error| error.to_string());
    let physics = constants().physics().ok_or("the catalog of constants is incomplete")?;
    let core = (catalog, &physics);
    let served: Vec<_> = cases.served().step_by(every.max(1)).collect();
    let pools: Vec<_> = cases.pools().step_by(every.max(1)).collect();
    let leaves: Vec<Leave> = std::iter::once(Leave::Configuration).chain(leave.iter().copied()).collect();
    let batches = cases.batches().map(|case| (&case.id, case.compare(catalog, &ask)));
    let traces = cases.traces().map(|case| (&case.id, case.compare(core, &ask)));
    Ok(Results {
        batches: report(&BatchCase::METRICS, batches, &peers),
        served: served_reports(&served, core, &ask, &peers, &leaves)?,
        pools: pool_report(&pools, core, &ask, &peers)?,
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
    Ok(cases)
}

fn report<'a>(
    metrics: &'static [Metric],
    cases: impl Iterator<Item = (&'a String, Result<Compared, String>)>,
    peers: &[PeerRow],
) -> Report {
    let (mut compared, mut skipped) = (Vec::new(), Vec::new());
    for (id, case) in cases {
        match case {
            Ok(case) => compared.push(case),
            Err(reason) => skipped.push(Skipped { id: id.clone(), reason }),
        }
    }
    Report::of(metrics, compared, skipped, peers)
}

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let Arguments { cases, peers, every, leave, engines, per_case, responses, factors, models, json } =
        arguments;
    let models =
        models.as_deref().map_or_else(shipped_models, open_models).map_err(|error| error.to_string())?;
    let mut catalog = Catalog::shipped()?;
    if let Some(path) = engines {
        catalog.engines = engines_of(path)?;
    }
    if let Some(path) = responses {
        return write_responses(path, factors.as_deref(), (cases, *every), &models, &catalog);
    }
    let Results { batches, served, pools, traces, skipped } =
        found(cases, peers.as_deref(), (*every, leave), &models, &catalog)?;
    let ServedReports { closed_loops: loops, others } = served;
    if let Some(path) = per_case {
        let mut lines = String::new();
        let reports = [&batches, &loops.all, &pools.all, &traces].into_iter().chain(others.values());
        for case in reports.flat_map(|report| &report.compared) {
            lines += &serde_json::to_string(case).map_err(|error| error.to_string())?;
            lines.push('\n');
        }
        std::fs::write(path, lines).map_err(|error| in_file(path, error))?;
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
        print_report(title(Kind::ClosedLoop), &loops.all);
        print_loops(&loops);
        print_report("Prefill and decode pools", &pools.all);
        print_pools(&pools);
        print_report("traces", &traces);
        for (kind, report) in &others {
            print_report(title(*kind), report);
            if *kind == Kind::SteadyState {
                println!("TPOT of servers kept full is the median time between tokens.");
            }
        }
        print_skipped(&skipped);
    }
    Ok(())
}

fn write_responses(
    path: &Path,
    factors: Option<&Path>,
    (files, every): (&[PathBuf], usize),
    models: &Models,
    catalog: &Catalog,
) -> Result<(), String> {
    let factors = match factors {
        Some(path) => serde_json::from_str(&read(path)?).map_err(|error| in_file(path, error))?,
        None => BTreeMap::new(),
    };
    let cases = read_cases(files)?;
    let served: Vec<_> = cases.served().step_by(every.max(1)).collect();
    let physics = constants().physics().ok_or("the catalog of constants is incomplete")?;
    let ask = |rows: &_| models.answer(rows).map_err(|error| error.to_string());
    let (found, skipped) = responses(&served, (catalog, &physics), &ask, &factors)?;
    let lines: Result<Vec<String>, _> = found.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| error.to_string())?.join("\n") + "\n";
    std::fs::write(path, lines).map_err(|error| in_file(path, error))?;
    print_skipped(&skipped);
    Ok(())
}

/// A kind's name in tables.
pub fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::ClosedLoop => "Closed loops",
        Kind::Burst => "Bursts",
        Kind::Offline => "Offline queues",
        Kind::OpenLoop => "Open loops",
        Kind::SteadyState => "Servers kept full",
    }
}

pub fn in_file(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

/// The engines of a changed copy of `static/catalog/engines.json`, whose sources nothing here asks for.
pub fn engines_of(path: &Path) -> Result<EngineCatalog, String> {
    let mut file: Value = serde_json::from_str(&read(path)?).map_err(|error| in_file(path, error))?;
    if let Some(file) = file.as_object_mut() {
        file.remove("sources");
    }
    serde_json::from_value(file).map_err(|error| in_file(path, error))
}

pub fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| in_file(path, error))
}

fn read_peers(path: &Path) -> Result<Vec<PeerRow>, String> {
    let mut reader = csv::Reader::from_path(path).map_err(|error| in_file(path, error))?;
    let rows: Result<Vec<PeerRow>, _> = reader.deserialize().collect();
    rows.map_err(|error| in_file(path, error))
}

fn print_report(kind: &str, report: &Report) {
    println!("\n{kind}: {} predicted, {} skipped", report.cases, report.skipped.len());
    print!("{:36}", "");
    report.metrics_of.iter().for_each(|metric| print!("{:>30}", metric.name()));
    println!();
    line("rooflight", &report.metrics);
    line("plain roofline", &report.roofline);
    if let Some(calibrated) = &report.calibrated {
        line("the physics alone", &report.physics);
        print_coverage(calibrated);
        print_coverage_by(calibrated);
    }
    for (name, without) in &report.left_out {
        line(name, &without.metrics);
        print_coverage(without);
    }
    for (peer, metrics) in &report.peers {
        line(peer, &metrics.peer);
        line("  rooflight, same cases", &metrics.ours);
    }
    line("in the fits", &report.inside_fits);
    line("outside of any fit", &report.outside_fits);
    [&report.by_source, &report.by_engine, &report.by_gpu, &report.by_model].into_iter().for_each(group);
    print_skipped(&report.skipped);
}

fn print_coverage(report: &CalibratedReport) {
    let bands = [(50, &report.coverage50), (80, &report.coverage80), (95, &report.coverage95)];
    for (metric, covered) in
        bands.iter().flat_map(|(share, of)| of.iter().map(move |one| ((share, one.0), one.1)))
    {
        let ((share, metric), Covered { covered, cases }) = (metric, covered);
        println!("  the {share} % band of {} holds for {covered:.0} % of {cases}", metric.name());
    }
}

/// Coverage of the 80 % bands, by group.
fn print_coverage_by(report: &CalibratedReport) {
    let groups = [&report.coverage80_by_engine, &report.coverage80_by_load, &report.coverage80_by_model];
    for (name, of) in groups.into_iter().flatten() {
        let one = |(metric, Covered { covered, cases }): (&Metric, &Covered)| {
            format!("{} {covered:.0} % of {cases}", metric.name())
        };
        println!("  the 80 % bands of {name}: {}", of.iter().map(one).collect::<Vec<_>>().join(", "));
    }
}

fn print_loops(report: &LoopReport) {
    println!();
    line("up to 4 clients", &report.few_clients);
    line(&format!("without {} contradictions", report.contradictions.len()), &report.without_contradictions);
    line("with a fully known launch", &report.without_inferred);
    for (what, cases) in &report.inferred {
        println!("  inferred from the runs, of {cases}: {what}");
    }
    println!();
    report.by_concurrency.iter().for_each(|(clients, metrics)| line(&format!("{clients} clients"), metrics));
    println!("\nup to 4 clients");
    group(&report.few_clients_by_engine);
    group(&report.few_clients_by_model_and_engine);
    report.ranks.iter().for_each(print_ranks);
    println!();
    for one in &report.contradictions {
        println!("contradicts {}: {}", one.id, one.reasons.join("; "));
    }
}

fn print_ranks(ranks: &Ranks) {
    println!(
        "\nthe faster of two runs that differ in one thing, where they are over 10 % apart: named correctly, by the \
        physics alone"
    );
    for (difference, by) in &ranks.by_difference {
        for (metric, Named { pairs, apart, right, physics }) in by {
            let name = format!("{difference}, {}", metric.name());
            println!("{name:36}{right:>8.1} %{physics:>8.1} %{apart:>8} of {pairs} pairs");
        }
    }
    println!("\nconfidence in the faster one: predicted, observed");
    for (metric, of) in &ranks.reliability {
        for Reliability { said, came_true, pairs } in of {
            println!("{:36}{said:>8.0} %{came_true:>8.0} %{pairs:>8} pairs", metric.name());
        }
    }
}

fn print_pools(report: &PoolReport) {
    [&report.by_drafting, &report.by_recipe, &report.by_ratio].into_iter().for_each(group);
    println!();
    report.by_prompt.iter().for_each(|(prompt, metrics)| line(&format!("prompts of {prompt}"), metrics));
    println!();
    report
        .by_clients
        .iter()
        .for_each(|(clients, metrics)| line(&format!("up to {clients} clients"), metrics));
}

fn group(groups: &BTreeMap<String, Metrics>) {
    println!();
    groups.iter().for_each(|(name, metrics)| line(name, metrics));
}

fn line(name: &str, metrics: &Metrics) {
    print!("{name:36}");
    metrics.values().for_each(|errors| print!("{:>30}", cell(*errors)));
    let cases = metrics.values().flatten().map(|errors| errors.cases).max().unwrap_or(0);
    println!(" {cases:>6} cases");
}

/// By reason, the most frequent first, with the cases.
fn print_skipped(skipped: &[Skipped]) {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    skipped.iter().for_each(|one| reasons.entry(&one.reason).or_default().push(&one.id));
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
    for (reason, ids) in reasons {
        println!("skipped {}: {reason} ({})", ids.len(), ids.join(", "));
    }
}

/// Mean, median, 90th percentile and bias.
pub fn cell(errors: Option<Errors>) -> String {
    errors
        .map_or("–".into(), |e| format!("{:.1} / {:.1} / {:.1} ({:+.1})", e.mean, e.median, e.p90, e.bias))
}
