//! The kind of load.

use leptos::prelude::*;

use super::issues::Issues;
use crate::config::inputs::{Input, round};
use crate::config::{Field, Load};
use crate::ui::state::State;
use crate::units::significant;

#[component]
pub fn LoadKinds(input: &'static Input) -> impl IntoView {
    let kinds = Load::SIZES.map(|size| view! { <LoadKind size=size /> });
    view! {
        <div class="choice" role="radiogroup" aria-labelledby="load-label">
            <span class="label" id="load-label" title=input.help>{input.label}</span>
            <span class="segments">{Vec::from(kinds)}</span>
        </div>
        <Issues fields=&[Field::Load] />
    }
}

/// The kind of load whose size is this input.
#[component]
fn LoadKind(size: Field) -> impl IntoView {
    let state = State::get();
    let id = format!("load-{}", size.id());
    let label = if size == Field::Batch { "One batch" } else { size.input().label };
    let choose = move |_| {
        let number = |id| state.reading(id).map(|reading| reading.value);
        let (rate, running) = (number("requests"), number("running"));
        state.choose(size.id(), |form| {
            form.choose(Field::Load, |scenario| {
                scenario.workload.load = like(scenario.workload.load, size, rate, running);
            });
        });
    };
    let checked = move || state.form.with(|form| form.scenario().workload.load.size()) == size;
    view! {
        <input type="radio" name="load" id=id.clone() data-testid=id.clone() prop:checked=checked on:change=choose />
        <label for=id>{label}</label>
    }
}

/// A load of another kind that resembles `load` as answered: as many requests at once, or as many a second.
fn like(load: Load, size: Field, rate: Option<f64>, running: Option<f64>) -> Load {
    let at_once = || match load {
        Load::Concurrency(size) | Load::Batch(size) => size,
        Load::Rate(_) => running.map_or(16, |running| running.round().max(1.0) as u32),
    };
    match size {
        Field::Rate => {
            let rate = rate.unwrap_or(1.0);
            // Two digits are as much as one would type.
            Load::Rate(round(significant(rate, 2)).max(0.01))
        }
        Field::Batch => Load::Batch(at_once()),
        _ => Load::Concurrency(at_once()),
    }
}
