//! Rarely used settings in a fold whose summary shows their values, and which opens if one of them is wrong.

use leptos::html::Details;
use leptos::prelude::*;

use super::controls;
use super::options;
use crate::config::inputs::{Form, FormGroup, Input};
use crate::config::{Field, Issue, Model};
use crate::ui::state::State;

/// Tests find it as `{id}-fold`.
pub fn fold(state: State, group: FormGroup, id: &'static str, name: &'static str) -> AnyView {
    let fold = NodeRef::<Details>::new();
    let wrong = Memo::new(move |_| {
        let mut inputs = group.inputs().into_iter();
        inputs.any(|input| state.issues_of(input.field).iter().any(Issue::is_error))
    });
    Effect::new(move || {
        if let (true, Some(fold)) = (wrong.get(), fold.get()) {
            let _ = fold.set_attribute("open", "");
        }
    });
    let set = move || state.form.with(|form| summary(form, group));
    view! {
        <details class="group" data-testid=format!("{id}-fold") node_ref=fold>
            <summary>{name}<span class="set">{set}</span></summary>
            {controls(group)}
        </details>
    }
    .into_any()
}

/// `TP 4, EP 4`: what differs from the defaults, and always the engine.
fn summary(form: &Form, group: FormGroup) -> String {
    if group == FormGroup::Architecture {
        let edited = form.scenario().model.record().is_some_and(Model::is_edited);
        return if edited { "edited" } else { "as published" }.into();
    }
    let mut set: Vec<String> =
        group.inputs().into_iter().filter_map(|input| changed_text(form, input, group)).collect();
    if set.is_empty() || group == FormGroup::Engine && set.len() == 1 {
        set.push("defaults".into());
    }
    set.join(", ")
}

/// `TP 4`: the input and its value, if that is not the default.
fn changed_text(form: &Form, input: &Input, group: FormGroup) -> Option<String> {
    let scenario = form.scenario();
    if let Some(number) = &input.number {
        let value = (number.read)(scenario).filter(|value| input.default_number() != Some(*value))?;
        // Degrees are known by their short names, which are their keys.
        let name = match group {
            FormGroup::Layout if input.key.len() == 2 => input.key.to_ascii_uppercase(),
            _ => input.label.to_owned(),
        };
        return Some(format!("{name} {}", number.said(value)));
    }
    let options = options::of(input.field)?;
    let chosen = (options.chosen)(scenario);
    let usual = chosen == (options.chosen)(&crate::config::Scenario::default());
    if usual && input.field != Field::Engine {
        return None;
    }
    let entries = (options.entries)(scenario).into_iter().flat_map(|(_, entries)| entries);
    let text = entries.into_iter().find(|entry| entry.id == chosen).map_or(chosen, |entry| entry.text);
    Some(if input.field == Field::Kv { format!("KV {text}") } else { text })
}
