//! Issues not visible elsewhere: the form has no such input, has it in a closed fold, or has scrolled it out of
//! view.

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
    for moves in ["toggle", "scroll", "resize"] {
        let capture = EventListenerOptions::run_in_capture_phase();
        let listener = EventListener::new_with_options(&window(), moves, capture, move |_| {
            // Scrolling rarely moves an issue in or out of view.
            if moves == "toggle" || state.has_errors() {
                toggled.try_set(());
            }
        });
        listener.forget();
    }
    Effect::new(move |_| {
        toggled.track();
        let issues = state.issues();
        // After the form has shown them.
        request_animation_frame(move || {
            // Frames fold all inputs away, and unfold them if one must be corrected.
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

/// Whether the page shows `issue` elsewhere, outside closed folds.
fn is_seen(issue: &Issue) -> bool {
    let listed = format!("[data-testid=issue][data-field={}]:not(.problems *)", issue.field.id());
    let Ok(found) = document().query_selector_all(&listed) else { return false };
    let shown = |element: HtmlElement| {
        // On phones the form is hidden until opened.
        let hidden = element.offset_parent().is_none();
        let folded = matches!(element.closest("details:not([open])"), Ok(Some(_)));
        let scrolled = issue.is_error() && is_out_of_sight(&element);
        !hidden
            && !folded
            && !scrolled
            && element.text_content().is_some_and(|text| text.contains(&issue.sentence().replace('`', "")))
    };
    (0..found.length()).filter_map(|index| found.item(index)?.dyn_into().ok()).any(shown)
}

/// Whether `element` is scrolled out of its column or window.
fn is_out_of_sight(element: &HtmlElement) -> bool {
    let own = element.get_bounding_client_rect();
    let page = element.owner_document().and_then(|page| page.document_element());
    let column = element.closest(".side").ok().flatten().map(|side| side.get_bounding_client_rect());
    let (top, bottom) = column.map_or((0.0, f64::INFINITY), |side| (side.top(), side.bottom()));
    let bottom = page.map_or(bottom, |page| bottom.min(f64::from(page.client_height())));
    own.bottom() <= top.max(0.0) || own.top() >= bottom
}
