//! Parts that are put together from one type each: every other type of a view brings code of its own.

use leptos::prelude::*;
use web_sys::Event;

/// What is drawn anew when something that it reads changes.
pub fn renewed(view: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    let view: Box<dyn Fn() -> AnyView + Send> = Box::new(view);
    view.into_any()
}

/// A box to tick, or one of several buttons of which one is on; `kind` is `checkbox` or `radio`, `group` its name.
pub struct Tick {
    pub kind: &'static str,
    pub group: &'static str,
    pub id: String,
    pub text: String,
    pub on: Signal<bool>,
    pub changed: Box<dyn Fn()>,
}

impl Tick {
    pub fn view(self) -> AnyView {
        let Self { kind, group, id, text, on, changed } = self;
        let changed: Box<dyn Fn(Event)> = Box::new(move |_| changed());
        view! {
            <input type=kind name=group id=id.clone() data-testid=id.clone() prop:checked=on on:change=changed />
            <label for=id>{text}</label>
        }
        .into_any()
    }
}
