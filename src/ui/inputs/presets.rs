//! Buttons for typical workloads.

use leptos::prelude::*;

use crate::config::catalog::WORKLOADS;
use crate::config::{Field, Lengths, Load};
use crate::ui::state::State;

pub fn presets(state: State) -> AnyView {
    let button = |&(id, name, isl, osl, cached, prompts): &(_, _, _, _, _, _)| {
        let choose = move |_| {
            let change = |workload: &mut crate::config::Workload| {
                workload.leave_histogram();
                (workload.isl, workload.osl, workload.cached_share) = (Lengths::Fixed(isl), osl, cached);
                if prompts > 0 {
                    workload.load = Load::Offline(prompts);
                }
            };
            state.choose("preset", |form| {
                form.choose(Field::Isl, |scenario| change(&mut scenario.workload));
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
