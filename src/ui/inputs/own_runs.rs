//! The visitor's measured runs, one by one.

use leptos::prelude::*;

use crate::config::{Metric, Scenario};
use crate::study::words;
use crate::ui::state::State;
use crate::units::count;

/// Hidden for a single run, which the button beside it removes.
#[component]
pub fn OwnRuns() -> impl IntoView {
    let state = State::get();
    let runs =
        Memo::new(move |_| state.form.with(|form| form.runs().iter().map(described).collect::<Vec<_>>()));
    let row = move |(at, text): (usize, String)| {
        let name = format!("Remove run {}", at + 1);
        view! {
            <li>
                <span>{text}</span>
                <button
                    type="button" class="action" data-testid=format!("measured-remove-{at}") aria-label=name
                    on:click=move |_| state.choose("measured", |form| form.remove_run(at))
                >
                    "Remove"
                </button>
            </li>
        }
    };
    view! {
        <details class="own" data-testid="measured-runs" prop:hidden=move || runs.with(Vec::len) < 2>
            <summary>"Each of your runs"</summary>
            <ol class="runs">{move || runs.get().into_iter().enumerate().map(row).collect_view()}</ol>
        </details>
    }
}

/// `1024 tokens in, 512 out, 8 clients: TTFT 154 ms, TPOT 16.5 ms`.
fn described(run: &Scenario) -> String {
    let time = |(name, metric): (&str, Metric)| {
        let value = run.measured.of(metric).value()?;
        Some(format!("{name} {}\u{a0}ms", count(value)))
    };
    let times: Vec<String> =
        [("TTFT", Metric::Ttft), ("TPOT", Metric::Tpot)].into_iter().filter_map(time).collect();
    let asked = format!("{}, {}", words::lengths(&run.workload), words::load(run.workload.load));
    if times.is_empty() { asked } else { format!("{asked}: {}", times.join(", ")) }
}
