//! The study that is open, if one is: asked anew when the form has changed.

use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use gloo::utils::window;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::CustomEvent;

use super::predict::not_done;
use super::{Form, State, WorkerStatus, address};
use crate::study::Topic;
use crate::ui::show::show as show_document;
use crate::worker::protocol::{Studied, StudyAsked};

/// A pause this long in the changes begins a study: while a slider moves there is none.
const PAUSE_MS: u32 = 150;

/// The element of the second module's search that holds what was found.
const FOUND: &str = "found";

/// The element that holds its document.
pub const STUDY: &str = "study-document";

/// What is known of it.
#[derive(Debug, Clone, Default)]
pub struct OpenStudy {
    id: u32,
    /// The search under way has this one.
    finding: u32,
    /// Questions so far.
    asked: u32,
    /// None: the overview is shown.
    pub topic: Option<Topic>,
    /// What of the topic was chosen.
    of: String,
    /// What is shown is another configuration's, until this one's comes.
    pub due: bool,
    pub studied: Studied,
    /// Why there is nothing to show; empty where there is.
    pub failed: String,
    /// The fold to open and to bring into view; empty where none is sought.
    pub sought: String,
}

/// Hears of choices made in documents, and of searches.
pub fn start(state: State) {
    on("rooflight:choose", move |chosen| {
        let chosen = chosen.unwrap_or_default();
        match chosen.split_once(':') {
            Some((_, view)) => show(state, Topic::from_id(view), ""),
            None => choose(state, chosen),
        }
    });
    on("rooflight:find", move |words| match words {
        Some(words) => {
            let finding = state.study.try_update_untracked(|study| {
                study.asked = study.asked.wrapping_add(1);
                study.finding = study.asked;
                study.finding
            });
            if let Some(id) = finding {
                ask_worker(state, id, Topic::Find, words);
            }
        }
        // The worker does one thing at a time: what was open goes on.
        None => ask(state),
    });
}

/// Hears of an event with a text, or nothing, as long as the page lives.
fn on(event: &'static str, hear: impl Fn(Option<String>) + 'static) {
    let listener = EventListener::new(&window(), event, move |event| {
        hear(event.dyn_ref::<CustomEvent>().and_then(|event| event.detail().as_string()));
    });
    listener.forget();
}

fn ask_worker(state: State, id: u32, topic: Topic, of: String) {
    let link = state.form.with_untracked(Form::link);
    let asked = StudyAsked { id, topic, of, link, page: address::page() };
    state.with_client(|client| client.study(asked));
}

/// The fold sought, if `holder` is the study's: it is then no longer sought.
pub fn take_sought(state: State, holder: &str) -> String {
    let take = |study: &mut OpenStudy| std::mem::take(&mut study.sought);
    let sought = (holder == STUDY).then(|| state.study.try_update_untracked(take)).flatten();
    sought.unwrap_or_default()
}

/// Shows `topic`, or the overview; `fold` is opened there.
pub fn show(state: State, topic: Option<Topic>, fold: &str) {
    state.study.update(|study| {
        if study.topic != topic {
            let (id, finding, asked) = (study.id, study.finding, study.asked);
            *study = OpenStudy { id, finding, asked, topic, ..OpenStudy::default() };
        }
        study.sought = fold.into();
    });
    ask(state);
}

fn choose(state: State, of: String) {
    state.study.update(|study| study.of = of);
    ask(state);
}

/// The form has changed.
pub fn changed(state: State) {
    if state.study.with_untracked(|study| study.topic.is_none()) {
        return;
    }
    state.study.update(|study| study.due = true);
    end(state);
    state.study_timer.set_value(Some(Timeout::new(PAUSE_MS, move || ask(state))));
}

/// The visitor has seen enough of this one.
fn end(state: State) {
    let id = state.study.with_untracked(|study| study.id);
    state.with_client(|client| client.end_study(id));
}

pub fn ask(state: State) {
    state.study_timer.set_value(None);
    let asked = state.study.try_update(|study| {
        study.asked = study.asked.wrapping_add(1);
        study.id = study.asked;
        study.due = true;
        Some((study.id, study.topic?, study.of.clone()))
    });
    let Some((id, topic, of)) = asked.flatten() else { return end(state) };
    if let WorkerStatus::Failed { reason } = state.worker.get_untracked() {
        let failed = not_done(&reason);
        return state.study.update(|study| (study.due, study.failed) = (false, failed));
    }
    ask_worker(state, id, topic, of);
}

pub fn heard(state: State, studied: Studied) {
    if state.study.with_untracked(|study| study.finding) == studied.id {
        return show_document(FOUND, studied.document, state.dark.get_untracked(), String::new());
    }
    state.study.update(|study| {
        if study.id == studied.id {
            study.due = false;
            study.studied = studied;
        }
    });
}
