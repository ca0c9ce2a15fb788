//! Preserves the focus, and what a pointer is pressing, when a document is re-rendered.

use gloo::timers::callback::Timeout;
use gloo::utils::document;
use leptos::ev::{pointercancel, pointerdown, pointerup};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, FocusOptions, HtmlElement, Node};

/// Maximum delay of a click after the pointer is lifted: by touch it is a separate event.
const CLICK_MS: u32 = 50;

/// Whether something within `root` is being pressed.
pub fn pressed(root: NodeRef<Div>) -> RwSignal<bool> {
    let pressed = RwSignal::new(false);
    let lifted = StoredValue::new_local(None);
    let down = window_event_listener(pointerdown, move |event| {
        let on = event.target().and_then(|target| target.dyn_into::<Node>().ok());
        let within = root.try_get_untracked().flatten().is_some_and(|root| root.contains(on.as_ref()));
        lifted.set_value(None);
        pressed.set(within);
    });
    let lift = move |_| {
        if pressed.get_untracked() {
            lifted.set_value(Some(Timeout::new(CLICK_MS, move || {
                pressed.try_set(false);
            })));
        }
    };
    let (up, cancel) = (window_event_listener(pointerup, lift), window_event_listener(pointercancel, lift));
    on_cleanup(move || [down, up, cancel].into_iter().for_each(|listener| listener.remove()));
    pressed
}

/// A focused element, by its tag, id and text.
#[derive(Debug, Clone)]
pub struct Focus {
    tag: String,
    id: String,
    words: Option<String>,
}

impl Focus {
    pub fn of(element: &Element) -> Self {
        Self { tag: element.tag_name(), id: element.id(), words: element.text_content() }
    }

    /// Focuses the element with the same text, unless it has the focus or the visitor moved it.
    pub fn restore(&self, root: &Element) {
        let reads = |element: &Element| {
            element.tag_name() == self.tag && element.id() == self.id && element.text_content() == self.words
        };
        // The body has it if the focused element is gone.
        let lost =
            |active: &Element| active.tag_name() == "BODY" || root.contains(Some(active)) && !reads(active);
        if !document().active_element().as_ref().is_none_or(lost) {
            return;
        }
        let Ok(found) = root.query_selector_all(&self.tag) else { return };
        let all = (0..found.length()).filter_map(|index| found.item(index)?.dyn_into::<Element>().ok());
        if let Some(element) = all.filter(reads).find_map(|element| element.dyn_into::<HtmlElement>().ok()) {
            let options = FocusOptions::new();
            options.set_prevent_scroll(true);
            // An element that cannot be focused stays unfocused.
            let _ = element.focus_with_options(&options);
        }
    }
}

/// Scrolls to the fold with this id, and focuses it.
pub fn bring_into_view(id: &str) {
    let Some(fold) = document().get_element_by_id(id) else { return };
    fold.scroll_into_view();
    if let Some(summary) = fold.first_element_child().and_then(|child| child.dyn_into::<HtmlElement>().ok()) {
        let _ = summary.focus();
    }
}
