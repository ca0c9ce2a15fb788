//! Buttons for typical workloads.

use leptos::prelude::*;

use crate::config::Field;
use crate::config::catalog::WORKLOADS;
use crate::ui::state::State;

pub fn presets(state: State) -> AnyView {
    let button = |&(id, name, isl, osl, cached, prompts): &(_, _, _, _, _, _)| {
        let choose = move |_| {
            state.choose("preset", |form| {
                form.set(Field::Isl, f64::from(isl));
                form.set(Field::Osl, f64::from(osl));
                form.set(Field::CachedShare, cached);
                if prompts > 0 {
                    form.set(Field::Offline, f64::from(prompts));
                }
            });
        };
        view! {
            <button type="button" class="action" data-testid=format!("preset-{id}") on:click=choose>{name}</button>
        }
        .into_any()
    };
    let buttons: Vec<AnyView> = WORKLOADS.iter().map(button).collect();
    view! { <div class="presets" role="group" aria-label="Typical workloads">{buttons}</div> }.into_any()
}
