//! The report that ships beside the models.

use std::path::Path;

use rooflight::config::catalog::catalog;
use rooflight::evidence::kernels::Comparison;
use rooflight::evidence::models::open_models;
use rooflight::evidence::summary::{Reports, summary};

use super::serving::found;

/// Predicts everything in `data` and writes the report to `evidence.json` of the models' folder.
pub fn run(data: &Path, comparison: &Comparison<'_>, folder: &Path) -> Result<(), String> {
    let models = open_models(folder).map_err(|error| error.to_string())?;
    let measured = data.join("e2e");
    let peers = measured.join("peer_predictions.csv");
    let found = found(&[measured.join("cases.jsonl")], Some(&peers), 1, &models, catalog())?;
    let kernels = super::kernels::reports(data, comparison, &models)?;
    let reports = Reports {
        loops: &found.served.closed_loops,
        batches: &found.batches,
        traces: &found.traces,
        kernels: &kernels,
    };
    let path = folder.join("evidence.json");
    std::fs::write(&path, summary(&reports, models.manifest()).print())
        .map_err(|error| format!("{}: {error}", path.display()))
}
