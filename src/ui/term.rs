//! A term that says what it means when it is pressed; `static/boot/press.js` shows it.

use leptos::prelude::*;

pub fn term(name: &'static str, help: &'static str) -> AnyView {
    view! { <button type="button" class="term" title=help>{name}</button> }.into_any()
}
