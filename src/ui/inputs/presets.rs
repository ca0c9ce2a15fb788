//! Buttons for typical workloads.

use leptos::prelude::*;

use crate::config::catalog::WORKLOADS;
use crate::ui::state::State;

pub fn presets(state: State) -> AnyView {
    let button = |&(id, name, isl, osl, cached, prompts): &(_, _, _, _, _, _)| {
        let choose = move |_| {
            state.choose("preset", |form| form.use_workload((isl, osl, cached), prompts));
        };
        view! {
            <button type="button" class="action" data-testid=format!("preset-{id}") on:click=choose>{name}</button>
        }
        .into_any()
    };
    let buttons: Vec<AnyView> = WORKLOADS.iter().map(button).collect();
    view! { <div class="presets" role="group" aria-label="Typical workloads">{buttons}</div> }.into_any()
}
