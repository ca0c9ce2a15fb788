//! The simulated run behind the numbers, and the loads around it.

use leptos::prelude::*;

use crate::ui::document::DocumentView;
use crate::ui::state::{Progress, State, frame};
use crate::units::counted;
use crate::worker::protocol::Swept;

#[component]
pub fn RunView() -> impl IntoView {
    let state = State::get();
    let run = Memo::new(move |_| state.of_answer(|answer| Some(answer.run.clone())).unwrap_or_default());
    view! {
        <section class="panel run" aria-label="Simulated run" data-testid="run" prop:hidden=move || run.with(|run| run.blocks.is_empty())>
            <h2>"Simulated run"</h2>
            <DocumentView id="simulation-run" document=run />
        </section>
    }
}

#[component]
pub fn LoadsView() -> impl IntoView {
    let state = State::get();
    let progress = move || state.sweep.with(|sweep| sweep.progress);
    let name = move || -> &'static str { progress().into() };
    let due = move || progress() == Progress::Due;
    let idle = move || progress() != Progress::Running;
    let curve = Memo::new(move |_| {
        state.sweep.with(|sweep| sweep.curve.as_ref().map(|curve| curve.document.clone())).unwrap_or_default()
    });
    let no_curve = move || curve.with(|curve| curve.blocks.is_empty());
    let is_missing = move || {
        let ended = matches!(progress(), Progress::None | Progress::Done);
        ended && no_curve() && state.answer.with(Option::is_some)
    };
    let status = move || match (progress(), state.has_errors()) {
        (Progress::Due, true) => "Runs once the marked inputs are fixed".into(),
        _ if is_missing() => NO_CURVE.into(),
        (progress, _) => state.sweep.with(|sweep| progress_text(progress, sweep.curve.as_ref())),
    };
    // An outdated result takes no room; before the first answer its place is reserved.
    let is_all = frame::view().as_deref() == Some("curve");
    let nothing =
        move || !is_all && (is_missing() || progress() == Progress::Due && state.has_errors() && no_curve());
    view! {
        <section class="panel simulation" aria-label="Latency and throughput against load" data-testid="simulation" class:due=due
            prop:hidden=nothing>
            <header>
                <h2>"Latency and throughput against load"</h2>
                <p class="key">
                    <span role="status" data-testid="simulation-status" data-progress=name>{status}</span>
                    <button type="button" class="action" data-testid="simulation-stop" prop:hidden=idle
                        on:click=move |_| state.stop_sweep()>"Stop"</button>
                </p>
            </header>
            <div prop:hidden=no_curve><DocumentView id="simulation-loads" document=curve /></div>
        </section>
    }
}

const NO_CURVE: &str = "No curve: all requests of this load are sent or queued at once";

fn progress_text(progress: Progress, curve: Option<&Swept>) -> String {
    match (progress, curve) {
        (Progress::Due | Progress::None, _) => "Runs after the answer".into(),
        (Progress::Running, Some(curve)) => format!("{} of {}", curve.done, curve.total),
        (Progress::Running, None) => "Running".into(),
        (Progress::Stopped, _) => "Stopped".into(),
        (Progress::Done, curve) => {
            curve.map_or_else(String::new, |curve| format!("{} simulated", counted(curve.done, "load")))
        }
    }
}
