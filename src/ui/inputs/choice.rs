//! A choice from a list.

use leptos::prelude::*;

use super::issues::{Issues, invalid, list_id};
use super::options::{Entry, Heading, Options};
use crate::config::Field;
use crate::config::inputs::Input;
use crate::ui::state::State;

/// A labelled `<select>`. A chosen id that the list lacks (an old link's) is shown as it is.
#[component]
pub fn Choice(input: &'static Input, options: Options) -> impl IntoView {
    let state = State::get();
    let (field, id) = (input.field, input.field.id());
    let Options { entries, chosen, choose } = options;
    let current = move || state.form.with(|form| chosen(form.scenario()));
    // Rendered anew where the list changes, not with every keystroke elsewhere.
    let listed = Memo::new(move |_| state.form.with(|form| entries(form.scenario())));
    let options = move || listing(listed.get(), &current());
    let choose = move |event| {
        let value = event_target_value(&event);
        state.choose(id, |form| form.choose(field, |scenario| choose(scenario, &value)));
    };
    // Long lists are searched rather than scrolled.
    let search = matches!(field, Field::Model | Field::Gpu).then(|| {
        let open = move |_| state.search_for(format!("{} ", input.label.to_ascii_lowercase()));
        view! {
            <button type="button" class="action" data-testid=format!("search-{id}") aria-label=format!("Search {}s", input.label) on:click=open>
                "⌕"
            </button>
        }
    });
    view! {
        <div class="choice">
            <label for=id title=input.help>{input.label}</label>
            <select
                id=id data-testid=id aria-describedby=list_id(field)
                aria-invalid=move || invalid(state, field).to_string()
                prop:value=current
                on:change=choose
            >
                {options}
            </select>
            {search}
        </div>
        <Issues fields=std::slice::from_ref(&input.field) />
    }
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
