//! The left column: the form. Its controls are generated from the table of inputs, by group.

mod choice;
mod facts;
mod fold;
pub mod issues;
mod load;
mod number;
mod options;
mod own_runs;
mod own_text;
mod picker;
mod texts;
mod varies;

use crate::config::names::last_part;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use crate::config::catalog::{Offered, WORKLOADS, catalog};
use crate::config::inputs::{Form, FormGroup, Input};
use crate::config::link::SearchSpace;
use crate::config::{Field, Lengths, Scenario};
use crate::study::words;
use crate::ui::parts::renewed;
use crate::ui::state::State;
use choice::Choice;
use facts::Facts;
use fold::fold;
use issues::Issues;
pub use issues::issue_list;
use load::LoadKinds;
use number::NumberInput;
use own_runs::OwnRuns;
use own_text::OwnText;
use varies::varies;

/// All controls, in groups: common ones first, the rest in folds.
#[component]
pub fn Inputs() -> impl IntoView {
    let state = State::get();
    // Issues without a control are listed at the top.
    let elsewhere = move || {
        let beside = |field: &Field| {
            *field == Field::Histogram || state.form.with(|form| form.shows(*field) || form.seeks(*field))
        };
        let fields = Field::ALL.iter().filter(|field| !beside(field));
        fields.flat_map(|field| state.issues_of(*field)).collect()
    };
    let group = |name: &'static str, content: AnyView| {
        view! { <fieldset class="group"><legend>{name}</legend>{content}</fieldset> }.into_any()
    };
    let load = view! {
        {presets(state)}
        {controls(FormGroup::Workload)}
        <OwnText own=&texts::TRACE />
        <OwnText own=&texts::MEASURED />
        <OwnRuns />
    };
    view! {
        <button
            type="button" class="action configure" data-testid="configure" aria-expanded="false"
        >
            <span>{move || in_words(state)}</span>
        </button>
        <form class="inputs" aria-label="Configuration" on:submit=|event: SubmitEvent| event.prevent_default()>
            {issue_list("link-issues".into(), elsewhere)}
            {group("Model", controls(FormGroup::Model))}
            {group("GPU", view! { {controls(FormGroup::Gpu)}{varies()} }.into_any())}
            {group("Load", load.into_any())}
            {group("Limits", controls(FormGroup::Slos))}
            {renewed(move || if state.finding.get() { ().into_any() } else { system(state) })}
            {fold(state, FormGroup::Requests, "requests", "Request details")}
            {fold(state, FormGroup::Rates, "rates", "Clock and price")}
        </form>
    }
}

/// Inputs that a configuration has and a search chooses.
fn system(state: State) -> AnyView {
    view! {
        {fold(state, FormGroup::Layout, "layout", "Layout")}
        {fold(state, FormGroup::Formats, "formats", "Formats")}
        {fold(state, FormGroup::Engine, "engine", "Engine")}
        {fold(state, FormGroup::Hardware, "hardware", "GPU specs")}
        {fold(state, FormGroup::Architecture, "architecture", "Model sizes")}
    }
    .into_any()
}

/// Buttons for typical workloads.
fn presets(state: State) -> AnyView {
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

/// `Qwen3-32B on 2 × H100 SXM, vLLM: 32 clients, 1024 in, 512 out`.
pub fn in_words(state: State) -> String {
    state.form.with(|form| of_form(form, state.finding.get()))
}

fn of_form(form: &Form, finding: bool) -> String {
    let scenario = form.scenario();
    let workload = &scenario.workload;
    let name = scenario.model.record().map_or(scenario.model.id(), |model| &model.name);
    let model = last_part(name);
    let gpu = catalog().gpu(&scenario.gpu).map_or(&*scenario.gpu, |gpu| &gpu.name);
    let engine = Offered::of(&scenario.engine).map_or(&*scenario.engine, |engine| &engine.name);
    let (prompt, output) = (form.text(Field::Isl.input()), form.text(Field::Osl.input()));
    let hours = form.hours();
    let load = if hours.is_empty() { words::load(workload.load) } else { words::day(&hours) };
    let gpus = scenario.gpus();
    // In Find mode the hardware is to be found; a frame shows the form's.
    if finding {
        return format!("{model}: {load}, {prompt} in, {output} out");
    }
    format!("{model} on {gpus} × {gpu}, {engine}: {load}, {prompt} in, {output} out")
}

fn controls(group: FormGroup) -> AnyView {
    let inputs = group.inputs().into_iter();
    inputs.map(unless_chosen).collect_view().into_any()
}

/// Hidden if a search chooses it.
fn unless_chosen(input: &'static Input) -> AnyView {
    let state = State::get();
    let parts = move || view! { {control(input)}{extras(input.field)} }.into_any();
    match SearchSpace::chooses(input.field) {
        true => renewed(move || if state.finding.get() { ().into_any() } else { parts() }),
        false => parts(),
    }
}

fn control(input: &'static Input) -> AnyView {
    if let Some(number) = &input.number {
        let state = State::get();
        // A memo, so that a box is not re-rendered while being typed into.
        let shown = Memo::new(move |_| state.form.with(|form| form.shows(input.field)));
        return (move || shown.get().then(|| view! { <NumberInput input=input number=number /> })).into_any();
    }
    match options::of(input.field) {
        Some(options) => view! { <Choice input=input options=options /> }.into_any(),
        None => view! { <LoadKinds input=input /> }.into_any(),
    }
}

/// Additional texts or controls next to an input.
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
            let of = |scenario: &Scenario| {
                catalog().gpu(&scenario.gpu).map(|gpu| facts::of_gpu(&scenario.spec.apply(gpu)))
            };
            view! { <Facts of=of /> }.into_any()
        }
        Field::Gpus => view! { <p class="sum" data-testid="gpu-count">{sum(gpu_count)}</p> }.into_any(),
        Field::Isl => view! { <p class="sum">{sum(mixed)}</p> }.into_any(),
        Field::Osl => view! { <Issues fields=&[Field::Histogram] /> }.into_any(),
        _ => ().into_any(),
    }
}

/// All GPUs; nothing if that is the tensor-parallel degree above.
fn gpu_count(scenario: &Scenario) -> String {
    let all = scenario.gpus();
    if all == scenario.parallel.tp { String::new() } else { format!("{all} GPUs in all") }
}

/// What the box contains instead of one length: a batch may have one length per prompt, and for a histogram it shows
/// the mean.
fn mixed(scenario: &Scenario) -> String {
    let bins = scenario.workload.histogram.len();
    match &scenario.workload.isl {
        _ if bins > 0 => format!("mean of a histogram with {bins} pairs of lengths"),
        Lengths::Each(lengths) => words::prompts(lengths),
        Lengths::Fixed(_) => String::new(),
    }
}
