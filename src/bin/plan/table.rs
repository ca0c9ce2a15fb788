//! The heading of a table of plans, and plans as CSV, one row each.

use rooflight::api::plan_columns;
use rooflight::find::{DeploymentPlan, Question, Request};
use rooflight::study::words::{demand, lengths};

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

/// What is to be served, also where the request leaves it to the defaults: `Llama-3.1-8B: 1024 tokens in, 512 out, 16 clients`.
pub fn heading(request: &Request, question: &Question) -> String {
    let (model, workload) = (&request.base.model, &request.base.workload);
    let asked = match question {
        Question::Plans => demand(workload),
        // Its loads stand below the table.
        Question::Most(_) | Question::Day(_) => lengths(workload),
    };
    format!("{}: {asked}\n\n", model.record().map_or(model.id(), |model| &model.name))
}
