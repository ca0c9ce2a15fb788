//! Type-erased building blocks: every view type adds code of its own.

use leptos::prelude::*;
use web_sys::Event;

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
