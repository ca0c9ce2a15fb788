//! Model, weights and KV cache.

use leptos::prelude::*;

use super::choice::{Choice, Entry, Group};
use super::config_json::CONFIG_JSON;
use super::facts::{self, Fact};
use super::own_text::OwnText;
use crate::config::catalog::catalog;
use crate::config::{Dtype, Field, Model, ModelChoice, Scenario, check};
use crate::serving::words;
use crate::ui::state::State;

/// The weights' entry for the model's own format.
const PUBLISHED: &str = "";

#[component]
pub fn ModelInputs() -> impl IntoView {
    view! {
        <fieldset class="group">
            <legend>"Model"</legend>
            <Choice
                field=Field::Model label="Model" fields=&[Field::Model] groups=models
                chosen=|scenario| scenario.model.id().to_string()
                choose=choose_model
            />
            <Facts of=|scenario| model_of(scenario).map(|model| facts::of_model(&model)) />
            <OwnText own=&CONFIG_JSON />
            <Choice
                field=Field::Weights label="Weights" fields=&[Field::Weights] groups=weights
                chosen=|scenario| scenario.weights.map_or(PUBLISHED, Dtype::id).to_string()
                choose=|scenario, id| scenario.weights = Dtype::from_id(id)
            />
            <Choice
                field=Field::Kv label="KV cache" fields=&[Field::Kv] groups=kv_formats
                chosen=|scenario| scenario.kv.id().to_string()
                choose=|scenario, id| scenario.kv = Dtype::from_id(id).unwrap_or(scenario.kv)
            />
        </fieldset>
    }
}

/// Facts of a choice, in a line that wraps.
#[component]
pub fn Facts(of: fn(&Scenario) -> Option<Vec<Fact>>) -> impl IntoView {
    let state = State::get();
    let entries = move || facts::entries(state.form.with(|form| of(form.scenario())).unwrap_or_default());
    view! { <dl class="facts">{entries}</dl> }
}

pub(super) fn model_of(scenario: &Scenario) -> Option<Model> {
    match &scenario.model {
        ModelChoice::Catalog(id) => catalog().model(id).cloned(),
        ModelChoice::Custom(model) => Some((**model).clone()),
    }
}

/// Choosing the entry of one's own model keeps it.
fn choose_model(scenario: &mut Scenario, id: &str) {
    if scenario.model.id() != id {
        scenario.model = ModelChoice::Catalog(id.into());
    }
}

fn models(scenario: &Scenario) -> Vec<Group> {
    let models = &catalog().models;
    let mut groups: Vec<Group> = Vec::new();
    if let ModelChoice::Custom(model) = &scenario.model {
        groups.push(("Your config.json", vec![Entry::new(&model.id, &model.name)]));
    }
    for (title, experts) in [("Dense", false), ("Mixture of experts", true)] {
        let of = models.models.iter().filter(|model| model.has_experts() == experts);
        groups.push((title, of.map(|model| Entry::new(&model.id, short(&model.name))).collect()));
    }
    let refused =
        |id: &str, name: &str, reason: &str| Entry::refused(id, format!("{}: {reason}", short(name)));
    let refused = models.refused.iter().map(|model| refused(&model.id, &model.name, &model.reason));
    groups.push(("Not predicted yet", refused.collect()));
    groups.retain(|(_, entries)| !entries.is_empty());
    groups
}

/// The name first, as lists are scanned by it: `Qwen3-32B (Qwen)`.
fn short(name: &str) -> String {
    match name.split_once('/') {
        Some((organisation, name)) => format!("{name} ({organisation})"),
        None => name.to_string(),
    }
}

/// The formats linear layers can be stored in: what the model was published in, and what this build
/// counts.
fn weights(scenario: &Scenario) -> Vec<Group> {
    let published = match model_of(scenario) {
        Some(model) => format!("As published ({})", words::dtype(model.weights)),
        None => "As published".to_string(),
    };
    let mut entries = vec![Entry::new(PUBLISHED, published)];
    let formats = model_of(scenario).map_or(&[][..], |model| check::weight_formats(&model));
    entries.extend(formats.iter().map(|dtype| Entry::new(dtype.id(), words::dtype(*dtype))));
    vec![("", entries)]
}

fn kv_formats(_: &Scenario) -> Vec<Group> {
    vec![("", [Dtype::Bf16, Dtype::Fp8].map(|dtype| Entry::new(dtype.id(), words::dtype(dtype))).to_vec())]
}
