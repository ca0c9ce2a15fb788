//! Name, link, theme.

use leptos::prelude::*;

use super::copy::Copy;
use super::history::History;
use super::state::{State, ThemeChoice, frame};

#[component]
pub fn Header() -> impl IntoView {
    let state = State::get();
    view! {
        <header class="top">
            <h1>"Rooflight"</h1>
            <p class="tagline">"LLM serving speed, predicted in your browser"</p>
            {frame::view().is_none().then(|| view! { <History /> })}
            <Copy
                id="copy-link" label="Copy link" refused="See address bar"
                read=move || state.shared_address()
            />
            <Theme />
        </header>
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
                prop:checked=move || state.theme.get() == choice
                on:change=move |_| state.theme.set(choice)
            />
            <label for=id>{text}</label>
        }
    };
    let options = ThemeChoice::ALL.map(option).collect_view();
    view! { <div class="segments" role="radiogroup" aria-label="Theme">{options}</div> }
}
