//! Elements, and the clipboard.

use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, window};

/// How long a button says what became of the text.
const SAID_FOR_MS: i32 = 2_000;

/// # Panics
/// Where the page has no document, or refuses an element of HTML: then there is no page.
pub fn new(tag: &str, class: &str) -> Element {
    let document =
        window().and_then(|window| window.document()).expect("a module of the page has a document");
    let element = document.create_element(tag).expect("a tag of HTML");
    if !class.is_empty() {
        element.set_class_name(class);
    }
    element
}

/// With these attributes.
pub fn with(element: Element, attributes: &[(&str, &str)]) -> Element {
    for (name, value) in attributes {
        // Names are this module's own and valid.
        let _ = element.set_attribute(name, value);
    }
    element
}

/// With what it is found by, unless that is empty.
pub fn called(element: Element, id: &str) -> Element {
    if id.is_empty() { element } else { with(element, &[("data-testid", id)]) }
}

/// With this text.
pub fn put(element: Element, text: &str) -> Element {
    element.set_text_content(Some(text));
    element
}

pub fn append(parent: &Element, child: &Element) {
    // A fresh element fits in wherever it is put.
    let _ = parent.append_child(child);
}

/// Says what became of it.
pub fn button(name: &str) -> Element {
    put(with(new("button", "action"), &[("type", "button"), ("aria-live", "polite")]), name)
}

/// Copies `text`; `button` says for a while what became of it.
pub fn copy(text: &str, button: &Element) {
    let before = button.text_content();
    let say = |said: &'static str| {
        let button = button.clone();
        let before = before.clone();
        Closure::once_into_js(move || {
            button.set_text_content(Some(said));
            let back = Closure::once_into_js(move || button.set_text_content(before.as_deref()));
            if let Some(window) = window() {
                let _ = window
                    .set_timeout_with_callback_and_timeout_and_arguments_0(back.unchecked_ref(), SAID_FOR_MS);
            }
        })
    };
    let refused = say("Select it");
    // Browsers have no clipboard on pages that are not secure.
    let promise = clipboard().and_then(|clipboard| {
        let write: js_sys::Function =
            js_sys::Reflect::get(&clipboard, &"writeText".into()).ok()?.dyn_into().ok()?;
        write.call1(&clipboard, &text.into()).ok()?.dyn_into::<js_sys::Promise>().ok()
    });
    match promise {
        Some(promise) => {
            let then: js_sys::Function =
                js_sys::Reflect::get(&promise, &"then".into()).unwrap_or_default().unchecked_into();
            let _ = then.call2(&promise, &say("Copied"), &refused);
        }
        None => {
            let _ = refused.unchecked_ref::<js_sys::Function>().call0(&JsValue::NULL);
        }
    }
}

fn clipboard() -> Option<JsValue> {
    let navigator = window()?.navigator();
    let clipboard = js_sys::Reflect::get(&navigator, &"clipboard".into()).ok()?;
    (!clipboard.is_undefined()).then_some(clipboard)
}
