//! The page: one screen of inputs and results. `README.md` is the map and lists the test selectors.

mod copy;
mod erased;
mod header;
mod inputs;
mod module;
mod panic;
mod results;
mod state;

use gloo::utils::document;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::config::catalog::catalog;
use erased::flag;
use header::Header;
use inputs::Inputs;
use results::Results;
use state::State;

/// Reads the catalogs. Loading, mounting and predicting are tasks of their own, so that none holds the browser up.
pub fn start() {
    panic::install();
    catalog();
}

/// Mounts the page over what `index.html` shows until then: `static/boot/boot.js` calls it in the next task.
#[wasm_bindgen]
pub fn mount() {
    let Some(root) = document().get_element_by_id("page") else { return };
    root.set_text_content(None);
    mount_to(root.unchecked_into(), App).forget();
}

#[component]
fn App() -> impl IntoView {
    let state = State::start();
    provide_context(state);
    // Laid out before it is seen: findings and numbers then move nothing.
    let early = flag(move || !state.begun.get());
    view! {
        <Header />
        <main class="columns" class:early=early>
            <Inputs />
            <Results />
        </main>
    }
}
