//! What the numbers are, and the state of the learned models.

use leptos::prelude::*;

use crate::serving::report::Basis;
use crate::ui::state::{State, WorkerStatus, frame};

#[component]
pub fn Status() -> impl IntoView {
    let state = State::get();
    let basis = move || state.answer.with(|shown| shown.as_ref().map(|shown| shown.basis.clone()));
    let kind = move || basis_id(basis().as_ref());
    let label = move || basis_label(basis().as_ref());
    let status = move || state.worker.with(status_id);
    let text = move || state.worker.with(status_text);
    view! {
        <div class="status" role="status">
            <span class="basis" data-testid="basis" data-basis=kind>{label}</span>
            <span class="worker" data-testid="worker" data-status=status>{text}</span>
        </div>
    }
}

pub const FIX: &str = "Fix the marked inputs";
pub const LAST_VALID: &str = "Fix the marked inputs. Until then, this is the answer to the last valid ones:";

/// Says that the answer does not match the form, before any part of it: dimming alone would mislead screen reader
/// users, and anyone in a hurry.
#[component]
pub fn Refused() -> impl IntoView {
    let state = State::get();
    let refused = move || {
        let answered = state.answer.with(Option::is_some);
        // In that case no input is at fault.
        let ended = state.worker.with(|worker| worker.ended().is_some());
        match (state.has_errors() && !ended, answered) {
            (false, _) => "",
            _ if frame::view().is_some_and(|view| view != "full") => "This link has an error",
            (true, true) => LAST_VALID,
            (true, false) => FIX,
        }
    };
    view! { <p class="refused" role="status" data-testid="refused">{refused}</p> }
}

fn basis_id(basis: Option<&Basis>) -> &'static str {
    match basis {
        None => "none",
        Some(Basis::Roofline) => "roofline",
        Some(Basis::Learned { .. }) => "learned",
    }
}

pub(super) fn basis_label(basis: Option<&Basis>) -> String {
    match basis {
        None => "No prediction yet".into(),
        Some(Basis::Roofline) => "Roofline (upper bound)".into(),
        Some(Basis::Learned { release }) => format!("Learned efficiencies, models {release}"),
    }
}

fn status_id(worker: &WorkerStatus) -> &'static str {
    match worker {
        WorkerStatus::Starting => "starting",
        WorkerStatus::Ready { .. } => "ready",
        WorkerStatus::Late => "late",
        WorkerStatus::Failed { .. } | WorkerStatus::Ended { .. } => "failed",
    }
}

fn status_text(worker: &WorkerStatus) -> String {
    match worker {
        WorkerStatus::Starting => "Loading the learned models".into(),
        WorkerStatus::Ready { .. } => String::new(),
        WorkerStatus::Late => "The learned models are slow to load; showing the roofline until then".into(),
        WorkerStatus::Failed { reason } => {
            format!("No learned numbers: {reason}. Showing the roofline; reload to try again")
        }
        WorkerStatus::Ended { reason } => format!("No numbers: {reason}. Reload to try again"),
    }
}
