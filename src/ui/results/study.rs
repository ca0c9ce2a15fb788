//! A study of the configuration, in its view or opened from the header.

use leptos::prelude::*;

use crate::ui::document::DocumentView;
use crate::ui::state::{STUDY, State};

#[component]
pub fn StudyView() -> impl IntoView {
    let state = State::get();
    let hidden = move || state.study.with(|study| study.panel.topic().is_none());
    let due = move || state.study.with(|study| study.due);
    let progress = move || {
        state.study.with(|study| match (study.studied.done, study.studied.total) {
            (done, total) if done < total => format!("{done} of {total} configurations predicted"),
            _ => study.failed.clone(),
        })
    };
    let status = move || {
        state.study.with(|study| {
            let over = !study.due && study.studied.done == study.studied.total;
            if over { "done" } else { "due" }
        })
    };
    let title = Memo::new(move |_| state.study.with(|study| study.panel.title()));
    let document = move || state.study.with(|study| study.studied.document.clone());
    view! {
        <section class="panel study" data-testid="study" aria-label=title class:due=due prop:hidden=hidden>
            <h2 class="unseen">{title}</h2>
            <p class="progress" role="status" data-testid="study-status" data-status=status>{progress}</p>
            <DocumentView id=STUDY document=document />
        </section>
    }
}
