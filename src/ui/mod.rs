//! The page: one screen of inputs and results. `README.md` is the map and lists the test selectors.

mod charts;
mod copy;
mod document;
mod find;
mod header;
mod history;
mod inputs;
mod parts;
mod results;
mod search;
mod state;

use gloo::utils::document;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::config::catalog::catalog;
use find::Plans;
use header::Header;
use inputs::Inputs;
use parts::dispatch;
use results::Results;
use search::Search;
use state::{State, frame};

/// A panic ends the instance. `static/boot/boot.js` says so, with a link to the configuration: the banner cannot rely on this
/// instance.
const PANIC: &str = "rooflight:panic";

/// Reports panics, and reads the catalogs. Loading and mounting are separate tasks, so that neither blocks the browser.
pub fn start() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        dispatch(PANIC, &info.to_string().into());
    }));
    catalog();
}

/// Mounts the page next to the skeleton of `index.html`: `static/boot/boot.js` calls it in the next task.
#[wasm_bindgen]
pub fn mount() {
    let Some(root) = document().get_element_by_id("page") else { return };
    mount_to(root.unchecked_into(), App).forget();
}

#[component]
fn App() -> impl IntoView {
    let state = State::start();
    provide_context(state);
    // Laid out before it is shown, so that issues and numbers move nothing.
    Effect::new(move |_| {
        if state.begun.get() {
            replace_skeleton();
        }
    });
    view! {
        <Header />
        <main class="columns" class:finding=Signal::from(state.finding)>
            <div class="side">
                <Inputs />
            </div>
            <Results />
            {frame::view().is_none().then(|| view! { <Plans /> })}
        </main>
        {frame::view().is_none_or(|view| view == "full").then(|| view! { <Search /> })}
    }
}

fn replace_skeleton() {
    if let Some(skeleton) = document().get_element_by_id("skeleton") {
        skeleton.remove();
    }
    if let Some(root) = document().get_element_by_id("page") {
        root.set_class_name("");
    }
}
