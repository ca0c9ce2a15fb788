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

use header::Header;
use inputs::Inputs;
use results::Results;
use state::State;

/// Mounts the page over what `index.html` shows until then.
pub fn start() {
    panic::install();
    let Some(root) = document().get_element_by_id("page") else { return };
    root.set_text_content(None);
    mount_to(root.unchecked_into(), App).forget();
}

#[component]
fn App() -> impl IntoView {
    provide_context(State::start());
    view! {
        <Header />
        <main class="columns">
            <Inputs />
            <Results />
        </main>
    }
}
