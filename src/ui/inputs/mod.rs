//! The left column: what is asked.

mod choice;
mod config_json;
mod facts;
mod hardware;
mod issues;
mod measured;
mod model;
mod own_text;
mod quantity;
mod trace;
mod workload;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use crate::config::Field;
use crate::ui::state::quantity::{MAX_SEQS, MEMORY_SHARE, PRICE, SUSTAINED, TOKEN_BUDGET};
use hardware::Hardware;
use issues::Issues;
pub use issues::issue_list;
use model::ModelInputs;
use quantity::QuantityInput;
use workload::Workload;

/// Every control, in groups, in the order in which a deployment is thought of.
#[component]
pub fn Inputs() -> impl IntoView {
    view! {
        <form class="inputs" aria-label="Configuration" on:submit=|event: SubmitEvent| event.prevent_default()>
            // Findings about the link as a whole, or about what it folds away, have no control to stand beside.
            <Issues fields=&[Field::Link, Field::Version, Field::Data, Field::Measured] />
            // The second module opens it.
            <button type="button" class="action finder" data-find="" data-testid="find">
                "Search models, GPUs, workloads"<kbd>"/"</kbd>
            </button>
            <ModelInputs />
            <Hardware />
            <Workload />
            <details class="group" data-testid="advanced">
                <summary>"Engine limits, clock, price"</summary>
                <QuantityInput quantity=&TOKEN_BUDGET />
                <QuantityInput quantity=&MAX_SEQS />
                <QuantityInput quantity=&MEMORY_SHARE />
                <QuantityInput quantity=&SUSTAINED />
                <QuantityInput quantity=&PRICE />
            </details>
        </form>
    }
}
