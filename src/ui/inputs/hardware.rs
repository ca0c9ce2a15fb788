//! Engine and GPUs.

use leptos::prelude::*;

use super::choice::{Choice, Entry, Group};
use super::facts;
use super::model::FactList;
use super::quantity::QuantityInput;
use crate::config::catalog::catalog;
use crate::config::{Arch, Field};
use crate::ui::state::State;
use crate::ui::state::quantity::{PP, REPLICAS, TP};
use crate::ui::words;

/// Newest first, as people look for them.
const ARCHS: [Arch; 7] =
    [Arch::Blackwell, Arch::BlackwellRtx, Arch::Hopper, Arch::Ada, Arch::Ampere, Arch::Turing, Arch::Volta];

#[component]
pub fn Hardware() -> impl IntoView {
    let state = State::get();
    let gpu = Memo::new(move |_| state.form.with(|form| form.scenario().gpu.clone()));
    let facts = move || gpu.with(|id| catalog().gpu(id).map(facts::of_gpu)).unwrap_or_default();
    let gpus = move || {
        state.form.with(|form| {
            let scenario = form.scenario();
            u64::from(scenario.tp) * u64::from(scenario.pp) * u64::from(scenario.replicas)
        })
    };
    view! {
        <fieldset class="group">
            <legend>"System"</legend>
            <Choice
                field=Field::Engine label="Engine" fields=&[Field::Engine] groups=engines()
                chosen=|scenario| scenario.engine.clone()
                choose=|scenario, id| scenario.engine = id.into()
            />
            <Choice
                field=Field::Gpu label="GPU" fields=&[Field::Gpu] groups=gpu_groups()
                chosen=|scenario| scenario.gpu.clone()
                choose=|scenario, id| scenario.gpu = id.into()
            />
            <FactList facts=Signal::derive(facts) />
            <QuantityInput quantity=&TP />
            <QuantityInput quantity=&PP />
            <QuantityInput quantity=&REPLICAS />
            <p class="sum" data-testid="gpu-count">
                {move || match gpus() { 1 => "1 GPU in all".to_string(), many => format!("{many} GPUs in all") }}
            </p>
        </fieldset>
    }
}

fn engines() -> Vec<Group> {
    let engines = catalog().engines.engines.iter();
    vec![(
        "",
        engines.map(|engine| Entry::new(&engine.id, format!("{} {}", engine.name, engine.version))).collect(),
    )]
}

fn gpu_groups() -> Vec<Group> {
    let of = |arch: Arch| {
        let gpus = catalog().gpus.gpus.iter().filter(move |gpu| gpu.arch == arch);
        (words::arch(arch), gpus.map(|gpu| Entry::new(&gpu.id, &gpu.name)).collect::<Vec<_>>())
    };
    ARCHS.map(of).into_iter().filter(|(_, entries)| !entries.is_empty()).collect()
}
