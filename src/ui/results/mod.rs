//! The right column: the answer in a bar that stays visible, and the views that explain it.

mod gauge;
mod headline;
pub mod kernels;
mod limits;
mod memory;
mod problems;
mod roofline;
mod simulation;
mod status;
mod study;
mod times;
mod views;

use leptos::prelude::*;

use super::state::State;
use crate::study::panel::Panel;
use headline::{HeadlineView, RatesView};
use kernels::Kernels;
use limits::Limits;
use memory::MemoryView;
use problems::Problems;
use roofline::RooflineView;
use simulation::{LoadsView, RunView};
pub use status::{FIX, LAST_VALID};
use study::StudyView;
use times::TimesView;
use views::Views;

/// The answer, dimmed while it does not match the form.
#[component]
pub fn Results() -> impl IntoView {
    let state = State::get();
    // A warm worker answers before anyone notices dimmed numbers, and dimming restyles half the page twice: only an
    // answer that will not be updated is dimmed.
    let dimmed = move || state.stale.get() && state.has_errors();
    // There is nothing to show until the errors of a first visit are corrected.
    let bare = move || state.has_errors() && state.answer.with(Option::is_none);
    let hides = move |panel: Panel| move || state.study.with(|study| study.panel != panel);
    view! {
        <section
            class="results" id="results" tabindex="-1" data-testid="results" aria-label="Prediction"
            class:stale=dimmed class:bare=bare
            aria-busy=move || state.stale.get().to_string()
        >
            <div class="panel answer"><HeadlineView /></div>
            <Problems />
            <div class="below">
                <TimesView />
                <Views />
                <div class="overview" prop:hidden=hides(Panel::Overview)>
                    <LoadsView />
                    <RatesView />
                    <MemoryView />
                    <RunView />
                </div>
                <div class="overview roofs" prop:hidden=hides(Panel::Roofline)>
                    <Limits />
                    <RooflineView />
                    <Kernels />
                </div>
                <StudyView />
            </div>
        </section>
    }
}
