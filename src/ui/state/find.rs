//! The search for plans: run by the worker in Find mode, and again when the request changes.

use gloo::timers::callback::Timeout;
use leptos::prelude::*;

use super::{Form, Progress, State, address, frame, study, sweep, texts};
use crate::config::link::{Link, MOST_COMPARED, SearchSpace, decode};
use crate::config::{Dtype, Field, Issue};
use crate::study::{Block, Topic};
use crate::worker::protocol::Studied;

/// Pause in editing after which a search starts.
const PAUSE_MS: u32 = 400;

/// The current plans.
#[derive(Debug, Clone, Default)]
pub struct Finding {
    id: u32,
    /// The link they belong to.
    pub of: String,
    pub progress: Progress,
    pub studied: Studied,
    /// Links of plans marked for comparison.
    marked: Vec<String>,
    /// The fold of their document to open and scroll to; empty if none.
    pub(super) sought: &'static str,
    /// The last search in Find mode, and its model and formats.
    kept: SearchSpace,
    model: (String, Option<Dtype>, Dtype),
}

impl Finding {
    pub fn is_marked(&self, plan: &str) -> bool {
        self.marked.iter().any(|known| known == plan)
    }

    /// The link of the search, if this configuration is one of its plans and nothing else is sought since.
    fn back_from(&self, configuration: &str) -> Option<String> {
        let rows =
            self.studied.document.blocks.iter().filter_map(Block::as_table).flat_map(|table| &table.rows);
        let mut links = rows.filter_map(|row| row.cells.first()?.link.strip_prefix('#'));
        let is_plan = links.any(|plan| plan == configuration);
        (is_plan && decode(&self.of).0.find.as_ref() == Some(&self.kept)).then(|| self.of.clone())
    }

    /// Whether no further plan can be marked.
    pub fn is_full(&self) -> bool {
        self.marked.len() > MOST_COMPARED
    }

    pub fn toggle(&mut self, plan: &str) {
        match self.marked.iter().position(|known| known == plan) {
            Some(at) => drop(self.marked.remove(at)),
            None if self.is_full() => {}
            None => self.marked.push(plan.to_owned()),
        }
    }

    /// How many plans are marked, and the fragment that compares them; `None` for fewer than two.
    pub fn comparison(&self) -> Option<(usize, String)> {
        let scenarios = self.marked.iter().map(|plan| decode(plan).0.scenario);
        let all: Vec<_> = scenarios.collect();
        let (first, others) = all.split_first().filter(|(_, others)| !others.is_empty())?;
        let link = Link { compared: others.to_vec(), ..Link::new(first.clone()) };
        Some((all.len(), format!("#{}", link.encode())))
    }
}

impl State {
    /// Switches to Find with the last search, or back to the form's configuration. From a plan it leads back to the others.
    pub fn seek(self, on: bool) {
        let own = self.form.with_untracked(Form::link);
        let of = self.plans.with_untracked(|plans| plans.back_from(&own));
        if let Some(of) = of.filter(|_| on) {
            return address::open(&of);
        }
        let kept = on.then(|| self.plans.with_untracked(|plans| plans.kept.clone()));
        // A switch there and back is two steps: replacing the first would leave an entry like the one before.
        self.last_pushed.set_value(None);
        self.choose("mode", |form| form.set_find(kept));
    }

    /// Changes what may vary, from the control with this name.
    pub fn wish(self, id: &'static str, change: impl FnOnce(&mut SearchSpace)) {
        let mut find = self.form.with_untracked(|form| form.find().cloned()).unwrap_or_default();
        change(&mut find);
        self.plans.update(|plans| plans.kept = find.clone());
        self.choose(id, |form| form.set_find(Some(find)));
    }

    /// Ends the search, keeping its results.
    pub fn stop_plans(self) {
        end(self, Progress::Stopped);
    }

    pub fn resume_plans(self) {
        begin(self);
    }
}

/// Handles a change of the form. Returns whether the page is in Find mode, where the form's configuration is not
/// predicted.
pub fn changed(state: State) -> bool {
    // Frames show one configuration.
    let find = state.form.with_untracked(|form| form.find().cloned()).filter(|_| frame::view().is_none());
    if state.finding.get_untracked() != find.is_some() {
        state.finding.set(find.is_some());
    }
    let progress = state.plans.with_untracked(|plans| plans.progress);
    let Some(find) = find else {
        if matches!(progress, Progress::Due | Progress::Running) {
            state.study_timer.set_value(None);
            end(state, Progress::Due);
        }
        return false;
    };
    sweep::end(state);
    state.stale.set(true);
    state.show_page();
    texts::look_up(state);
    let (link, model) = state.form.with_untracked(|form| {
        let of = form.scenario();
        (form.link(), (of.model.id().to_owned(), of.weights, of.kv))
    });
    let (is_new, is_other) = state.plans.with_untracked(|plans| {
        (
            plans.of != link || matches!(progress, Progress::Due | Progress::None),
            plans.kept != find || plans.model != model,
        )
    });
    if is_other {
        state.plans.update(|plans| (plans.kept, plans.model) = (find, model));
        state.renew.update(|times| *times += 1);
    }
    if !is_new {
        state.findings.set(state.plans.with_untracked(|plans| plans.studied.issues.clone()));
        return true;
    }
    if state.said.with_untracked(|said| said.link != link) {
        state.found(Field::Vary, Vec::new());
    }
    state.findings.set(Vec::new());
    let is_bad = state.form.with_untracked(Form::has_bad_draft);
    end(state, if is_bad { Progress::None } else { Progress::Due });
    let timer = (!is_bad).then(|| Timeout::new(PAUSE_MS, move || begin(state)));
    state.study_timer.set_value(timer);
    true
}

/// Ends the current search.
fn end(state: State, progress: Progress) {
    if state.plans.with_untracked(|plans| plans.progress == Progress::Running) {
        let id = state.plans.with_untracked(|plans| plans.id);
        state.with_client(|client| client.end_study(id));
    }
    state.plans.update(|plans| plans.progress = progress);
}

fn begin(state: State) {
    state.study_timer.set_value(None);
    let of = state.form.with_untracked(Form::link);
    let Some(id) = study::next_id(state) else { return };
    state.plans.update(|plans| {
        // Only another request has other plans.
        if plans.of != of {
            plans.marked.clear();
            (plans.studied.done, plans.studied.total) = (0, 0);
        }
        (plans.id, plans.of) = (id, of);
        plans.progress = Progress::Running;
    });
    study::ask_worker(state, id, Topic::Plans, String::new());
}

/// Called once the worker has started. Returns whether the page is in Find mode, starting a search asked for
/// meanwhile.
pub fn resume(state: State) -> bool {
    let finding = state.finding.get_untracked();
    if finding && state.plans.with_untracked(|plans| plans.progress == Progress::Running) {
        begin(state);
    }
    finding
}

/// Takes a result if it belongs to the plans; returns whether it does.
pub fn receive(state: State, studied: &Studied) -> bool {
    let is_own = state.plans.with_untracked(|plans| plans.id == studied.id);
    if is_own && state.plans.with_untracked(|plans| plans.progress == Progress::Running) {
        let issues: Vec<Issue> = studied.issues.clone();
        state.plans.update(|plans| {
            if studied.done == studied.total {
                plans.progress = Progress::Done;
            }
            plans.studied = studied.clone();
        });
        if state.finding.get_untracked() {
            state.findings.set(issues);
        }
    }
    is_own
}
