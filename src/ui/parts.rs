//! Building blocks that views share, type-erased: every view type adds code of its own. Also what they ask of events.

use gloo::utils::window;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CustomEvent, CustomEventInit, Element, Event, EventTarget};

/// A view re-rendered when a signal it reads changes.
pub fn renewed(view: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    let view: Box<dyn Fn() -> AnyView + Send> = Box::new(view);
    view.into_any()
}

/// A checkbox.
pub struct Tick {
    pub id: String,
    pub text: String,
    pub on: Signal<bool>,
    /// Whether the checkbox cannot be changed.
    pub fixed: Signal<bool>,
    pub changed: Box<dyn Fn()>,
}

impl Tick {
    pub fn view(self) -> AnyView {
        let Self { id, text, on, fixed, changed } = self;
        let changed: Box<dyn Fn(Event)> = Box::new(move |_| changed());
        view! {
            <input type="checkbox" id=id.clone() data-testid=id.clone() prop:checked=on prop:disabled=fixed on:change=changed />
            <label for=id>{text}</label>
        }
        .into_any()
    }
}

/// A term that shows its definition when pressed, through `static/boot/press.js`.
pub fn term(name: String, help: String) -> AnyView {
    view! { <button type="button" class="term" title=help>{name}</button> }.into_any()
}

/// A radio button of `group` and its label, a segment of a row. The page and tests find it by `id`. Its parts are boxed, so that
/// all rows share this code.
pub fn radio(
    group: &'static str,
    id: String,
    label: impl Into<String>,
    checked: impl Fn() -> bool + Send + Sync + 'static,
    choose: impl Fn() + 'static,
) -> AnyView {
    labelled(group, id, label.into().into_any(), Box::new(checked), Box::new(choose))
}

/// The same with a label of several parts.
pub fn labelled(
    group: &'static str,
    id: String,
    label: AnyView,
    checked: Box<dyn Fn() -> bool + Send + Sync>,
    choose: Box<dyn Fn()>,
) -> AnyView {
    view! {
        <input
            type="radio" name=group id=id.clone() data-testid=id.clone()
            prop:checked=checked on:change=move |_| choose()
        />
        <label for=id>{label}</label>
    }
    .into_any()
}

/// Radio buttons as one control.
pub fn segments(class: &'static str, label: &'static str, buttons: Vec<AnyView>) -> AnyView {
    view! { <div class=format!("segments {class}") role="radiogroup" aria-label=label>{buttons}</div> }
        .into_any()
}

pub fn is_shortcut(event: &KeyboardEvent) -> bool {
    event.ctrl_key() || event.meta_key()
}

/// Whether the key belongs to a text field.
pub fn is_writing(event: &KeyboardEvent) -> bool {
    const FIELDS: &str = "input:not([type=radio]):not([type=range]), textarea, select";
    closest(event.target(), FIELDS).is_some()
}

/// The element that `selector` selects around an event's `target`.
pub fn closest(target: Option<EventTarget>, selector: &str) -> Option<Element> {
    target?.dyn_into::<Element>().ok()?.closest(selector).ok()?
}

/// Dispatches an event on the window, for scripts outside this instance.
pub fn dispatch(name: &str, detail: &JsValue) {
    let init = CustomEventInit::new();
    init.set_detail(detail);
    if let Ok(event) = CustomEvent::new_with_event_init_dict(name, &init) {
        let _ = window().dispatch_event(&event);
    }
}
