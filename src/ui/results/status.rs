//! What the numbers are, and where the learned models stand.

use leptos::prelude::*;

use crate::serving::report::Basis;
use crate::ui::state::{State, WorkerStatus};

#[component]
pub fn Status() -> impl IntoView {
    let state = State::get();
    let basis = Memo::new(move |_| {
        state.answer.with(|answer| answer.as_ref().map(|answer| answer.report.basis.clone()))
    });
    let kind = move || match basis.get() {
        None => "none",
        Some(Basis::Roofline) => "roofline",
        Some(Basis::Learned { .. }) => "learned",
    };
    let label = move || match basis.get() {
        None => "No prediction yet".to_string(),
        Some(Basis::Roofline) => "Roofline (upper bound)".to_string(),
        Some(Basis::Learned { release }) => format!("Learned efficiencies, models {release}"),
    };
    let status = move || {
        state.worker.with(|worker| match worker {
            WorkerStatus::Starting => "starting",
            WorkerStatus::Ready { .. } => "ready",
            WorkerStatus::Late => "late",
            WorkerStatus::Failed { .. } => "failed",
        })
    };
    let said = move || {
        state.worker.with(|worker| match worker {
            WorkerStatus::Starting => "Loading the learned models".to_string(),
            WorkerStatus::Ready { .. } => String::new(),
            WorkerStatus::Late => {
                "The learned models are slow to load; the roofline stands until they come".to_string()
            }
            WorkerStatus::Failed { reason } => {
                format!("No learned numbers: {reason}. What you see is the roofline; reload to try again")
            }
        })
    };
    // Dimming alone would leave readers of the page by ear, and the hurried, with the wrong numbers.
    let refused =
        move || state.has_errors().then_some("Below: the last answer, not that of the marked inputs");
    view! {
        <div class="status" role="status">
            <span class="basis" data-testid="basis" data-basis=kind>{label}</span>
            <span class="refused" data-testid="refused">{refused}</span>
            <span class="worker" data-testid="worker" data-status=status>{said}</span>
        </div>
    }
}
