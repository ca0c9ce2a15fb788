//! A choice from a list.

use leptos::prelude::*;

use super::issues::{Issues, invalid, list_id};
use super::options::{Entry, Heading, Options};
use super::picker::{Choose, Picker};
use crate::config::Field;
use crate::config::inputs::Input;
use crate::ui::state::State;

/// A labelled `<select>`. A chosen id not in the list (from an old link) is shown unchanged.
#[component]
pub fn Choice(input: &'static Input, options: Options) -> impl IntoView {
    let state = State::get();
    let (field, id) = (input.field, input.field.id());
    let Options { entries, chosen, choose } = options;
    let current = move || state.form.with(|form| chosen(form.scenario()));
    // Re-rendered if the list changes, not on every keystroke elsewhere.
    let listed = Memo::new(move |_| state.form.with(|form| entries(form.scenario())));
    let options = move || listing(listed.get(), &current());
    let take = move |value: &str| {
        state.choose(id, |form| form.choose(field, |scenario| choose(scenario, value)));
    };
    // Long lists are searched by typing.
    let picked = matches!(field, Field::Model | Field::Gpu);
    let picker = picked.then(|| {
        let name = Signal::derive(move || listed.with(|listed| name(listed, &current())));
        let take: Choose = Box::new(take);
        view! { <Picker input=input name=name choose=StoredValue::new(take) /> }
    });
    let label = picked.then(|| format!("{}, whole list", input.label));
    view! {
        <div class="choice" class:picked=picked>
            <label for=if picked { format!("pick-{id}") } else { id.into() } title=input.help>{input.label}</label>
            {picker}
            <select
                id=id data-testid=id aria-describedby=list_id(field) aria-label=label
                aria-invalid=move || invalid(state, field).to_string()
                prop:value=current
                on:change=move |event| take(&event_target_value(&event))
            >
                {options}
            </select>
        </div>
        <Issues fields=std::slice::from_ref(&input.field) />
    }
}

/// The name of the entry with this id; an unknown id unchanged.
fn name(headings: &[Heading], id: &str) -> String {
    let mut entries = headings.iter().flat_map(|(_, entries)| entries);
    entries.find(|entry| entry.id == id).map_or(id, |entry| &entry.text).to_owned()
}

fn listing(mut headings: Vec<Heading>, current: &str) -> AnyView {
    let known = headings.iter().any(|(_, entries)| entries.iter().any(|entry| entry.id == current));
    if !known {
        headings.push(("", vec![Entry::new(current, format!("{current} (unknown)"))]));
    }
    let heading = |(heading, entries): Heading| {
        let entries = entries.into_iter().map(|entry| option(entry, current)).collect_view();
        if heading.is_empty() {
            entries.into_any()
        } else {
            view! { <optgroup label=heading>{entries}</optgroup> }.into_any()
        }
    };
    headings.into_iter().map(heading).collect_view().into_any()
}

fn option(entry: Entry, current: &str) -> AnyView {
    let selected = entry.id == current;
    view! { <option value=entry.id disabled=entry.refused selected=selected>{entry.text}</option> }.into_any()
}
