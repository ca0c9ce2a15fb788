//! A button that copies a text.

use gloo::timers::callback::Timeout;
use gloo::utils::window;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use super::erased::{listen, text};

/// How long the button says what became of the text.
const SAID_FOR_MS: u32 = 2_000;

/// `refused` says where else the text is, for browsers that refuse their clipboard.
#[component]
pub fn Copy(
    id: &'static str,
    label: &'static str,
    refused: &'static str,
    read: Box<dyn Fn() -> String>,
) -> impl IntoView {
    let said = RwSignal::new(label);
    let copy = listen(move |_| {
        let content = read();
        spawn_local(async move {
            let copied = JsFuture::from(window().navigator().clipboard().write_text(&content)).await;
            said.try_set(if copied.is_ok() { "Copied" } else { refused });
            Timeout::new(SAID_FOR_MS, move || {
                said.try_set(label);
            })
            .forget();
        });
    });
    view! {
        <button type="button" class="action" data-testid=id on:click=copy>
            <span aria-live="polite">{text(move || said.get().to_string())}</span>
        </button>
    }
}
