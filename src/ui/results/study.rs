//! A study of the configuration in place of the overview: which one, and its place.

use leptos::prelude::*;

use crate::study::{Topic, tabs};
use crate::ui::document::DocumentView;
use crate::ui::state::{STUDY, State};

#[component]
pub fn Tabs() -> impl IntoView {
    let state = State::get();
    let topic = move || state.study.with(|study| study.topic);
    let tab = |(of, name): (Option<Topic>, &'static str)| {
        let id = format!("tab-{}", of.map_or("overview", Topic::id));
        view! {
            <input
                type="radio" name="tab" id=id.clone() data-testid=id.clone()
                prop:checked=move || topic() == of
                on:change=move |_| state.show(of, "")
            />
            <label for=id>{name}</label>
        }
    };
    let tabs = tabs().map(tab).collect_view();
    view! { <div class="segments tabs" role="radiogroup" aria-label="View">{tabs}</div> }
}

#[component]
pub fn StudyView() -> impl IntoView {
    let state = State::get();
    let hidden = move || state.study.with(|study| study.topic.is_none());
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
    let document = move || state.study.with(|study| study.studied.document.clone());
    view! {
        <section class="panel study" data-testid="study" aria-label="Study" class:due=due prop:hidden=hidden>
            <p class="progress" role="status" data-testid="study-status" data-status=status>{progress}</p>
            <DocumentView id=STUDY document=document />
        </section>
    }
}
