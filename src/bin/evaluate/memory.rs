//! Memory at start-up, compared with engine logs.

use std::path::PathBuf;

use clap::Args;
use rooflight::evidence::compared::parted;
use rooflight::evidence::memory::report::{MemoryGroup, StartReport};
use rooflight::evidence::memory::{compare, read};

use super::serving::{catalog_with, in_file, read as read_file, write_lines};
use super::tables::cell;

#[derive(Args)]
pub struct Arguments {
    /// Logged start-ups, as JSON Lines (repeatable).
    #[arg(long, required = true)]
    cases: Vec<PathBuf>,
    /// Uses this modified copy of `static/catalog/engines.json`.
    #[arg(long)]
    engines: Option<PathBuf>,
    /// Writes JSON Lines: id, assumed, predicted, logged.
    #[arg(long)]
    per_case: Option<PathBuf>,
    /// Prints JSON instead of tables.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let catalog = catalog_with(arguments.engines.as_deref())?;
    let mut cases = Vec::new();
    for path in &arguments.cases {
        cases.extend(read(&read_file(path)?).map_err(|error| in_file(path, error))?);
    }
    if cases.is_empty() {
        return Err("these files have no cases".into());
    }
    let (compared, skipped) = parted(cases.iter().map(|case| (&case.id, compare(case, &catalog))));
    if let Some(path) = &arguments.per_case {
        write_lines(path, &compared)?;
    }
    let report = StartReport::of(&compared, skipped);
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
        return Ok(());
    }
    println!("{} starts predicted, {} skipped", report.all.cases, report.skipped.len());
    println!("room for the KV cache: median GiB, median / mean %, bias GiB, share within 1 GiB or 5 %");
    println!("tokens and weights: errors in %, mean / median / p90 (bias)");
    line("all", &report.all);
    line("without contradictions", &report.without_contradictions);
    report.by_engine.iter().for_each(|(name, group)| line(name, group));
    println!("wrong verdicts: {}", report.all.verdict.wrong.join(", "));
    println!("  of which near the edge: {}", report.all.verdict.wrong_near_edge.join(", "));
    report.contradictions.iter().for_each(|one| println!("contradicts itself, {}: {}", one.id, one.reason));
    report.skipped.iter().for_each(|one| println!("skipped {}: {}", one.id, one.reason));
    Ok(())
}

fn line(name: &str, group: &MemoryGroup) {
    let room = group.kv_available_gib.as_ref().map_or("–".into(), |room| {
        let percent = |error: Option<f64>| error.map_or("–".into(), |error| format!("{error:.1}"));
        format!(
            "{:.2}, {} / {}, {:+.2}, {:.2}",
            room.median_abs_gib,
            percent(room.median_error_percent),
            percent(room.mean_error_percent),
            room.bias_gib,
            room.within_1gib_or_5_percent
        )
    });
    let (tokens, weights) = (cell(group.kv_tokens), cell(group.weights));
    let (right, of) = (group.verdict.right, group.verdict.of);
    println!("{name:24} room {room:32} tokens {tokens:28} weights {weights:26} verdict {right} of {of}");
}
