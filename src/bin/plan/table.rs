//! Plans as CSV: a row each.

use rooflight::api::plan_figures;
use rooflight::find::Plan;

use super::console::csv_line;

/// Columns beside the figures: the first says which request a plan answers, counted from 1.
const NAMES: [&str; 6] = ["request", "name", "gpu", "gpus", "replicas", "link"];

pub fn head() -> String {
    let figures = plan_figures(None);
    let numbers = figures.iter().flat_map(|figure| figure.columns()).map(|(name, _)| name);
    csv_line(NAMES.map(str::to_owned).into_iter().chain(numbers))
}

/// One line a plan; empty without any.
pub fn rows(request: usize, plans: &[Plan]) -> String {
    let row = |plan: &Plan| {
        let figures = plan_figures(Some(plan));
        let numbers = figures.iter().flat_map(|figure| figure.columns()).map(|(_, number)| number);
        let Plan { name, gpu, gpus, replicas, link, .. } = plan;
        let what = [
            request.to_string(),
            name.clone(),
            gpu.clone(),
            gpus.to_string(),
            replicas.to_string(),
            link.clone(),
        ];
        csv_line(what.into_iter().chain(numbers))
    };
    plans.iter().map(row).collect::<Vec<_>>().join("\n")
}
