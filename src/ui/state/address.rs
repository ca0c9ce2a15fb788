//! The scenario in the address: read at start-up and on navigation, written on every edit.

use gloo::events::EventListener;
use gloo::utils::window;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::{Form, State, frame};
use crate::config::Field;

/// The full address. The scenario is read from its fragment, and from its query for keys not in the fragment.
pub fn address() -> String {
    window().location().href().unwrap_or_default()
}

/// The form for the address. A frame has a link's defaults rather than the example.
pub fn form() -> Form {
    match frame::view() {
        Some(_) => Form::from_link(&address()),
        None => Form::opened(&address()),
    }
}

/// The fragment, without its `#`.
pub fn fragment() -> String {
    window().location().hash().unwrap_or_default().trim_start_matches('#').to_string()
}

/// The page's folder: its address without file, query and fragment.
pub fn page() -> String {
    let address = address();
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.rsplit_once('/').map_or(path, |(folder, _)| folder).to_owned() + "/"
}

/// Updates the form on back, forward, and edits of the address.
pub fn follow(state: State) {
    let listener = EventListener::new(&window(), "popstate", move |_| {
        // A form with issues holds more than its link: invalid text.
        if state.form.with_untracked(|form| form.link() != fragment() || !form.issues().is_empty()) {
            // Leftover issues of a pasted text are not about this configuration.
            state.texts.update(|texts| texts.retain(|issue| issue.field == Field::Vary));
            state.form.set(form());
            state.last_pushed.set_value(None);
        }
    });
    listener.forget();
}

/// Follows a link within the page: a fragment with its `#`.
pub fn open(link: &str) {
    // The browser reports this like a click on a link.
    let _ = window().location().set_hash(link);
}

/// Replaces the current history entry. `traced`: a trace stands in for the link's load.
pub fn replace(link: &str, traced: bool) {
    // Frames without an origin may be refused history access; the page works without.
    let _ = window()
        .history()
        .and_then(|history| history.replace_state_with_url(&note(traced), "", Some(&url(link))));
}

/// Adds a history entry; false if the address is unchanged, or the browser refuses.
pub fn push(link: &str, traced: bool) -> bool {
    if fragment() == link {
        return false;
    }
    window()
        .history()
        .is_ok_and(|history| history.push_state_with_url(&note(traced), "", Some(&url(link))).is_ok())
}

/// Kept with a history entry, which outlives a reload where a trace does not.
fn note(traced: bool) -> JsValue {
    if traced { JsValue::TRUE } else { JsValue::NULL }
}

/// Whether a trace replaced the load before the page was reloaded.
pub fn was_traced() -> bool {
    window().history().and_then(|history| history.state()).is_ok_and(|state| state.is_truthy())
}

/// The full address with this fragment.
fn url(link: &str) -> String {
    format!("#{link}")
}
