//! The page's state: all signals, created once at the root.

pub mod address;
mod find;
pub mod frame;
mod predict;
mod study;
mod suggest;
mod sweep;
mod texts;
mod theme;

use crate::serving::report::Basis;
use leptos::prelude::*;

use crate::config::inputs::Input;
use crate::config::{Field, Issue};
use crate::graph::Phase;
use crate::worker::client::Client;
use crate::worker::protocol::{Answer, Pass, Reading};

pub use crate::config::inputs::Form;
use address::Kept;
pub use find::Finding;
use gloo::timers::callback::Timeout;
use predict::Predictor;
pub use predict::WorkerStatus;
pub use study::{OpenStudy, PLANS, STUDY};
pub use sweep::{Progress, Sweep};
pub use texts::RequestText;
pub use theme::ThemeChoice;

/// A configuration of the visit: its link, and the description of the trace that replaces its load.
pub type Visited = (String, String);

/// An answer, its basis, and the issues found.
#[derive(Debug, Clone)]
pub struct Shown {
    pub basis: Basis,
    pub answer: Answer,
    pub issues: Vec<Issue>,
}

/// All signals of the page. Freely copied; they live as long as the page.
#[derive(Clone, Copy)]
pub struct State {
    pub form: RwSignal<Form>,
    /// Whether there is something to show: until then the columns are hidden.
    pub begun: RwSignal<bool>,
    /// The last valid answer; kept while the form changes, and dimmed if the form has no answer.
    pub answer: RwSignal<Option<Shown>>,
    /// Whether `answer` is not (yet) for `form`.
    pub stale: RwSignal<bool>,
    /// Issues found when the form was last asked, including the reason if it has no answer.
    pub findings: RwSignal<Vec<Issue>>,
    pub worker: RwSignal<WorkerStatus>,
    /// Issues with the visitor's texts, by field.
    pub texts: RwSignal<Vec<Issue>>,
    /// The last request in one line.
    pub said: RwSignal<RequestText>,
    pub sweep: RwSignal<Sweep>,
    /// Description of the trace that replaces the form's load; empty if none does.
    pub trace: RwSignal<String>,
    /// Description of the trace that the worker holds; a reload or another trace discards the one before.
    held_trace: RwSignal<String>,
    pub study: RwSignal<OpenStudy>,
    /// The plans in Find mode.
    pub plans: RwSignal<Finding>,
    /// Whether the page is in Find mode.
    pub finding: RwSignal<bool>,
    /// Changes when the Find controls must be re-rendered.
    pub renew: RwSignal<u32>,
    /// The kernel whose row is under the pointer, by the id of its roofline point; empty if none.
    pub pointed: RwSignal<String>,
    /// The words last searched for.
    pub search: RwSignal<String>,
    /// Starts the next study.
    study_timer: StoredValue<Option<Timeout>, LocalStorage>,
    /// Starts the search for a suggestion.
    suggestion_timer: StoredValue<Option<Timeout>, LocalStorage>,
    /// Starts the next sweep.
    sweep_timer: StoredValue<Option<Timeout>, LocalStorage>,
    predictor: StoredValue<Predictor, LocalStorage>,
    pub theme: RwSignal<ThemeChoice>,
    /// Whether charts are drawn for a dark page.
    pub dark: Signal<bool>,
    /// The control that made the newest history entry.
    last_pushed: StoredValue<Option<&'static str>>,
}

impl State {
    /// Reads the address and starts predicting.
    pub fn start() -> Self {
        let theme = RwSignal::new(theme::applied());
        let form = address::form();
        let Kept { trace, panel } = Kept::opened(&form);
        let finding = form.find().is_some() && frame::view().is_none();
        let state = Self {
            form: RwSignal::new(form),
            // A frame is arranged with its first answer.
            begun: RwSignal::new(frame::view().is_some()),
            answer: RwSignal::new(None),
            stale: RwSignal::new(true),
            findings: RwSignal::new(Vec::new()),
            worker: RwSignal::new(WorkerStatus::Starting),
            texts: RwSignal::new(Vec::new()),
            said: RwSignal::new(RequestText::default()),
            sweep: RwSignal::new(Sweep::default()),
            trace: RwSignal::new(trace),
            held_trace: RwSignal::new(String::new()),
            study: RwSignal::new(OpenStudy::in_panel(panel)),
            suggestion_timer: StoredValue::new_local(None),
            pointed: RwSignal::new(String::new()),
            search: RwSignal::new(String::new()),
            plans: RwSignal::new(Finding::default()),
            finding: RwSignal::new(finding),
            renew: RwSignal::new(0),
            study_timer: StoredValue::new_local(None),
            sweep_timer: StoredValue::new_local(None),
            predictor: StoredValue::new_local(Predictor::default()),
            theme,
            dark: theme::watch(theme, frame::view().is_none()),
            last_pushed: StoredValue::new(None),
        };
        address::follow(state);
        predict::start(state);
        frame::tell(state);
        state
    }

    /// The state of this page.
    pub fn get() -> Self {
        expect_context()
    }

    /// A keystroke: replaces the history entry.
    pub fn type_text(self, input: &'static Input, text: String) {
        self.form.update(|form| form.type_text(input, text));
        self.last_pushed.set_value(None);
        self.replace();
    }

    /// What a reload must find again.
    fn kept(self) -> Kept {
        Kept { trace: self.trace.get_untracked(), panel: self.study.with_untracked(|study| study.panel) }
    }

    /// Replaces the history entry.
    fn replace(self) {
        address::replace(&self.form.with_untracked(Form::link), self.kept());
    }

    /// A choice made with control `id`: adds a history entry, unless the newest one is already this control's
    /// (dragging a slider).
    pub fn choose(self, id: &'static str, change: impl FnOnce(&mut Form)) {
        self.form.update(change);
        let link = self.form.with_untracked(Form::link);
        if self.last_pushed.get_value() != Some(id) && address::push(&link, self.kept()) {
            self.last_pushed.set_value(Some(id));
        } else {
            self.replace();
        }
    }

    /// Normalises a link: replaces its entry.
    fn amend(self, change: impl FnOnce(&mut Form)) {
        self.form.update(change);
        self.replace();
    }

    /// The address of this configuration, pinned to the release of data and weights once known.
    pub fn shared_address(self) -> String {
        match self.worker.get_untracked() {
            WorkerStatus::Ready { release } => {
                address::url(&self.form.with_untracked(|form| form.pinned_link(release)))
            }
            _ => address::address(),
        }
    }

    /// Opens the search with these words.
    pub fn search_for(self, words: String) {
        self.search.set(words);
    }

    /// Applies the visitor's text to the form as `field`, or reports in `texts` why not.
    pub fn read(self, field: Field, text: String) {
        texts::read(self, field, text, false);
    }

    /// Applies a request in one line; without one there is nothing to apply.
    pub fn say(self, text: String) {
        if text.trim().is_empty() {
            return self.found(Field::Vary, Vec::new());
        }
        self.said.update_untracked(|said| said.typed.clone_from(&text));
        self.read(Field::Vary, text);
    }

    /// Returns to the form's own load.
    pub fn end_replay(self) {
        self.trace.set(String::new());
        self.replace();
        self.found(Field::Trace, Vec::new());
    }

    /// Whether a trace replaces the form's load, and the worker has it.
    pub fn replays(self) -> bool {
        self.trace.with(|trace| !trace.is_empty() && self.held_trace.with(|held| held == trace))
    }

    /// Returns to an earlier configuration, with the trace that replaced its load.
    pub fn travel(self, (link, trace): Visited) {
        self.trace.set(trace);
        // The page sees this like any change of the address.
        address::open(&link);
        self.kept().keep();
    }

    /// Shows the page instead of the skeleton.
    fn show_page(self) {
        if !self.begun.get_untracked() {
            self.begun.set(true);
        }
    }

    /// Uses the worker, if there is one.
    fn with_client(self, with: impl FnOnce(&Client)) {
        self.predictor.with_value(|predictor| {
            if let Some(client) = predictor.client() {
                with(client);
            }
        });
    }

    /// Applies `read` to the answer, if there is one.
    pub fn of_answer<T>(self, read: impl FnOnce(&Answer) -> Option<T>) -> Option<T> {
        self.answer.with(|shown| shown.as_ref().and_then(|shown| read(&shown.answer)))
    }

    /// The headline number with this id, if the answer has it.
    pub fn reading(self, id: &str) -> Option<Reading> {
        self.of_answer(|answer| answer.readings.iter().find(|reading| reading.id == id).cloned())
    }

    /// Applies `read` to the answer's breakdown of `phase`, if there is one.
    pub fn of_pass<T>(self, phase: Phase, read: impl FnOnce(&Pass) -> Option<T>) -> Option<T> {
        self.of_answer(|answer| answer.passes.get(phase as usize).and_then(read))
    }

    /// Whether an input must be corrected before there is an answer.
    pub fn has_errors(self) -> bool {
        self.form.with(|form| form.issues().iter().any(Issue::is_error))
            || self.findings.with(|findings| findings.iter().any(Issue::is_error))
    }

    /// All issues, the form's first.
    pub fn issues(self) -> Vec<Issue> {
        let mut issues: Vec<Issue> = self.form.with(|form| form.issues().to_vec());
        // What is said of the last number of a box does not apply to the text that stands there now.
        let read = |issue: &&Issue| self.form.with(|form| !form.is_unread(issue.field));
        self.findings.with(|findings| issues.extend(findings.iter().filter(read).cloned()));
        if let WorkerStatus::Ready { release } = self.worker.get() {
            issues.extend(self.form.with(|form| form.then_and_now(&release)));
        }
        // Until the next answer, issues of the last one are kept: most will be found again.
        if !self.has_errors() && !self.finding.get() {
            self.answer
                .with(|shown| issues.extend(shown.iter().flat_map(|shown| shown.issues.iter().cloned())));
        }
        issues.dedup();
        issues
    }

    /// All issues of `field`.
    pub fn issues_of(self, field: Field) -> Vec<Issue> {
        let mut issues = self.issues();
        issues.retain(|issue| issue.field == field);
        issues.dedup();
        issues
    }
}
