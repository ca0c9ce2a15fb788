//! Errors end to end.

use std::path::Path;

use rooflight::config::catalog::catalog;
use rooflight::efficiency::onnx::Models;
use rooflight::evidence::cases::{Case, read_cases};
use rooflight::evidence::closed_loop::coverage::Coverage;
use rooflight::evidence::closed_loop::fit;
use rooflight::evidence::closed_loop::report::{
    Compared as Looped, LoopReport, Metrics as LoopMetrics, loop_report,
};
use rooflight::evidence::errors::Errors;
use rooflight::evidence::models::open_models;
use rooflight::evidence::serving::{BatchReport, Compared as Batched, Metrics, PeerRow, batch_report};
use rooflight::evidence::trace::{Compared as Traced, TraceReport, trace_report};

/// What was found of all kinds of cases, and the cases themselves.
pub struct Found {
    pub batches: (BatchReport, Vec<Batched>),
    pub loops: (LoopReport, Vec<Looped>),
    pub traces: (TraceReport, Vec<Traced>),
}

/// Predicts every case of the file, every so many-th of the closed loops.
pub fn found(cases: &Path, peers: Option<&Path>, every: usize, models: &Models) -> Result<Found, String> {
    let cases = read_cases(&read(cases)?).map_err(|error| format!("{}: {error}", cases.display()))?;
    let peers = peers.map(read_peers).transpose()?.unwrap_or_default();
    let ask = |rows: &_| models.answer(rows).map_err(|error| error.to_string());
    let physics = catalog().constants.physics().ok_or("the catalog of constants is incomplete")?;
    let loops: Vec<_> = cases.iter().filter_map(Case::closed_loop).step_by(every).collect();
    let traces: Vec<_> = cases.iter().filter_map(Case::trace).collect();
    Ok(Found {
        batches: batch_report(&cases, catalog(), &ask, &peers),
        loops: loop_report(&loops, (catalog(), &physics), &ask, &peers)?,
        traces: trace_report(&traces, (catalog(), &physics), &ask),
    })
}

pub fn run(
    cases: &Path,
    peers: Option<&Path>,
    every: usize,
    per_case: Option<&Path>,
    models: &Path,
    json: bool,
) -> Result<(), String> {
    let models = open_models(models).map_err(|error| error.to_string())?;
    let Found { batches: (batch, batches), loops: (closed_loop, looped), traces: (trace, traced) } =
        found(cases, peers, every, &models)?;
    if let Some(path) = per_case {
        let mut lines = Lines::default();
        batches.iter().try_for_each(|case| lines.add(case))?;
        looped.iter().try_for_each(|case| lines.add(case))?;
        traced.iter().try_for_each(|case| lines.add(case))?;
        std::fs::write(path, lines.0).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    if json {
        let report = serde_json::json!({ "batch": batch, "closed_loop": closed_loop, "trace": trace });
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
    } else {
        print_batches(&batch);
        print_loops(&closed_loop);
        print_traces(&trace, &traced);
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

/// Fits the engines' host times and prints them as JSON.
pub fn fit_host(cases: &Path, models: &Path) -> Result<(), String> {
    let cases = read_cases(&read(cases)?).map_err(|error| format!("{}: {error}", cases.display()))?;
    let models = open_models(models).map_err(|error| error.to_string())?;
    let ask = |rows: &_| models.answer(rows).map_err(|error| error.to_string());
    let physics = catalog().constants.physics().ok_or("the catalog of constants is incomplete")?;
    let loops: Vec<_> = cases.iter().filter_map(Case::closed_loop).collect();
    let fitted = fit::fit(&loops, (catalog(), &physics), &ask)?;
    println!("{}", serde_json::to_string_pretty(&fitted).map_err(|error| error.to_string())?);
    Ok(())
}

/// One JSON object a line.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, case: &impl serde::Serialize) -> Result<(), String> {
        self.0 += &serde_json::to_string(case).map_err(|error| error.to_string())?;
        self.0.push('\n');
        Ok(())
    }
}

fn print_batches(report: &BatchReport) {
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
    let [prefill, decode, total] = [metrics.prefill, metrics.decode_step, metrics.total].map(cell);
    println!("{name:24}{prefill:>26}{decode:>26}{total:>26}");
}

fn cell(errors: Option<Errors>) -> String {
    errors
        .map_or("–".into(), |e| format!("{:.1} / {:.1} / {:.1} ({:+.1})", e.mean, e.median, e.p90, e.bias))
}

fn print_loops(report: &LoopReport) {
    println!("\nclosed loops: {} predicted, {} skipped\n", report.cases, report.skipped.len());
    println!("{:36}{:>30}{:>30}", "", "TTFT", "TPOT");
    loop_line("rooflight", &report.metrics);
    loop_line("plain roofline", &report.roofline);
    loop_line("rooflight, up to 4 clients", &report.few_clients);
    let named = report.contradictions.len();
    loop_line(&format!("without {named} contradictions"), &report.without_contradictions);
    loop_line("started as told", &report.without_inferred);
    for (what, cases) in &report.inferred {
        println!("  read off the runs, of {cases}: {what}");
    }
    for (name, bounds) in [("TTFT", report.coverage80.ttft), ("TPOT", report.coverage80.tpot)] {
        if let Some(Coverage { factor, covered }) = bounds {
            println!(
                "80 % bounds of {name}: a factor of {factor:.2}; those of other models hold for {covered:.0} %"
            );
        }
    }
    for (peer, metrics) in &report.peers {
        loop_line(peer, &metrics.peer);
        loop_line("  rooflight, same cases", &metrics.ours);
    }
    for groups in [&report.by_engine, &report.by_gpu, &report.by_model, &report.by_source] {
        println!();
        groups.iter().for_each(|(name, metrics)| loop_line(name, metrics));
    }
    println!();
    report
        .by_concurrency
        .iter()
        .for_each(|(clients, metrics)| loop_line(&format!("{clients} clients"), metrics));
    println!("\nup to 4 clients");
    report.few_clients_by_model.iter().for_each(|(name, metrics)| loop_line(name, metrics));
    report.few_clients_by_engine.iter().for_each(|(name, metrics)| loop_line(name, metrics));
    println!();
    report.few_clients_by_model_and_engine.iter().for_each(|(name, metrics)| loop_line(name, metrics));
    println!();
    for one in &report.contradictions {
        println!("contradicts {}: {}", one.id, one.reasons.join("; "));
    }
    for skipped in &report.skipped {
        println!("skipped {}: {}", skipped.id, skipped.reason);
    }
}

fn print_traces(report: &TraceReport, traced: &[Traced]) {
    println!("\ntraces: {} predicted, {} skipped", report.cases, report.skipped.len());
    println!("{:32}{:>30}{:>30}{:>30}", "", "throughput", "TTFT", "TPOT");
    let [throughput, ttft, tpot] = [report.throughput, report.ttft, report.tpot].map(cell);
    println!("{:32}{throughput:>30}{ttft:>30}{tpot:>30}", "rooflight");
    for case in traced {
        let (ours, real) = (case.predicted, case.measured);
        let cell = |ours: f64, real: f64| format!("{ours:.1} of {real:.1}");
        println!(
            "{:32}{:>30}{:>30}{:>30}",
            case.id,
            cell(ours.output_per_s, real.output_per_s),
            cell(ours.ttft_ms, real.ttft_ms),
            cell(ours.tpot_ms, real.tpot_ms)
        );
    }
    for skipped in &report.skipped {
        println!("skipped {}: {}", skipped.id, skipped.reason);
    }
}

fn loop_line(name: &str, metrics: &LoopMetrics) {
    let cases = metrics.tpot.map_or(0, |errors| errors.cases);
    println!("{name:36}{:>30}{:>30} {cases:>6} cases", cell(metrics.ttft), cell(metrics.tpot));
}
