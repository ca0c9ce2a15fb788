//! The place of a document, which another module of the page shows.

use leptos::prelude::*;

use crate::ui::erased::Text;
use crate::ui::module;
use crate::ui::state::State;

/// `document` reads one as JSON; an empty one leaves what is there. `id` is also that of the element.
#[component]
pub fn DocumentView(id: &'static str, mut document: Text) -> impl IntoView {
    let state = State::get();
    Effect::new(move |_| {
        let (dark, document) = (state.dark.get(), document());
        if !document.is_empty() {
            // Once: a change of the form renews the document where the visitor reads it.
            module::show(id, &document, dark, &state.take_sought(id));
        }
    });
    view! { <div id=id></div> }
}
