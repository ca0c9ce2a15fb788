//! Every issue that is seen nowhere else: the form lacks its input, or has it in a closed fold.

use gloo::events::{EventListener, EventListenerOptions};
use gloo::utils::{document, window};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::config::Issue;
use crate::ui::inputs::issue_list;
use crate::ui::state::{State, frame};

#[component]
pub fn Problems() -> impl IntoView {
    let state = State::get();
    let unseen = RwSignal::new(Vec::<Issue>::new());
    // Folds open and close without a change of the issues. Their event does not bubble.
    let toggled = RwSignal::new(());
    let capture = EventListenerOptions::run_in_capture_phase();
    let listener = EventListener::new_with_options(&window(), "toggle", capture, move |_| {
        toggled.try_set(());
    });
    listener.forget();
    Effect::new(move |_| {
        toggled.track();
        let issues = state.issues();
        // When the form shows them.
        request_animation_frame(move || {
            // Frames fold all inputs away, and unfold them where one must be corrected.
            let counts = |issue: &Issue| frame::view().is_none() || issue.is_error();
            let issues: Vec<Issue> =
                issues.into_iter().filter(|issue| counts(issue) && !is_seen(issue)).collect();
            if unseen.with_untracked(|unseen| *unseen != issues) {
                unseen.set(issues);
            }
        });
    });
    view! {
        <section class="panel problems" data-testid="problems" aria-label="Issues" prop:hidden=move || unseen.with(Vec::is_empty)>
            <h2>"Issues"</h2>
            {issue_list("problems-issues".into(), move || unseen.get())}
        </section>
    }
}

/// Whether the page shows `issue` elsewhere, outside of closed folds.
fn is_seen(issue: &Issue) -> bool {
    let listed = format!("[data-testid=issue][data-field={}]:not(.problems *)", issue.field.id());
    let Ok(found) = document().query_selector_all(&listed) else { return false };
    let shown = |element: HtmlElement| {
        // A phone shows no form until it is opened.
        let hidden = element.offset_parent().is_none();
        let folded = matches!(element.closest("details:not([open])"), Ok(Some(_)));
        !hidden && !folded && element.text_content().is_some_and(|text| text.contains(&issue.sentence()))
    };
    (0..found.length()).filter_map(|index| found.item(index)?.dyn_into().ok()).any(shown)
}
