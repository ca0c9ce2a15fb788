//! A trace of one's own, replayed in the simulated run.

use leptos::prelude::*;

use super::own_text::{Own, OwnText};
use crate::config::Field;
use crate::ui::erased::{flag, listen, text};
use crate::ui::state::State;

static TRACE: Own = Own {
    id: "trace",
    field: Field::Trace,
    summary: "Replay your own trace",
    hint: "CSV with a header, or a JSON object a line: arrival (seconds), prompt and output (tokens); columns of Azure, BurstGPT, \
           Mooncake and Vidur are known. It stays in your browser, and out of the link.",
    take: "Replay this trace",
    accept: ".csv,.json,.jsonl,.txt,text/csv",
    // A line of the longest trace that is read has some tens of bytes, unless it names cached blocks.
    longest: 50e6,
    too_long: "this file is too large: cut the trace to a part that is typical",
    taken: State::replay,
    found: |state| state.trace_issues,
};

#[component]
pub fn TraceInput() -> impl IntoView {
    let state = State::get();
    let none = flag(move || state.trace.with(String::is_empty));
    view! {
        <OwnText own=&TRACE />
        <p class="traced" prop:hidden=none>
            <span data-testid="traced">{text(move || state.trace.get())}</span>
            <button type="button" class="action" data-testid="trace-remove" on:click=listen(move |_| state.end_replay())>
                "Remove"
            </button>
        </p>
    }
}
