//! A button that copies a text.

use gloo::timers::callback::Timeout;
use gloo::utils::window;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

/// How long the button shows the outcome.
const SHOWN_FOR_MS: u32 = 2_000;

/// `refused` says where else the text is, for browsers that refuse clipboard access.
#[component]
pub fn Copy(
    #[prop(into)] id: String,
    label: &'static str,
    refused: &'static str,
    read: impl Fn() -> String + 'static,
) -> impl IntoView {
    let shown = RwSignal::new(label);
    let copy = move |_| {
        let text = read();
        spawn_local(async move {
            let clipboard = window().navigator().clipboard();
            // Insecure pages have no clipboard, and browsers may refuse theirs.
            let copied =
                !clipboard.is_undefined() && JsFuture::from(clipboard.write_text(&text)).await.is_ok();
            shown.try_set(if copied { "Copied" } else { refused });
            let reset = move || {
                shown.try_set(label);
            };
            Timeout::new(SHOWN_FOR_MS, reset).forget();
        });
    };
    view! {
        <button type="button" class="action" data-testid=id on:click=copy>
            <span aria-live="polite">{move || shown.get()}</span>
        </button>
    }
}
