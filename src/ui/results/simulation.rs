//! The simulated run: latencies by their spread, the replica over time, and other loads.

use leptos::prelude::*;

use super::chart::ChartView;
use crate::ui::copy::Copy;
use crate::ui::erased::{flag, listen, part, text};
use crate::ui::inputs::issue_list;
use crate::ui::state::{Progress, State};
use crate::worker::protocol::{Fact, Simulated, Swept, Table};

#[component]
pub fn SimulationView() -> impl IntoView {
    let state = State::get();
    let run = move |read: fn(&Simulated) -> String| text(move || of_run(state, read));
    let curve = move |read: fn(&Swept) -> String| text(move || of_curve(state, read));
    let progress = move || state.simulation.with(|one| one.progress);
    let due = flag(move || progress() == Progress::Due);
    let idle = flag(move || progress() != Progress::Running);
    // Nothing to draw takes no room: a batch has no other loads, and before the first run there is no chart.
    let without_run = move || {
        flag(move || state.simulation.with(|one| one.run.as_ref().is_none_or(|run| run.timeline.is_empty())))
    };
    let no_curve =
        flag(move || state.simulation.with(|one| one.curve.as_ref().is_none_or(|curve| curve.total == 0)));
    let status = text(move || state.simulation.with(|one| said(one.progress, one.curve.as_ref())));
    let latencies = part(move || {
        state.simulation.with(|one| one.run.as_ref().map(|run| table(&run.latencies))).into_any()
    });
    let facts =
        part(move || state.simulation.with(|one| one.run.as_ref().map(|run| facts(&run.facts))).into_any());
    let points = part(move || {
        state.simulation.with(|one| one.curve.as_ref().map(|curve| table(&curve.points))).into_any()
    });
    let issues = move || of_run(state, |run| run.issues.clone());
    let timeline = Signal::derive(move || of_run(state, |run| run.timeline.clone()));
    let chart = Signal::derive(move || of_curve(state, |curve| curve.chart.clone()));
    view! {
        <section class="panel simulation" aria-label="Simulated run" data-testid="simulation" class:due=due>
            <header>
                <h2>"Simulated run"</h2>
                <p class="key">
                    <span role="status" data-testid="simulation-status" data-progress=text(move || id(progress()).into())>{status}</span>
                    <button type="button" class="action" data-testid="simulation-stop" prop:hidden=idle
                        on:click=listen(move |_| state.stop_simulation())>"Stop"</button>
                </p>
            </header>
            <p class="what" data-testid="simulation-what">{run(|run| run.what.clone())}</p>
            {issue_list("simulation-issues".into(), issues)}
            <div class="spread">
                <div class="scroll" tabindex="0" role="region" aria-label="Latencies of the run">
                    <table class="numbers" data-testid="latencies">{latencies}</table>
                </div>
                <dl class="facts" data-testid="simulation-facts">{facts}</dl>
            </div>
            <div class="over-time" prop:hidden=without_run()>
                <ChartView id="timeline" label="The replica over time" chart=timeline words=run(|run| run.timeline_words.clone()) />
            </div>
            <details class="measure" prop:hidden=without_run() data-testid="measure">
                <summary>"Measure it yourself"</summary>
                <Command id="launch" copy="copy-launch" name="Start the server" read=|run| &run.launch />
                <Command id="bench" copy="copy-bench" name="Then measure this load" read=|run| &run.bench />
            </details>
            <div class="loads" prop:hidden=no_curve>
                <h3>"Other loads"</h3>
                <p class="what" data-testid="largest">{curve(|curve| curve.largest.clone())}</p>
                <ChartView id="curve" label="Latency and throughput by load" chart=chart words=curve(|curve| curve.words.clone()) />
                <details>
                    <summary>"As a table"</summary>
                    <div class="scroll" tabindex="0" role="region" aria-label="Other loads as a table">
                        <table class="numbers" data-testid="points">{points}</table>
                    </div>
                </details>
            </div>
        </section>
    }
}

/// What `read` finds in the run; its default where there is none.
fn of_run<T: Default>(state: State, read: impl FnOnce(&Simulated) -> T) -> T {
    state.simulation.with(|one| one.run.as_ref().map(read)).unwrap_or_default()
}

/// The same of the other loads.
fn of_curve<T: Default>(state: State, read: impl FnOnce(&Swept) -> T) -> T {
    state.simulation.with(|one| one.curve.as_ref().map(read)).unwrap_or_default()
}

/// A shell command, to be copied.
#[component]
fn Command(
    id: &'static str,
    copy: &'static str,
    name: &'static str,
    read: fn(&Simulated) -> &String,
) -> impl IntoView {
    let state = State::get();
    let command = move || of_run(state, |run| read(run).clone());
    view! {
        <div class="command">
            <h3>{name}</h3>
            <Copy id=copy label="Copy" refused="Select it" read=Box::new(move || untrack(command)) />
        </div>
        <pre class="scroll" tabindex="0" data-testid=id aria-label=name>{text(command)}</pre>
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

/// The first cell of each row names it.
fn table(table: &Table) -> AnyView {
    let heads = table.head.iter().map(|name| view! { <th scope="col">{name.clone()}</th> }.into_any());
    let rows = table.rows.iter().map(|row| {
        let cells = row.cells.iter().enumerate().map(|(index, cell)| match index {
            0 => view! { <th scope="row">{cell.clone()}</th> }.into_any(),
            _ => view! { <td>{cell.clone()}</td> }.into_any(),
        });
        view! { <tr>{cells.collect_view()}</tr> }.into_any()
    });
    let (heads, rows) = (heads.collect_view(), rows.collect_view());
    view! { <thead><tr>{heads}</tr></thead><tbody>{rows}</tbody> }.into_any()
}

fn facts(facts: &[Fact]) -> AnyView {
    let entry = |fact: &Fact| {
        view! { <div><dt title=fact.help.clone()>{fact.name.clone()}</dt><dd>{fact.value.clone()}</dd></div> }
            .into_any()
    };
    facts.iter().map(entry).collect_view().into_any()
}
