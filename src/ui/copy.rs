//! A button that copies a text.

use leptos::prelude::*;

use super::clipboard::copy;

/// `refused` says where else the text is, for browsers that refuse their clipboard.
#[component]
pub fn Copy(
    id: &'static str,
    label: &'static str,
    refused: &'static str,
    read: Box<dyn Fn() -> String>,
) -> impl IntoView {
    let said = RwSignal::new(label);
    let copy = move |_| {
        copy(read(), refused, move |words| {
            said.try_set(words.unwrap_or(label));
        });
    };
    view! {
        <button type="button" class="action" data-testid=id on:click=copy>
            <span aria-live="polite">{move || said.get().to_string()}</span>
        </button>
    }
}
