//! A radio button and its label, shown as a segment of a row.

use leptos::prelude::*;

/// A button of `group`, found by `id` in the page and by tests. Its parts are boxed, so that all rows share this code.
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
