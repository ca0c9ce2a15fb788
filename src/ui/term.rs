//! A term that shows its definition when pressed, through `static/boot/press.js`.

use leptos::prelude::*;

pub fn term(name: String, help: String) -> AnyView {
    view! { <button type="button" class="term" title=help>{name}</button> }.into_any()
}
