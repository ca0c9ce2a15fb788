//! A choice from a list.

use leptos::prelude::*;

use super::issues::{Issues, invalid, list_id};
use crate::config::{Field, Scenario};
use crate::ui::state::State;

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: String,
    pub text: String,
    /// Listed, but not to be chosen.
    pub refused: bool,
}

impl Entry {
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), refused: false }
    }

    pub fn refused(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { refused: true, ..Self::new(id, text) }
    }
}

/// Entries under a heading; an empty heading is none.
pub type Group = (&'static str, Vec<Entry>);

/// A labelled `<select>`. A chosen id that the list lacks (an old link's) is shown as it is.
#[component]
pub fn Choice(
    field: Field,
    label: &'static str,
    fields: &'static [Field],
    groups: fn(&Scenario) -> Vec<Group>,
    chosen: fn(&Scenario) -> String,
    choose: fn(&mut Scenario, &str),
) -> impl IntoView {
    let state = State::get();
    let id = field.id();
    let current = move || state.form.with(|form| chosen(form.scenario()));
    // Rendered anew where the list changes, not with every keystroke elsewhere.
    let listed = Memo::new(move |_| state.form.with(|form| groups(form.scenario())));
    let options = move || options(listed.get(), &current());
    let choose = move |event| {
        let value = event_target_value(&event);
        state.choose(id, |form| form.choose(field, |scenario| choose(scenario, &value)));
    };
    view! {
        <div class="choice">
            <label for=id>{label}</label>
            <select
                id=id data-testid=id aria-describedby=list_id(field)
                aria-invalid=move || fields.iter().any(|field| invalid(state, *field)).to_string()
                prop:value=current
                on:change=choose
            >
                {options}
            </select>
        </div>
        <Issues fields=fields />
    }
}

fn options(mut groups: Vec<Group>, current: &str) -> AnyView {
    let known = groups.iter().any(|(_, entries)| entries.iter().any(|entry| entry.id == current));
    if !known {
        groups.push(("", vec![Entry::new(current, format!("{current} (unknown)"))]));
    }
    let group = |(heading, entries): Group| {
        let entries = entries.into_iter().map(|entry| option(entry, current)).collect_view();
        if heading.is_empty() {
            entries.into_any()
        } else {
            view! { <optgroup label=heading>{entries}</optgroup> }.into_any()
        }
    };
    groups.into_iter().map(group).collect_view().into_any()
}

fn option(entry: Entry, current: &str) -> AnyView {
    let selected = entry.id == current;
    view! { <option value=entry.id disabled=entry.refused selected=selected>{entry.text}</option> }.into_any()
}
