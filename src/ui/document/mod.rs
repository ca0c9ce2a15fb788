//! Documents in the page: updated in place, so that open folds, focus and scroll position are kept.

mod blocks;
mod held;

use leptos::html::Div;
use leptos::prelude::*;

use super::parts::{radio, segments};
use super::state::State;
use crate::study::{Choice, Document};
use blocks::{Folds, blocks};
use held::{Focus, pressed};

/// An empty document leaves the previous one. `id` is that of the element.
#[component]
pub fn DocumentView(id: &'static str, #[prop(into)] document: Signal<Document>) -> impl IntoView {
    let state = State::get();
    let root = NodeRef::<Div>::new();
    let folds = Folds::default();
    let shown = RwSignal::new(Document::default());
    // Rows may change places: the focus follows the row the visitor focused.
    let focus = StoredValue::new(None::<Focus>);
    // Releasing on another element than was pressed is not a click: until then the document is kept.
    let pressed = pressed(root);
    Effect::new(move |_| {
        let new = document.get();
        if pressed.get() || new.blocks.is_empty() {
            return;
        }
        shown.set(new);
        // When the elements are updated.
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
                // An element removed from the page loses the focus.
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
