//! A combobox for models and GPUs. The worker fills its list: recent ones first, then the most measured, with a
//! mark on those that fit. The arrow next to it opens the plain list of the catalog.

use leptos::ev::{FocusEvent, KeyboardEvent, MouseEvent};
use leptos::html::{Div, Input as Element};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Node, ScrollIntoViewOptions, ScrollLogicalPosition};

use super::options;
use crate::config::inputs::Input;
use crate::config::{Field, Scenario};
use crate::study::pick::PICK;
use crate::study::{Block, Document, Row};
use crate::ui::history::recent;
use crate::ui::parts::closest;
use crate::ui::state::{State, address};

/// No option is selected.
const NONE: usize = usize::MAX;

/// Receives the id of the choice.
pub type Choose = Box<dyn Fn(&str) + Send + Sync>;

/// A combobox. `name` is that of the current choice; `choose` receives the id of a new one.
#[component]
pub fn Picker(input: &'static Input, name: Signal<String>, choose: StoredValue<Choose>) -> impl IntoView {
    let state = State::get();
    let field = input.field;
    let (id, list) = (format!("pick-{}", field.id()), format!("{}-list", field.id()));
    let (root, text) = (NodeRef::<Div>::new(), NodeRef::<Element>::new());
    // The typed text; `None` while the list is closed.
    let words = RwSignal::new(None::<String>);
    let active = RwSignal::new(NONE);
    // Enter was pressed before the answer to the typed text.
    let due = RwSignal::new(false);
    let found = Memo::new(move |_| {
        let open = words.with(Option::is_some);
        state.study.with(|study| rows(&study.picked, field).filter(|_| open).unwrap_or_default())
    });
    let open = move |typed: String| {
        state.find(question(field, &typed));
        // Enter selects only answers to the current text.
        active.set(if typed.is_empty() { NONE } else { 0 });
        words.set(Some(typed));
        due.set(false);
    };
    let is_answered = move || {
        let of = state
            .study
            .with_untracked(|study| study.picked.chosen.split_once('\n').map(|(_, typed)| typed.to_owned()));
        words.with_untracked(|typed| *typed == of)
    };
    let close = move || words.set(None);
    let take = move |index: usize| {
        let link = found.with_untracked(|rows| Some(rows.get(index)?.cells.first()?.link.clone()));
        let typed = words.get_untracked().unwrap_or_default();
        close();
        // A text that finds nothing stays, and its issue names what is similar.
        let id = link.as_deref().map_or(Some(typed.trim()), |link| link.strip_prefix(PICK));
        match id {
            Some("") => {}
            Some(id) => choose.with_value(|choose| choose(id)),
            // A published name implies more than a model.
            None => address::open(&link.unwrap_or_default()),
        }
    };
    Effect::new(move |_| {
        state.study.track();
        if due.get_untracked() && is_answered() {
            due.set(false);
            take(active.get_untracked());
        }
    });
    let go = move |to: usize| {
        active.set(to);
        let option = text.get_untracked().and_then(|text| text.owner_document());
        let option = option.and_then(|page| page.get_element_by_id(&option_id(field, to)));
        if let Some(option) = option {
            let near = ScrollIntoViewOptions::new();
            near.set_block(ScrollLogicalPosition::Nearest);
            option.scroll_into_view_with_scroll_into_view_options(&near);
        }
    };
    let steer = move |event: KeyboardEvent| {
        let (shown, at) = (words.with_untracked(Option::is_some), active.get_untracked());
        let last = found.with_untracked(Vec::len).saturating_sub(1);
        match event.key().as_str() {
            "ArrowDown" if !shown => open(String::new()),
            "ArrowDown" => go(if at < last { at + 1 } else { 0 }),
            "ArrowUp" if shown => go(at.checked_sub(1).map_or(last, |above| above.min(last))),
            "Enter" if shown && is_answered() => take(at),
            "Enter" if shown => due.set(true),
            "Escape" if shown => close(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let press = move |event: MouseEvent| {
        let option = closest(event.target(), "[role=option]");
        let index = option.and_then(|option| option.id().rsplit_once('-')?.1.parse().ok());
        if let Some(index) = index {
            take(index);
        }
    };
    let leave = move |event: FocusEvent| {
        let to = event.related_target().and_then(|to| to.dyn_into::<Node>().ok());
        if root.get_untracked().is_some_and(|root| root.contains(to.as_ref())) {
            return;
        }
        if found.with_untracked(Vec::is_empty) { take(0) } else { close() }
    };
    let begin = move |_| {
        if words.with_untracked(Option::is_none) {
            open(String::new());
            if let Some(text) = text.get_untracked() {
                text.select();
            }
        }
    };
    let shown = move || words.with(Option::is_some);
    let at = move || found.with(|rows| active.get() < rows.len()).then(|| option_id(field, active.get()));
    let nothing = Memo::new(move |_| {
        state.study.track();
        shown() && found.with(Vec::is_empty) && is_answered()
    });
    let options = move || {
        let at = active.get();
        let option = |(index, row): (usize, &Row)| option(field, index, row, index == at);
        match nothing.get() {
            true => view! { <li role="option" aria-disabled="true">"No match. Press Enter for similar names"</li> }.into_any(),
            false => found.with(|rows| rows.iter().enumerate().map(option).collect::<Vec<_>>()).into_any(),
        }
    };
    // Opening the list selects the current name, so that typing replaces it.
    let value = move || words.get().filter(|typed| !typed.is_empty()).unwrap_or_else(|| name.get());
    view! {
        <div class="picker" node_ref=root on:focusout=leave>
            <input
                node_ref=text type="text" role="combobox" id=id.clone() data-testid=id autocomplete="off" spellcheck="false"
                aria-autocomplete="list" aria-haspopup="listbox" aria-controls=list.clone() aria-expanded=move || shown().to_string()
                aria-activedescendant=at
                prop:value=value
                on:input=move |event| open(event_target_value(&event)) on:keydown=steer on:click=begin
            />
            <ul
                role="listbox" id=list data-testid=format!("{}-list", field.id()) aria-label=format!("{}s", input.label) prop:hidden=move || !shown()
                on:mousedown=move |event| event.prevent_default() on:click=press
            >
                {options}
            </ul>
        </div>
    }
}

/// The question to the worker: kind and recently viewed ids, then the typed words.
fn question(field: Field, words: &str) -> String {
    let default = options::of(field).map(|options| (options.chosen)(&Scenario::default()));
    let recent = recent::values(field.input().key, &default.unwrap_or_default()).join(" ");
    format!("{PICK}{} {recent}\n{words}", field.id())
}

/// The rows of an answer to such a question; `None` for other documents.
fn rows(of: &Document, field: Field) -> Option<Vec<Row>> {
    let asked = of.chosen.strip_prefix(PICK)?.split_whitespace().next()?;
    let table = || of.blocks.iter().find_map(Block::as_table);
    (asked == field.id()).then(|| table().map(|table| table.rows.clone()).unwrap_or_default())
}

fn option_id(field: Field, index: usize) -> String {
    format!("{}-option-{index}", field.id())
}

/// Name, description, and whether it fits.
fn option(field: Field, index: usize, row: &Row, active: bool) -> AnyView {
    let cells: Vec<AnyView> =
        row.cells.iter().map(|cell| view! { <span>{cell.text.clone()}</span> }.into_any()).collect();
    view! { <li role="option" id=option_id(field, index) aria-selected=active.to_string()>{cells}</li> }
        .into_any()
}
