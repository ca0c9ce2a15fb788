//! The place of a document.

use leptos::prelude::*;

use crate::study::Document;
use crate::ui::show::show;
use crate::ui::state::State;

/// An empty document leaves what is there. `id` is also that of the element.
#[component]
pub fn DocumentView(id: &'static str, #[prop(into)] document: Signal<Document>) -> impl IntoView {
    let state = State::get();
    Effect::new(move |_| {
        let (dark, document) = (state.dark.get(), document.get());
        if !document.blocks.is_empty() {
            // Once: a change of the form renews the document where the visitor reads it.
            show(id, document, dark, state.take_sought(id));
        }
    });
    view! { <div id=id></div> }
}
