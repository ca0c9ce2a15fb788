//! Light, dark, or as the system says. `static/boot/theme.js` applies the stored choice before the
//! first paint; this keeps it.

use gloo::events::EventListener;
use gloo::utils::{document, window};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// The key of the stored choice; `static/boot/theme.js` reads the same.
const KEY: &str = "rooflight-theme";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThemeChoice {
    System,
    Light,
    Dark,
}

impl ThemeChoice {
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// The value of the `data-theme` attribute, and what is stored.
    pub fn id(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// The stored choice. Storage throws in a frame without an origin.
pub fn stored() -> ThemeChoice {
    let storage = window().local_storage().ok().flatten();
    let stored = storage.and_then(|storage| storage.get_item(KEY).ok().flatten());
    let known = |id: String| ThemeChoice::ALL.into_iter().find(|choice| choice.id() == id);
    stored.and_then(known).unwrap_or(ThemeChoice::System)
}

/// Applies and stores the choice whenever it changes; whether the page is dark.
pub fn watch(choice: RwSignal<ThemeChoice>) -> Signal<bool> {
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
        if let Ok(Some(storage)) = window().local_storage() {
            let _ = storage.set_item(KEY, id);
        }
    });
    Signal::derive(move || match choice.get() {
        ThemeChoice::System => system.get(),
        ThemeChoice::Light => false,
        ThemeChoice::Dark => true,
    })
}
