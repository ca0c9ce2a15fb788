//! The right column: what is answered.

mod gauge;
mod headline;
mod kernels;
mod limits;
mod memory;
mod problems;
mod roofline;
mod simulation;
mod status;
mod study;

use leptos::prelude::*;

use super::state::State;
use headline::HeadlineView;
use kernels::Kernels;
use limits::Limits;
use memory::MemoryView;
use problems::Problems;
use roofline::RooflineView;
use simulation::{LoadsView, RunView};
use status::Status;
use study::{StudyView, Tabs};

/// The answer, dimmed while there is none to the form.
#[component]
pub fn Results() -> impl IntoView {
    let state = State::get();
    // A warm worker answers before anyone could see the old numbers dimmed, and dimming restyles half the page
    // twice: only an answer that will not come dims what stands.
    let dimmed = move || state.stale.get() && state.has_errors();
    view! {
        <section
            class="results" data-testid="results" aria-label="Prediction"
            class:stale=dimmed
            aria-busy=move || state.stale.get().to_string()
        >
            <Status />
            <Problems />
            <HeadlineView />
            <MemoryView />
            <Limits />
            <Tabs />
            <div class="overview" prop:hidden=move || state.study.with(|study| study.topic.is_some())>
                <RooflineView />
                <RunView />
                <LoadsView />
                <Kernels />
            </div>
            <StudyView />
        </section>
    }
}
