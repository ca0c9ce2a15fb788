//! Plans as CSV, one row each.

use rooflight::api::{columns, plan_figures};
use rooflight::find::Plan;

use super::console::csv_line;

/// Columns other than figures; the first is the request's number, from 1.
const NAMES: [&str; 6] = ["request", "name", "gpu", "gpus", "replicas", "link"];

pub fn head() -> String {
    let (names, _) = columns(&plan_figures(None));
    csv_line(NAMES.map(str::to_owned).into_iter().chain(names))
}

/// One line per plan; empty without plans.
pub fn rows(request: usize, plans: &[Plan]) -> String {
    let row = |plan: &Plan| {
        let (_, numbers) = columns(&plan_figures(Some(plan)));
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
