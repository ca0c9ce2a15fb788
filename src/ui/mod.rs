//! The page: one screen of inputs and results. `README.md` is the map and lists the test selectors.

mod canvas;
mod clipboard;
mod copy;
mod header;
mod inputs;
mod panic;
mod results;
mod show;
mod state;

use gloo::utils::document;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::config::catalog::catalog;
use header::Header;
use inputs::Inputs;
use results::Results;
use state::State;

/// Reads the catalogs. Loading, mounting and predicting are tasks of their own, so that none holds the browser up.
pub fn start() {
    panic::install();
    catalog();
}

/// Mounts the page beside the skeleton of `index.html`: `static/boot/boot.js` calls it in the next task.
#[wasm_bindgen]
pub fn mount() {
    let Some(root) = document().get_element_by_id("page") else { return };
    mount_to(root.unchecked_into(), App).forget();
}

#[component]
fn App() -> impl IntoView {
    let state = State::start();
    provide_context(state);
    // Laid out before it is seen: findings and numbers then move nothing.
    Effect::new(move |_| {
        if state.begun.get() {
            replace_skeleton();
        }
    });
    Effect::new(move |_| show::install(state));
    view! {
        <Header />
        <main class="columns">
            <Inputs />
            <Results />
        </main>
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
