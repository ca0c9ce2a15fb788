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
    #[prop(into)] groups: Signal<Vec<Group>>,
    chosen: fn(&Scenario) -> String,
    choose: fn(&mut Scenario, &str),
) -> impl IntoView {
    let state = State::get();
    let id = field.id();
    let current = Memo::new(move |_| state.form.with(|form| chosen(form.scenario())));
    let stranger = move || {
        let current = current.get();
        let known =
            groups.with(|groups| groups.iter().any(|(_, entries)| entries.iter().any(|e| e.id == current)));
        (!known).then(|| view! { <option value=current.clone() selected=true>{format!("{current} (unknown)")}</option> })
    };
    let options = move || groups.get().into_iter().map(|group| options_of(group, current)).collect_view();
    view! {
        <div class="choice">
            <label for=id>{label}</label>
            <select
                id=id data-testid=id aria-describedby=list_id(field)
                aria-invalid=move || fields.iter().any(|field| invalid(state, *field)).to_string()
                prop:value=move || current.get()
                on:change:target=move |event| {
                    let value = event.target().value();
                    state.choose(id, |form| form.choose(field, |scenario| choose(scenario, &value)));
                }
            >
                {stranger}
                {options}
            </select>
        </div>
        <Issues fields=fields />
    }
}

fn options_of((heading, entries): Group, current: Memo<String>) -> AnyView {
    let options = entries.into_iter().map(|entry| {
        let id = entry.id.clone();
        let selected = move || current.get() == id;
        view! { <option value=entry.id disabled=entry.refused selected=selected>{entry.text}</option> }
    });
    let options = options.collect_view();
    if heading.is_empty() {
        options.into_any()
    } else {
        view! { <optgroup label=heading>{options}</optgroup> }.into_any()
    }
}
