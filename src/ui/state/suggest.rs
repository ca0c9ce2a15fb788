//! The best single change of the configuration that is answered. The worker looks for it when it has nothing else to do: not
//! before the loads around the answer and the open study are done.

use gloo::timers::callback::Timeout;
use leptos::prelude::*;

use super::study::{ask_worker, next_id};
use super::{Progress, State, WorkerStatus, frame};
use crate::study::{Block, Document, Topic};
use crate::worker::protocol::Studied;

/// A pause this long begins the search: dozens of configurations are predicted.
const PAUSE_MS: u32 = 500;

#[derive(Debug, Clone, Default)]
pub struct Suggestion {
    /// Of the search under way or done; none once the form has changed.
    id: Option<u32>,
    done: bool,
    /// Empty where nothing is better, or nothing is known yet.
    pub document: Document,
}

/// The worker may have nothing more to do.
pub fn rest(state: State) {
    let known = state.study.with_untracked(|study| study.suggestion.done);
    if known || frame::view().is_some() {
        return;
    }
    state.suggestion_timer.set_value(Some(Timeout::new(PAUSE_MS, move || begin(state))));
}

fn begin(state: State) {
    let sweeps =
        state.sweep.with_untracked(|sweep| matches!(sweep.progress, Progress::Due | Progress::Running));
    let loaded = state.worker.with_untracked(|worker| matches!(worker, WorkerStatus::Ready { .. }));
    let begun = state.study.with_untracked(|study| study.suggestion.id.is_some());
    if begun || sweeps || !loaded || state.stale.get_untracked() || !state.studies_rest() {
        return;
    }
    if let Some(id) = next_id(state) {
        state.study.update_untracked(|study| study.suggestion.id = Some(id));
        ask_worker(state, id, Topic::Better, String::new());
    }
}

/// The form has changed: what was better is no longer known.
pub fn end(state: State) {
    state.suggestion_timer.set_value(None);
    if let Some(id) = state.study.with_untracked(|study| study.suggestion.id) {
        state.with_client(|client| client.end_study(id));
        state.study.update(|study| study.suggestion = Suggestion::default());
    }
}

/// The worker does one study at a time: another has taken this one's place.
pub fn displaced(state: State) {
    state.study.update_untracked(|study| {
        let suggestion = &mut study.suggestion;
        if !suggestion.done {
            suggestion.id = None;
        }
    });
}

/// Takes it in, if it is of the search under way.
pub fn heard(suggestion: &mut Suggestion, studied: Studied) {
    if suggestion.id != Some(studied.id) {
        return;
    }
    suggestion.done = studied.done == studied.total;
    let is_better = |block: &Block| matches!(block, Block::Text(text) if text.id == "better");
    if studied.document.blocks.iter().any(is_better) {
        suggestion.document = studied.document;
    }
}
