//! The report shipped with the models.

use std::path::{Path, PathBuf};

use rooflight::config::catalog::catalog;
use rooflight::evidence::cases::LoadKind;
use rooflight::evidence::contributed::report;
use rooflight::evidence::kernels::Comparison;
use rooflight::evidence::models::open_models;
use rooflight::evidence::served::calibrated::LeaveOut;
use rooflight::evidence::summary::{Reports, summary};

use super::serving::found;
use super::tables::title;

/// Files of measured runs that nothing was fitted on, if present.
const OTHERS: [&str; 3] = ["more_closed_loops.jsonl", "independent.jsonl", "energy.jsonl"];

/// Predicts everything in `data` and the contributed runs, and writes `evidence.json` to the models' folder.
pub fn run((data, runs): (&Path, &Path), comparison: &Comparison<'_>, folder: &Path) -> Result<(), String> {
    let models = open_models(folder).map_err(|error| error.to_string())?;
    let measured = data.join("e2e");
    let peers = measured.join("peer_predictions.csv");
    let found =
        found(&[measured.join("cases.jsonl")], Some(&peers), (1, &LeaveOut::ALL[1..]), &models, catalog())?;
    let others: Vec<PathBuf> =
        OTHERS.iter().map(|name| measured.join(name)).filter(|path| path.exists()).collect();
    let outside = super::serving::found(&others, None, (1, &[]), &models, catalog())?.served;
    let closed = (title(LoadKind::ClosedLoop), &outside.closed_loops.all);
    let contributed = super::contributed::sound(&[runs.to_path_buf()], &models)?;
    let contributed = (!contributed.is_empty()).then(|| ("Contributed", report(&contributed)));
    let outside: Vec<_> = [closed]
        .into_iter()
        .chain(outside.others.iter().map(|(kind, report)| (title(*kind), report)))
        .chain(contributed.as_ref().map(|(title, report)| (*title, report)))
        .collect();
    let kernels = super::kernels::reports(data, comparison, &models)?;
    let reports = Reports {
        loops: &found.served.closed_loops,
        batches: &found.batches,
        traces: &found.traces,
        outside: &outside,
        kernels: &kernels,
    };
    let path = folder.join("evidence.json");
    std::fs::write(&path, summary(&reports, models.manifest()).print())
        .map_err(|error| format!("{}: {error}", path.display()))
}
