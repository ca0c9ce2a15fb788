//! The open study, rerun when the form changes; and the search.

use gloo::timers::callback::Timeout;
use leptos::prelude::*;

use super::suggest::{self, Suggestion};
use super::{Form, State, WorkerStatus, address};
use crate::study::panel::Panel;
use crate::study::pick::PICK;
use crate::study::{Document, Topic};
use crate::worker::protocol::{Studied, StudyRequest};

/// Pause in editing after which a study starts.
const PAUSE_MS: u32 = 150;

/// The element that holds the open study's document.
pub const STUDY: &str = "study-document";
/// The element that holds the plans.
pub const PLANS: &str = "plans-document";

#[derive(Debug, Clone, Default)]
pub struct OpenStudy {
    id: u32,
    /// The id of the current search.
    finding: u32,
    /// Number of questions so far.
    asked: u32,
    /// The panel below the answer.
    pub panel: Panel,
    /// The choice within its topic.
    of: String,
    /// Whether the document is still for another configuration.
    pub due: bool,
    pub studied: Studied,
    /// Why there is nothing to show; empty otherwise.
    pub failed: String,
    /// The fold to open and scroll to; empty if none.
    sought: String,
    /// Search results.
    pub found: Document,
    /// Results for a picker.
    pub picked: Document,
    pub suggestion: Suggestion,
}

impl OpenStudy {
    pub(super) fn in_panel(panel: Panel) -> Self {
        Self { panel, ..Self::default() }
    }

    /// The id of the next question.
    fn next(&mut self) -> u32 {
        self.asked = self.asked.wrapping_add(1);
        self.asked
    }
}

impl State {
    /// Whether the worker has no studies to run.
    pub fn studies_rest(self) -> bool {
        self.study.with_untracked(|study| {
            study.panel.topic().is_none() || !study.due && study.studied.done == study.studied.total
        })
    }

    /// Shows this panel below the answer, with a fold of its study opened. Panels are of the form's configuration, so
    /// this leaves Find, except for what the plans have of their own.
    pub fn show(self, panel: Panel, fold: &str) {
        if self.finding.get_untracked() {
            if let Some(of_plans) = panel.fold_of_plans() {
                return self.plans.update(|plans| plans.sought = of_plans);
            }
            self.seek(false);
        }
        self.open_panel(panel, fold);
    }

    /// Opens a panel below the answer, with a fold of its study opened; in Find mode, the caller's link leaves it.
    pub fn open_panel(self, panel: Panel, fold: &str) {
        self.study.update(|study| {
            if study.panel != panel {
                let OpenStudy { id, finding, asked, .. } = *study;
                *study = OpenStudy {
                    id,
                    finding,
                    asked,
                    panel,
                    found: std::mem::take(&mut study.found),
                    picked: std::mem::take(&mut study.picked),
                    suggestion: std::mem::take(&mut study.suggestion),
                    ..OpenStudy::default()
                };
            }
            study.sought = fold.into();
        });
        self.kept().keep();
        ask(self);
    }

    pub fn choose_study(self, of: String) {
        self.study.update(|study| study.of = of);
        ask(self);
    }

    /// Searches for `words`.
    pub fn find(self, words: String) {
        let finding = self.study.try_update_untracked(|study| {
            study.finding = study.next();
            study.finding
        });
        if let Some(id) = finding {
            ask_worker(self, id, Topic::Search, words);
        }
    }

    /// The fold to open and scroll to in the document of `holder`, returned once.
    pub fn take_sought(self, holder: &str) -> String {
        let sought = match holder {
            STUDY => self.study.try_update_untracked(|study| std::mem::take(&mut study.sought)),
            PLANS => self.plans.try_update_untracked(|plans| std::mem::take(&mut plans.sought).to_owned()),
            _ => None,
        };
        sought.unwrap_or_default()
    }
}

/// An id for a question other than the open study's.
pub(super) fn next_id(state: State) -> Option<u32> {
    state.study.try_update_untracked(OpenStudy::next)
}

pub(super) fn ask_worker(state: State, id: u32, topic: Topic, of: String) {
    let link = state.form.with_untracked(Form::link);
    let asked = StudyRequest { id, topic, of, link, page: address::page() };
    state.with_client(|client| client.study(asked));
    // A search is answered beside the study under way.
    if !matches!(topic, Topic::Better | Topic::Search) {
        suggest::displaced(state);
    }
}

/// Handles a change of the form.
pub fn changed(state: State) {
    if state.study.with_untracked(|study| study.panel.topic().is_none()) {
        return;
    }
    state.study.update(|study| study.due = true);
    end(state);
    state.study_timer.set_value(Some(Timeout::new(PAUSE_MS, move || ask(state))));
}

pub fn end(state: State) {
    let id = state.study.with_untracked(|study| study.id);
    state.with_client(|client| client.end_study(id));
}

pub fn ask(state: State) {
    state.study_timer.set_value(None);
    let asked = state.study.try_update(|study| {
        study.id = study.next();
        study.due = true;
        Some((study.id, study.panel.topic()?, study.of.clone()))
    });
    let Some((id, topic, of)) = asked.flatten() else { return end(state) };
    if let Some(failed) = state.worker.with_untracked(WorkerStatus::ended) {
        return state.study.update(|study| (study.due, study.failed) = (false, failed));
    }
    ask_worker(state, id, topic, of);
}

pub fn receive(state: State, studied: Studied) {
    state.study.update(|study| {
        if study.finding == studied.id {
            let of =
                if studied.document.chosen.starts_with(PICK) { &mut study.picked } else { &mut study.found };
            *of = studied.document;
        } else if study.id == studied.id {
            study.due = false;
            study.studied = studied;
        } else {
            suggest::receive(&mut study.suggestion, studied);
        }
    });
    suggest::rest(state);
}
