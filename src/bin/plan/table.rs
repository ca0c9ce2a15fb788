//! The heading of a table of plans, and plans as CSV, one row each.

use rooflight::api::plan_columns;
use rooflight::find::DeploymentPlan;

use super::console::csv_line;

/// The first column is the request's number, from 1.
pub fn head() -> String {
    let (names, _) = plan_columns(None);
    csv_line(std::iter::once("request".to_owned()).chain(names))
}

/// One line per plan; empty without plans.
pub fn rows(request: usize, plans: &[DeploymentPlan]) -> String {
    let row = |plan: &DeploymentPlan| {
        csv_line(std::iter::once(request.to_string()).chain(plan_columns(Some(plan)).1))
    };
    plans.iter().map(row).collect::<Vec<_>>().join("\n")
}
