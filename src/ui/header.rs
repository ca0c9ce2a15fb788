//! Name, link, theme.

use gloo::timers::callback::Timeout;
use gloo::utils::window;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use super::erased::{flag, listen, text};
use super::state::{State, ThemeChoice};

/// How long the button says what became of the link.
const SAID_FOR_MS: u32 = 2_000;

#[component]
pub fn Header() -> impl IntoView {
    view! {
        <header class="top">
            <h1>"Rooflight"</h1>
            <p class="tagline">"LLM serving speed, predicted in your browser"</p>
            <CopyLink />
            <Theme />
        </header>
    }
}

#[component]
fn CopyLink() -> impl IntoView {
    let said = RwSignal::new("Copy link");
    let copy = listen(move |_| {
        spawn_local(async move {
            let href = window().location().href().unwrap_or_default();
            let copied = JsFuture::from(window().navigator().clipboard().write_text(&href)).await;
            // The address bar holds the same link where the browser refuses its clipboard.
            said.try_set(if copied.is_ok() { "Copied" } else { "See address bar" });
            Timeout::new(SAID_FOR_MS, move || {
                said.try_set("Copy link");
            })
            .forget();
        });
    });
    view! {
        <button type="button" class="action" data-testid="copy-link" on:click=copy>
            <span aria-live="polite">{text(move || said.get().to_string())}</span>
        </button>
    }
}

#[component]
fn Theme() -> impl IntoView {
    let state = State::get();
    let option = |choice: ThemeChoice| {
        let id = format!("theme-{}", choice.id());
        let text = match choice {
            ThemeChoice::System => "System",
            ThemeChoice::Light => "Light",
            ThemeChoice::Dark => "Dark",
        };
        view! {
            <input
                type="radio" name="theme" id=id.clone() data-testid=id.clone()
                prop:checked=flag(move || state.theme.get() == choice)
                on:change=listen(move |_| state.theme.set(choice))
            />
            <label for=id>{text}</label>
        }
    };
    let options = ThemeChoice::ALL.map(option).collect_view();
    view! { <div class="segments" role="radiogroup" aria-label="Theme">{options}</div> }
}
