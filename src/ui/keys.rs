//! Keys of the page versus keys of text fields.

use leptos::ev::KeyboardEvent;
use wasm_bindgen::JsCast;
use web_sys::Element;

pub fn is_shortcut(event: &KeyboardEvent) -> bool {
    event.ctrl_key() || event.meta_key()
}

/// Whether the key belongs to a text field.
pub fn is_writing(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    target.is_some_and(|target| {
        matches!(target.closest("input:not([type=radio]):not([type=range]), textarea, select"), Ok(Some(_)))
    })
}
