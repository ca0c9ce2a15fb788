//! The best single change of the answered configuration. The worker looks for it when idle: after other loads and
//! the open study.

use gloo::timers::callback::Timeout;
use leptos::prelude::*;

use super::study::{ask_worker, next_id};
use super::{Progress, State, WorkerStatus, frame};
use crate::study::{Document, Topic};
use crate::worker::protocol::Studied;

/// Pause after which it starts: dozens of configurations are predicted.
const PAUSE_MS: u32 = 500;

#[derive(Debug, Clone, Default)]
pub struct Suggestion {
    /// Id of the current search; `None` once the form has changed.
    id: Option<u32>,
    done: bool,
    /// Empty if nothing is better or known yet.
    pub document: Document,
}

/// Called when the worker may be idle.
pub fn rest(state: State) {
    let known = state.study.with_untracked(|study| study.suggestion.done);
    // It would be for the form's load.
    let traced = untrack(|| state.replays());
    if known || traced || frame::view().is_some() {
        return;
    }
    state.suggestion_timer.set_value(Some(Timeout::new(PAUSE_MS, move || begin(state))));
}

fn begin(state: State) {
    let sweeps =
        state.sweep.with_untracked(|sweep| matches!(sweep.progress, Progress::Due | Progress::Running));
    let loaded = state.worker.with_untracked(|worker| matches!(worker, WorkerStatus::Ready { .. }));
    let begun = state.study.with_untracked(|study| study.suggestion.id.is_some());
    // A change may make an invalid form valid, as long as everything in it can be read.
    let is_read = state.form.with_untracked(|form| !form.has_bad_draft());
    let is_due = state.stale.get_untracked() && !(is_read && untrack(|| state.has_errors()));
    if begun || sweeps || !loaded || is_due || !state.studies_rest() {
        return;
    }
    if let Some(id) = next_id(state) {
        state.study.update_untracked(|study| study.suggestion.id = Some(id));
        ask_worker(state, id, Topic::Better, String::new());
    }
}

/// The form has changed: the suggestion is outdated.
pub fn end(state: State) {
    state.suggestion_timer.set_value(None);
    if let Some(id) = state.study.with_untracked(|study| study.suggestion.id) {
        state.with_client(|client| client.end_study(id));
        state.study.update(|study| study.suggestion = Suggestion::default());
    }
}

/// The worker does one study at a time: another has replaced this one.
pub fn displaced(state: State) {
    state.study.update_untracked(|study| {
        let suggestion = &mut study.suggestion;
        if !suggestion.done {
            suggestion.id = None;
        }
    });
}

/// Takes a result if it belongs to the current search.
pub fn receive(suggestion: &mut Suggestion, studied: Studied) {
    if suggestion.id != Some(studied.id) {
        return;
    }
    suggestion.done = studied.done == studied.total;
    if studied.document.blocks.iter().any(|block| block.id == "better") {
        suggestion.document = studied.document;
    }
}
