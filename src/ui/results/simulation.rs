//! The simulated run and the loads around it.

use leptos::prelude::*;

use crate::ui::document::DocumentView;
use crate::ui::inputs::issue_list;
use crate::ui::state::{Progress, State};
use crate::worker::protocol::Swept;

#[component]
pub fn SimulationView() -> impl IntoView {
    let state = State::get();
    let progress = move || state.simulation.with(|one| one.progress);
    let due = move || progress() == Progress::Due;
    let idle = move || progress() != Progress::Running;
    let status = move || state.simulation.with(|one| said(one.progress, one.curve.as_ref()));
    let issues = move || {
        state.simulation.with(|one| one.run.as_ref().map(|run| run.issues.clone())).unwrap_or_default()
    };
    let run = move || state.simulation.with(|one| one.run.as_ref().map(|run| run.document.clone()));
    let curve = move || state.simulation.with(|one| one.curve.as_ref().map(|curve| curve.document.clone()));
    // What is no longer so takes no room.
    let no_run = move || run().is_none_or(|run| run.blocks.is_empty());
    let no_curve = move || curve().is_none_or(|curve| curve.blocks.is_empty());
    view! {
        <section class="panel simulation" aria-label="Simulated run" data-testid="simulation" class:due=due>
            <header>
                <h2>"Simulated run"</h2>
                <p class="key">
                    <span role="status" data-testid="simulation-status" data-progress=move || id(progress())>{status}</span>
                    <button type="button" class="action" data-testid="simulation-stop" prop:hidden=idle
                        on:click=move |_| state.stop_simulation()>"Stop"</button>
                </p>
            </header>
            {issue_list("simulation-issues".into(), issues)}
            <div prop:hidden=no_run><DocumentView id="simulation-run" document=move || run().unwrap_or_default() /></div>
            <div prop:hidden=no_curve><DocumentView id="simulation-loads" document=move || curve().unwrap_or_default() /></div>
        </section>
    }
}

fn id(progress: Progress) -> &'static str {
    match progress {
        Progress::None => "none",
        Progress::Due => "due",
        Progress::Running => "running",
        Progress::Stopped => "stopped",
        Progress::Done => "done",
    }
}

fn said(progress: Progress, curve: Option<&Swept>) -> String {
    match (progress, curve) {
        (Progress::None, _) => "Follows the learned answer".into(),
        (Progress::Due, _) => "Simulating".into(),
        (Progress::Running, Some(curve)) => format!("Other loads: {} of {}", curve.done, curve.total),
        (Progress::Running, None) => "Other loads".into(),
        (Progress::Stopped, _) => "Stopped".into(),
        (Progress::Done, _) => String::new(),
    }
}
