//! Search over the page: a dialog that shows what the worker finds as links.

use leptos::ev::{KeyboardEvent, keydown, popstate};
use leptos::html::{Dialog, Input};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, MouseEvent, Node};

use super::document::DocumentView;
use super::history::recent::{RecentSetup, others};
use super::parts::{closest, is_shortcut, is_writing};
use super::state::State;
use crate::study::panel::SHORTCUTS;

#[component]
pub fn Search() -> impl IntoView {
    let state = State::get();
    let (dialog, input) = (NodeRef::<Dialog>::new(), NodeRef::<Input>::new());
    let words = RwSignal::new(String::new());
    let recent = RwSignal::new(Vec::<RecentSetup>::new());
    let open = move |sought: String| {
        let Some(dialog) = dialog.get_untracked() else { return };
        if dialog.open() || dialog.show_modal().is_err() {
            return;
        }
        // What it is opened with gives way to what is typed.
        if let Some(input) = input.get_untracked() {
            input.set_value(&sought);
            input.select();
        }
        words.set(sought.clone());
        recent.set(others());
        state.find(sought);
    };
    let close = move || {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    // Runs every time it is opened.
    Effect::new(move |before: Option<()>| {
        let sought = state.search.get();
        if before.is_some() {
            open(sought);
        }
    });
    let keys = window_event_listener(keydown, move |event: KeyboardEvent| {
        let asked = match event.key().as_str() {
            "k" | "K" => is_shortcut(&event),
            "/" | SHORTCUTS => !is_writing(&event) && !is_shortcut(&event) && !event.alt_key(),
            _ => false,
        };
        if asked {
            event.prevent_default();
            open(if event.key() == SHORTCUTS { SHORTCUTS.into() } else { String::new() });
        }
    });
    // A configuration was chosen.
    let chosen = window_event_listener(popstate, move |_| close());
    on_cleanup(move || [keys, chosen].into_iter().for_each(|listener| listener.remove()));
    let typed = move |event| {
        words.set(event_target_value(&event));
        state.find(words.get_untracked());
    };
    // A view was chosen.
    let click = move |event: MouseEvent| {
        if closest(event.target(), "a").is_some() {
            close();
        }
    };
    let steer = move |event: KeyboardEvent| {
        if event.key() == "Escape" {
            // Browsers first clear a search field.
            event.prevent_default();
            close();
        } else if let (Some(dialog), Some(input)) = (dialog.get_untracked(), input.get_untracked()) {
            // The results may still be for other words.
            let answered = state.study.with_untracked(|study| study.found.chosen == words.get_untracked());
            steer(&event, &dialog, &input, answered);
        }
    };
    let found = Signal::derive(move || state.study.with(|study| study.found.clone()));
    let list = move || {
        let link = |RecentSetup { link, name }| view! { <li><a href=format!("#{link}")>{name}</a></li> };
        let links = recent.get().into_iter().map(link).collect::<Vec<_>>();
        (!links.is_empty())
            .then(|| view! { <section class="recent"><h2>"Recent"</h2><ul>{links}</ul></section> })
    };
    view! {
        <dialog
            node_ref=dialog class="search" aria-label="Search" data-testid="search"
            on:keydown=steer on:click=click
        >
            <input
                node_ref=input type="search" data-testid="search-words" aria-label="Search" autocomplete="off" spellcheck="false"
                placeholder="Model, GPU, engine, workload, limits, view, or a link"
                prop:value=words on:input=typed
            />
            <div id="recent" hidden=move || words.with(|words| !words.is_empty())>{list}</div>
            <div class="study"><DocumentView id="found" document=found /></div>
        </dialog>
    }
}

/// Arrows move through the results, Enter opens the first.
fn steer(event: &KeyboardEvent, dialog: &Element, input: &HtmlElement, answered: bool) {
    let key = event.key();
    if !matches!(key.as_str(), "ArrowDown" | "ArrowUp" | "Enter") {
        return;
    }
    if !answered && key != "ArrowUp" {
        return event.prevent_default();
    }
    let Ok(found) = dialog.query_selector_all("#recent:not([hidden]) a, #found tbody a") else { return };
    let link = |index: u32| found.item(index).and_then(|link| link.dyn_into::<HtmlElement>().ok());
    let focused = dialog.owner_document().and_then(|document| document.active_element());
    let focused: Option<&Node> = focused.as_deref();
    let at = (0..found.length()).find(|&index| found.item(index).as_ref() == focused);
    let to = match (key.as_str(), at) {
        ("ArrowDown", None) => link(0),
        ("ArrowDown", Some(at)) => link(at + 1),
        ("ArrowUp", Some(0)) => Some(input.clone()),
        ("ArrowUp", Some(at)) => link(at - 1),
        ("Enter", None) => {
            event.prevent_default();
            return link(0).iter().for_each(HtmlElement::click);
        }
        _ => None,
    };
    if let Some(to) = to {
        event.prevent_default();
        let _ = to.focus();
    }
}
