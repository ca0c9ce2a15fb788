//! The left column: the form. Its controls come from the table of inputs, group by group.

mod choice;
mod facts;
mod issues;
mod load;
mod number;
mod options;
mod own_text;
mod texts;

use leptos::ev::SubmitEvent;
use leptos::html::Details;
use leptos::prelude::*;

use crate::config::catalog::catalog;
use crate::config::inputs::{Group, Input};
use crate::config::{Field, Issue, Lengths, Scenario};
use crate::ui::state::State;
use choice::Choice;
use facts::Facts;
use issues::Issues;
pub use issues::issue_list;
use load::LoadKinds;
use number::NumberInput;
use own_text::OwnText;

/// Every control, in groups, in the order in which one thinks of a deployment.
#[component]
pub fn Inputs() -> impl IntoView {
    let state = State::get();
    // What the form has no control of is reported at its top.
    let elsewhere = move || {
        let beside = |field: &Field| *field == Field::Histogram || state.form.with(|form| form.shows(*field));
        let fields = Field::ALL.iter().filter(|field| !beside(field));
        fields.flat_map(|field| state.issues_of(*field)).collect()
    };
    view! {
        <form class="inputs" aria-label="Configuration" on:submit=|event: SubmitEvent| event.prevent_default()>
            {issue_list("link-issues".into(), elsewhere)}
            <button
                type="button" class="action finder" data-testid="find"
                on:click=move |_| state.search.update(|asked| *asked += 1)
            >
                "Search models, GPUs, workloads"<kbd>"/"</kbd>
            </button>
            <fieldset class="group"><legend>"Model"</legend>{controls(Group::Model)}</fieldset>
            <fieldset class="group"><legend>"System"</legend>{controls(Group::System)}</fieldset>
            <fieldset class="group">
                <legend>"Workload"</legend>
                {controls(Group::Workload)}
                <OwnText own=&texts::TRACE />
                <OwnText own=&texts::MEASURED />
            </fieldset>
            <Limits />
        </form>
    }
}

/// Settings that few change, in a fold that opens where one of them is wrong.
#[component]
fn Limits() -> impl IntoView {
    let state = State::get();
    let fold = NodeRef::<Details>::new();
    let wrong = Memo::new(move |_| {
        let mut inputs = Group::Limits.inputs().into_iter();
        inputs.any(|input| state.issues_of(input.field).iter().any(Issue::is_error))
    });
    Effect::new(move || {
        if let (true, Some(fold)) = (wrong.get(), fold.get()) {
            let _ = fold.set_attribute("open", "");
        }
    });
    view! {
        <details class="group" data-testid="advanced" node_ref=fold>
            <summary>"Engine limits, clock, price"</summary>
            {controls(Group::Limits)}
        </details>
    }
}

fn controls(group: Group) -> AnyView {
    let inputs = group.inputs().into_iter();
    inputs.map(|input| view! { {control(input)}{extras(input.field)} }).collect_view().into_any()
}

fn control(input: &'static Input) -> AnyView {
    if let Some(number) = &input.number {
        let state = State::get();
        // A memo, so that a box is not rendered anew while one types into it.
        let shown = Memo::new(move |_| state.form.with(|form| form.shows(input.field)));
        return (move || shown.get().then(|| view! { <NumberInput input=input number=number /> })).into_any();
    }
    match options::of(input.field) {
        Some(options) => view! { <Choice input=input options=options /> }.into_any(),
        None => view! { <LoadKinds input=input /> }.into_any(),
    }
}

/// What the form says or asks beside an input.
fn extras(field: Field) -> AnyView {
    let state = State::get();
    let sum = |of: fn(&Scenario) -> String| move || state.form.with(|form| of(form.scenario()));
    match field {
        Field::Model => view! {
            <Facts of=|scenario| scenario.model.record().map(facts::of_model) />
            <OwnText own=&texts::CONFIG_JSON />
        }
        .into_any(),
        Field::Gpu => {
            view! { <Facts of=|scenario| catalog().gpu(&scenario.gpu).map(facts::of_gpu) /> }.into_any()
        }
        Field::Gpus => view! { <p class="sum" data-testid="gpu-count">{sum(gpu_count)}</p> }.into_any(),
        Field::Isl => view! { <p class="sum">{sum(mixed)}</p> }.into_any(),
        Field::Osl => view! { <Issues fields=&[Field::Histogram] /> }.into_any(),
        _ => ().into_any(),
    }
}

fn gpu_count(scenario: &Scenario) -> String {
    match scenario.gpus() {
        1 => "1 GPU in all".into(),
        many => format!("{many} GPUs in all"),
    }
}

/// A measured batch has a length for each prompt, a histogram has many: the box shows their mean.
fn mixed(scenario: &Scenario) -> String {
    let bins = scenario.workload.histogram.len();
    match &scenario.workload.isl {
        _ if bins > 0 => format!("mean of a histogram with {bins} pairs of lengths"),
        Lengths::Each(lengths) => format!("mean of {} prompts of different lengths", lengths.len()),
        Lengths::Fixed(_) => String::new(),
    }
}
