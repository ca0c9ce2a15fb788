//! Documents as parts of the page: renewed in place, so that what a visitor has opened, focused or scrolled stays.

mod blocks;
mod held;

use leptos::html::Div;
use leptos::prelude::*;

use super::radio::{radio, segments};
use super::state::State;
use crate::study::{Choice, Document};
use blocks::{Folds, blocks};
use held::{Focus, pressed};

/// An empty document leaves what is there. `id` is that of the element.
#[component]
pub fn DocumentView(id: &'static str, #[prop(into)] document: Signal<Document>) -> impl IntoView {
    let state = State::get();
    let root = NodeRef::<Div>::new();
    let folds = Folds::default();
    let shown = RwSignal::new(Document::default());
    // Rows may change places: the focus belongs to what the visitor gave it to.
    let focus = StoredValue::new(None::<Focus>);
    // What is released on another element than it was pressed on is no click: until then the document stays.
    let pressed = pressed(root);
    Effect::new(move |_| {
        let new = document.get();
        if pressed.get() || new.blocks.is_empty() {
            return;
        }
        shown.set(new);
        // When the elements are renewed.
        request_animation_frame(move || {
            let focus = focus.try_get_value().flatten();
            if let (Some(focus), Some(root)) = (focus, root.try_get_untracked().flatten()) {
                focus.restore(&root);
            }
        });
    });
    Effect::new(move |_| {
        let ready = shown.with(|shown| !shown.blocks.is_empty());
        let sought = if ready { state.take_sought(id) } else { String::new() };
        if !sought.is_empty() {
            let fold = folds.open(&sought);
            request_animation_frame(move || held::bring_into_view(&fold));
        }
    });
    let choices = Memo::new(move |_| shown.with(|shown| (shown.choices.clone(), shown.chosen.clone())));
    let all = Signal::derive(move || shown.with(|shown| shown.blocks.clone()));
    view! {
        <div
            id=id node_ref=root
            data-chosen=move || shown.with(|shown| shown.chosen.clone())
            on:focusin=move |event| focus.set_value(Some(Focus::of(&event_target(&event))))
            on:focusout=move |event| {
                // An element that leaves the page loses the focus to none.
                if event.related_target().is_some() {
                    focus.set_value(None);
                }
            }
            data-drawn=move || shown.with(|shown| !shown.blocks.is_empty())
        >
            <div class="document">
                {move || choices.with(|(choices, chosen)| choice_buttons(state, choices, chosen))}
                {blocks(all, folds)}
            </div>
        </div>
    }
}

/// A row of radio buttons.
fn choice_buttons(state: State, choices: &[Choice], chosen: &str) -> Option<AnyView> {
    let button = |Choice { id, name }: &Choice| {
        let (choice, checked) = (id.clone(), id == chosen);
        let choose = move || state.choose_study(choice.clone());
        radio("of", format!("of-{id}"), name.clone(), move || checked, choose)
    };
    (!choices.is_empty()).then(|| segments("wraps", "Of", choices.iter().map(button).collect()))
}
