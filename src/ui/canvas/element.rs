//! Elements, and files to save.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Blob, Element, HtmlAnchorElement, Url, window};

/// After which a browser has begun to read a file to be saved.
const BEGUN_AFTER_MS: i32 = 2_000;

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

/// What the selector finds within `root`.
pub fn all(root: &Element, selector: &str) -> Vec<Element> {
    let Ok(found) = root.query_selector_all(selector) else { return Vec::new() };
    (0..found.length()).filter_map(|index| found.item(index)?.dyn_into().ok()).collect()
}

/// Says what became of it.
pub fn button(name: &str) -> Element {
    put(with(new("button", "action"), &[("type", "button"), ("aria-live", "polite")]), name)
}

/// Saves `content` as a file of this name; where the page may not, nothing happens.
pub fn save(file: &str, content: &Blob) {
    let Ok(url) = Url::create_object_url_with_blob(content) else { return };
    if let Ok(link) =
        with(new("a", ""), &[("href", &url), ("download", file)]).dyn_into::<HtmlAnchorElement>()
    {
        link.click();
    }
    let revoke = Closure::once_into_js(move || {
        let _ = Url::revoke_object_url(&url);
    });
    if let Some(window) = window() {
        let _ = window
            .set_timeout_with_callback_and_timeout_and_arguments_0(revoke.unchecked_ref(), BEGUN_AFTER_MS);
    }
}
