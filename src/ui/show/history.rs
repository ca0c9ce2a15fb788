//! Undo, redo, and the configurations looked at last.
//!
//! The page keeps its configuration in the address. Each one that stands for a moment is noted here; going back or
//! forth sets the address, which the page follows.

mod past;
mod recent;

use std::cell::RefCell;

use gloo::events::{EventListener, EventListenerOptions};
use leptos::prelude::*;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, Event, KeyboardEvent, Window, window};

use crate::ui::canvas::element::{append, new, put, with};
use crate::ui::state::State;
use past::Past;
pub use recent::section;

/// A configuration that stands this long was looked at.
const LOOKED_AT_MS: i32 = 4_000;

thread_local! {
    static PAST: RefCell<Past> = RefCell::default();
    static TIMER: RefCell<Option<i32>> = const { RefCell::new(None) };
}

/// Puts the buttons into the header, and listens to their keys. What stands in the address is the beginning.
pub fn install(window: &Window, state: State) {
    let Some(document) = window.document() else { return };
    let Ok(Some(tagline)) = document.query_selector(".top .tagline") else { return };
    let group = with(new("span", "history"), &[("role", "group"), ("aria-label", "History")]);
    for (id, name, sign, keys) in
        [("undo", "Undo", "\u{21b6}", "Control+Z"), ("redo", "Redo", "\u{21b7}", "Control+Shift+Z")]
    {
        let attributes = [
            ("type", "button"),
            ("data-testid", id),
            ("data-history", id),
            ("aria-label", name),
            ("aria-keyshortcuts", keys),
            ("title", name),
        ];
        append(&group, &put(with(new("button", "action"), &attributes), sign));
    }
    let _ = tagline.after_with_node_1(&group);
    listen(window, "click", |event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        if let Some(Ok(Some(button))) = target.map(|target| target.closest("[data-history]")) {
            travel(button.get_attribute("data-history").as_deref() == Some("undo"));
        }
    });
    listen(window, "keydown", key);
    Effect::new(move |_| {
        state.form.track();
        note();
    });
}

/// As long as the page lives.
fn listen(to: &Window, event: &'static str, hear: fn(&Event)) {
    EventListener::new_with_options(to, event, EventListenerOptions::enable_prevent_default(), hear).forget();
}

/// Keys of a text are its own.
fn key(event: &Event) {
    let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
    let undo = match key.key().as_str() {
        "z" => !key.shift_key(),
        "Z" | "y" => false,
        _ => return,
    };
    if (key.ctrl_key() || key.meta_key()) && !super::is_writing(event) {
        event.prevent_default();
        travel(undo);
    }
}

fn link() -> Option<String> {
    Some(window()?.location().hash().ok()?.trim_start_matches('#').to_owned())
}

/// Takes down the configuration in the address.
fn note() {
    let Some(link) = link() else { return };
    PAST.with_borrow_mut(|past| past.note(&link, js_sys::Date::now()));
    offer();
    remember_later();
}

fn travel(undo: bool) {
    note();
    let to = PAST.with_borrow_mut(|past| if undo { past.back() } else { past.forth() });
    if let (Some(to), Some(window)) = (to, window()) {
        // The page hears of it as of any change of the address.
        let _ = window.location().set_hash(&to);
    }
    offer();
}

/// The buttons of what can be done.
fn offer() {
    let Some(document) = window().and_then(|window| window.document()) else { return };
    let (back, forth) = PAST.with_borrow(|past| (past.has_before(), past.has_after()));
    for (id, can) in [("undo", back), ("redo", forth)] {
        if let Ok(Some(button)) = document.query_selector(&format!("[data-history={id}]")) {
            // Not `disabled`: a button that has the focus would lose it.
            with(button, &[("aria-disabled", if can { "false" } else { "true" })]);
        }
    }
}

/// Once it has stood for a while.
fn remember_later() {
    let Some(window) = window() else { return };
    let due = Closure::once_into_js(move || {
        if let Some(link) = link() {
            recent::remember(&link);
        }
        JsValue::UNDEFINED
    });
    TIMER.with_borrow_mut(|timer| {
        if let Some(timer) = timer.take() {
            window.clear_timeout_with_handle(timer);
        }
        *timer = window
            .set_timeout_with_callback_and_timeout_and_arguments_0(due.unchecked_ref(), LOOKED_AT_MS)
            .ok();
    });
}
