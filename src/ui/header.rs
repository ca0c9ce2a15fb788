//! Name, mode, search, undo and redo, panels outside the views, theme.

use leptos::prelude::*;

use super::copy::Copy;
use super::history::History;
use super::parts::{radio, segments};
use super::state::{State, ThemeChoice, frame};
use crate::study::panel::{HEADER_PANELS, Panel};

#[component]
pub fn Header() -> impl IntoView {
    let state = State::get();
    let opens = |(panel, name): (Panel, &'static str)| {
        let open = move || !state.finding.get() && state.study.with(|study| study.panel == panel);
        // A second press closes it.
        let toggle = move |_| {
            let to = if untrack(open) { Panel::Overview } else { panel };
            state.show(to, "");
        };
        view! {
            <button
                type="button" class="action" data-testid=format!("open-{}", panel.id())
                aria-pressed=move || open().to_string() on:click=toggle
            >
                {name}
            </button>
        }
    };
    view! {
        <header class="top">
            <button type="button" class="action skip">"Skip to the results"</button>
            <h1>"Rooflight"</h1>
            <Mode />
            <p class="tagline">"LLM serving speed, predicted in your browser"</p>
            <button
                type="button" class="action finder" data-testid="find"
                on:click=move |_| state.search_for(String::new())
            >
                "Search"<kbd>"/"</kbd>
            </button>
            {frame::view().is_none().then(|| view! { <History /> })}
            <Copy
                id="copy-link" label="Copy link" refused="See address bar"
                read=move || state.shared_address()
            />
            {HEADER_PANELS.map(opens).into_iter().collect_view()}
            <a class="action" href="docs/" data-testid="docs">"Docs"</a>
            <Theme />
        </header>
    }
}

/// Switches between evaluating one configuration and finding plans. Absent in a frame, which shows one configuration.
#[component]
fn Mode() -> impl IntoView {
    let state = State::get();
    let option = |(id, text, finds): (&str, &str, bool)| {
        radio("mode", id.into(), text, move || state.finding.get() == finds, move || state.seek(finds))
    };
    let options = [("mode-evaluate", "Evaluate", false), ("mode-find", "Find", true)].map(option);
    frame::view().is_none().then_some(segments("", "Mode", options.into()))
}

#[component]
fn Theme() -> impl IntoView {
    let state = State::get();
    let option = |choice: ThemeChoice| {
        let text = match choice {
            ThemeChoice::System => "System",
            ThemeChoice::Light => "Light",
            ThemeChoice::Dark => "Dark",
        };
        let checked = move || state.theme.get() == choice;
        radio("theme", format!("theme-{}", choice.id()), text, checked, move || state.theme.set(choice))
    };
    segments("", "Theme", ThemeChoice::ALL.iter().copied().map(option).collect())
}
