//! Light, dark, or the system's theme. `static/boot/theme.js` applies the stored choice before the first paint,
//! `static/boot/embed/` the host page's request in a frame; this keeps it up to date.

use gloo::events::EventListener;
use gloo::utils::{document, window};
use leptos::prelude::*;
use strum::{EnumString, IntoStaticStr, VariantArray};
use wasm_bindgen::JsCast;

use crate::config::ids::ids;

/// Storage key, shared with `static/boot/theme.js`.
const KEY: &str = "rooflight-theme";

#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ThemeChoice {
    System,
    Light,
    Dark,
}

// The values of `data-theme`, and of the stored choice.
ids!(ThemeChoice);

/// The choice at start-up.
pub fn applied() -> ThemeChoice {
    let id = document().document_element().and_then(|root| root.get_attribute("data-theme"));
    id.and_then(|id| ThemeChoice::from_id(&id)).unwrap_or(ThemeChoice::System)
}

/// Applies the choice on change, and stores it if `store`; returns whether the page is dark.
pub fn watch(choice: RwSignal<ThemeChoice>, store: bool) -> Signal<bool> {
    let query = window().match_media("(prefers-color-scheme: dark)").ok().flatten();
    let system = RwSignal::new(query.as_ref().is_some_and(|query| query.matches()));
    if let Some(query) = query {
        let listener = EventListener::new(&query, "change", move |event| {
            let event: Option<&web_sys::MediaQueryListEvent> = event.dyn_ref();
            if let Some(event) = event {
                system.set(event.matches());
            }
        });
        listener.forget();
    }
    Effect::new(move |_| {
        let id = choice.get().id();
        if let Some(root) = document().document_element() {
            let _ = root.set_attribute("data-theme", id);
        }
        // Storage throws in a frame without an origin.
        if store && let Ok(Some(storage)) = window().local_storage() {
            let _ = storage.set_item(KEY, id);
        }
    });
    Signal::derive(move || match choice.get() {
        ThemeChoice::System => system.get(),
        ThemeChoice::Light => false,
        ThemeChoice::Dark => true,
    })
}
