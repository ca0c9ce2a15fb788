//! Undo, redo, and recently viewed configurations.
//!
//! The page keeps its configuration in the address. Each one that stays for a moment is recorded here; going back
//! or forward sets the address, which the page follows, and the trace, which a link does not hold.

mod past;
pub mod recent;

use gloo::timers::callback::Timeout;
use gloo::utils::document;
use leptos::ev::{KeyboardEvent, keydown};
use leptos::prelude::*;

use super::parts::{is_shortcut, is_writing};
use super::state::{State, address};
use past::Past;

/// A configuration shown this long counts as viewed.
const LOOKED_AT_MS: u32 = 4_000;

/// The id of the focused field.
fn typed_into() -> String {
    document()
        .active_element()
        .filter(|field| field.tag_name() == "INPUT")
        .map(|field| field.id())
        .unwrap_or_default()
}

/// The buttons, and their keys.
#[component]
pub fn History() -> impl IntoView {
    let state = State::get();
    let past = RwSignal::new(Past::default());
    let timer = StoredValue::new_local(None);
    Effect::new(move |_| {
        state.form.track();
        let now = (address::fragment(), state.trace.get());
        past.update(|past| past.note(now, &typed_into(), js_sys::Date::now()));
        let remember = move || state.form.with_untracked(|form| recent::remember(form.scenario()));
        timer.set_value(Some(Timeout::new(LOOKED_AT_MS, remember)));
    });
    let travel = move |undo: bool| {
        let to = past.try_update(|past| if undo { past.back() } else { past.forth() }).flatten();
        if let Some(to) = to {
            state.travel(to);
        }
    };
    let listener = window_event_listener(keydown, move |event: KeyboardEvent| {
        let undo = match event.key().as_str() {
            "z" | "Z" => !event.shift_key(),
            "y" | "Y" => false,
            _ => return,
        };
        // Text fields handle their own keys.
        if is_shortcut(&event) && !is_writing(&event) {
            event.prevent_default();
            travel(undo);
        }
    });
    on_cleanup(move || listener.remove());
    let button = move |undo: bool, name: &'static str, sign: &'static str, keys: &'static str| {
        // Not `disabled`: a focused button would lose the focus.
        let disabled =
            move || past.with(|past| if undo { !past.has_before() } else { !past.has_after() }).to_string();
        view! {
            <button
                type="button" class="action" data-testid=name.to_ascii_lowercase() title=name aria-label=name
                aria-keyshortcuts=keys aria-disabled=disabled on:click=move |_| travel(undo)
            >{sign}</button>
        }
    };
    view! {
        <span class="history" role="group" aria-label="History">
            {button(true, "Undo", "\u{21b6}", "Control+Z")}
            {button(false, "Redo", "\u{21b7}", "Control+Shift+Z")}
        </span>
    }
}
