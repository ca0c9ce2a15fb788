//! Lengths and load.

use leptos::prelude::*;

use super::issues::Issues;
use super::quantity::QuantityInput;
use crate::config::{Field, Lengths, Load, Scenario};
use crate::ui::erased::{flag, listen, part, text};
use crate::ui::state::State;
use crate::ui::state::quantity::{BATCH, CONCURRENCY, ISL, OSL};

#[component]
pub fn Workload() -> impl IntoView {
    let state = State::get();
    // A memo, so that the box below is not rebuilt while one types into it.
    let batch = Memo::new(move |_| state.form.with(|form| is_batch(form.scenario())));
    let size = part(move || match batch.get() {
        true => view! { <QuantityInput quantity=&BATCH /> }.into_any(),
        false => view! { <QuantityInput quantity=&CONCURRENCY /> }.into_any(),
    });
    view! {
        <fieldset class="group">
            <legend>"Workload"</legend>
            <QuantityInput quantity=&ISL />
            <p class="sum">{text(move || state.form.with(|form| mixed(form.scenario())))}</p>
            <QuantityInput quantity=&OSL />
            <div class="choice" role="radiogroup" aria-labelledby="load-label">
                <span class="label" id="load-label">"Load"</span>
                <span class="segments">
                    <LoadKind id="load-concurrency" label="Clients" batch=false load=Load::Concurrency />
                    <LoadKind id="load-batch" label="One batch" batch=true load=Load::Batch />
                </span>
            </div>
            <Issues fields=&[Field::Load] />
            {size}
        </fieldset>
    }
}

fn is_batch(scenario: &Scenario) -> bool {
    matches!(scenario.workload.load, Load::Batch(_))
}

/// A measured batch has a length for each prompt; the box shows their mean.
fn mixed(scenario: &Scenario) -> String {
    match &scenario.workload.isl {
        Lengths::Each(lengths) => {
            format!("{} prompts of different lengths; this is their mean", lengths.len())
        }
        Lengths::Fixed(_) => String::new(),
    }
}

/// One kind of load; the size carries over.
#[component]
fn LoadKind(id: &'static str, label: &'static str, batch: bool, load: fn(u32) -> Load) -> impl IntoView {
    let state = State::get();
    let choose = listen(move |_| {
        state.choose(id, |form| {
            form.choose(Field::Load, |scenario| scenario.workload.load = load(scenario.workload.load.size()));
        });
    });
    let checked = flag(move || state.form.with(|form| is_batch(form.scenario())) == batch);
    view! {
        <input type="radio" name="load" id=id data-testid=id prop:checked=checked on:change=choose />
        <label for=id>{label}</label>
    }
}
