//! Engine and GPUs.

use leptos::prelude::*;

use super::choice::{Choice, Entry, Group};
use super::facts;
use super::model::{Facts, model_of};
use super::quantity::QuantityInput;
use crate::config::catalog::catalog;
use crate::config::{Arch, Field, Scenario};
use crate::serving::words;
use crate::ui::state::State;
use crate::ui::state::quantity::{DP, EP, PP, REPLICAS, TP};

/// Newest first, as people look for them.
const ARCHS: [Arch; 7] =
    [Arch::Blackwell, Arch::BlackwellRtx, Arch::Hopper, Arch::Ada, Arch::Ampere, Arch::Turing, Arch::Volta];

#[component]
pub fn Hardware() -> impl IntoView {
    let state = State::get();
    let experts = Memo::new(move |_| {
        state.form.with(|form| model_of(form.scenario()).is_some_and(|model| model.has_experts()))
    });
    let sharing = move || match experts.get() {
        true => view! { <QuantityInput quantity=&DP /><QuantityInput quantity=&EP /> }.into_any(),
        false => ().into_any(),
    };
    let count = move || state.form.with(|form| gpu_count(form.scenario()));
    view! {
        <fieldset class="group">
            <legend>"System"</legend>
            <Choice
                field=Field::Engine label="Engine" fields=&[Field::Engine] groups=engines
                chosen=|scenario| scenario.engine.clone()
                choose=|scenario, id| scenario.engine = id.into()
            />
            <Choice
                field=Field::Gpu label="GPU" fields=&[Field::Gpu] groups=gpus
                chosen=|scenario| scenario.gpu.clone()
                choose=|scenario, id| scenario.gpu = id.into()
            />
            <Facts of=|scenario| catalog().gpu(&scenario.gpu).map(facts::of_gpu) />
            <QuantityInput quantity=&TP />
            <QuantityInput quantity=&PP />
            {sharing}
            <QuantityInput quantity=&REPLICAS />
            <p class="sum" data-testid="gpu-count">{count}</p>
        </fieldset>
    }
}

fn gpu_count(scenario: &Scenario) -> String {
    match scenario.gpus_per_replica().saturating_mul(u64::from(scenario.replicas)) {
        1 => "1 GPU in all".into(),
        many => format!("{many} GPUs in all"),
    }
}

fn engines(_: &Scenario) -> Vec<Group> {
    let engines = catalog().engines.engines.iter();
    vec![(
        "",
        engines.map(|engine| Entry::new(&engine.id, format!("{} {}", engine.name, engine.version))).collect(),
    )]
}

fn gpus(_: &Scenario) -> Vec<Group> {
    let of = |arch: Arch| {
        let gpus = catalog().gpus.gpus.iter().filter(move |gpu| gpu.arch == arch);
        (words::arch(arch), gpus.map(|gpu| Entry::new(&gpu.id, &gpu.name)).collect::<Vec<_>>())
    };
    let mut groups = ARCHS.map(of).to_vec();
    groups.retain(|(_, entries)| !entries.is_empty());
    groups
}
