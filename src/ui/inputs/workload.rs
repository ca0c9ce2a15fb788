//! Lengths and load.

use leptos::prelude::*;

use super::issues::Issues;
use super::quantity::QuantityInput;
use crate::config::{Field, Lengths, Load};
use crate::ui::state::State;
use crate::ui::state::quantity::{BATCH, CONCURRENCY, ISL, OSL};

#[component]
pub fn Workload() -> impl IntoView {
    let state = State::get();
    let batch =
        Memo::new(move |_| state.form.with(|form| matches!(form.scenario().workload.load, Load::Batch(_))));
    let size = move || {
        if batch.get() {
            view! { <QuantityInput quantity=&BATCH /> }.into_any()
        } else {
            view! { <QuantityInput quantity=&CONCURRENCY /> }.into_any()
        }
    };
    // A measured batch has a length for each prompt; the box shows their mean.
    let mixed = move || {
        state.form.with(|form| match &form.scenario().workload.isl {
            Lengths::Each(lengths) => {
                Some(format!("{} prompts of different lengths; this is their mean", lengths.len()))
            }
            Lengths::Fixed(_) => None,
        })
    };
    view! {
        <fieldset class="group">
            <legend>"Workload"</legend>
            <QuantityInput quantity=&ISL />
            {move || mixed().map(|text| view! { <p class="sum">{text}</p> })}
            <QuantityInput quantity=&OSL />
            <div class="choice" role="radiogroup" aria-labelledby="load-label">
                <span class="label" id="load-label">"Load"</span>
                <span class="segments">
                    <LoadKind id="load-concurrency" text="Clients" checked=Signal::derive(move || !batch.get()) load=Load::Concurrency />
                    <LoadKind id="load-batch" text="One batch" checked=batch.into() load=Load::Batch />
                </span>
            </div>
            <Issues fields=&[Field::Load] />
            {size}
        </fieldset>
    }
}

/// One kind of load; the size carries over.
#[component]
fn LoadKind(
    id: &'static str,
    text: &'static str,
    checked: Signal<bool>,
    load: fn(u32) -> Load,
) -> impl IntoView {
    let state = State::get();
    let choose = move |_| {
        state.choose(id, |form| {
            form.choose(Field::Load, |scenario| scenario.workload.load = load(scenario.workload.load.size()));
        })
    };
    view! {
        <input type="radio" name="load" id=id data-testid=id prop:checked=checked on:change=choose />
        <label for=id>{text}</label>
    }
}
