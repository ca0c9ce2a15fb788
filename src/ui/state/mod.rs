//! The page's state: every signal, made once at the root.

pub mod address;
mod find;
pub mod frame;
mod predict;
mod study;
mod suggest;
mod sweep;
mod texts;
mod theme;

use leptos::prelude::*;

use crate::config::inputs::Input;
use crate::config::{Field, Issue};
use crate::graph::Phase;
use crate::worker::client::Client;
use crate::worker::protocol::{Answer, Pass, Reading};

pub use crate::config::inputs::Form;
pub use find::Finding;
use gloo::timers::callback::Timeout;
use predict::Predictor;
pub use predict::WorkerStatus;
pub use study::{OpenStudy, STUDY};
pub use sweep::{Progress, Sweep};
pub use theme::ThemeChoice;

/// What the efficiencies behind the numbers are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// Every kernel at its ideal: an upper bound on speed.
    Roofline,
    /// Of this release of the models.
    Learned(String),
}

/// An answer, what it rests on, and what was found on the way.
#[derive(Debug, Clone)]
pub struct Shown {
    pub basis: Basis,
    pub answer: Answer,
    pub issues: Vec<Issue>,
}

/// All signals of the page. Copied freely; the signals live as long as the page.
#[derive(Clone, Copy)]
pub struct State {
    pub form: RwSignal<Form>,
    /// Whether the page has something to show: until then nothing of the columns is seen.
    pub begun: RwSignal<bool>,
    /// The last good answer; it stays while the form asks for something else, dimmed where that has no answer.
    pub answer: RwSignal<Option<Shown>>,
    /// Whether `answer` is not, or not yet, the answer to `form`.
    pub stale: RwSignal<bool>,
    /// Why the form, as it was asked about last, has no answer.
    pub findings: RwSignal<Vec<Issue>>,
    pub worker: RwSignal<WorkerStatus>,
    /// What was found in texts of the visitor's own, each to be a field.
    pub texts: RwSignal<Vec<Issue>>,
    pub sweep: RwSignal<Sweep>,
    /// What the trace to be replayed holds; empty without one.
    pub trace: RwSignal<String>,
    pub study: RwSignal<OpenStudy>,
    /// The plans, where the page is to find some.
    pub plans: RwSignal<Finding>,
    /// Whether the page is to find plans.
    pub finding: RwSignal<bool>,
    /// Changes where the controls of what may vary are to be made anew.
    pub renew: RwSignal<u32>,
    /// The kernel whose row is pointed at, by the id of its point in the roofline; empty where none is.
    pub pointed: RwSignal<String>,
    /// The words that the search was last asked for with.
    pub search: RwSignal<String>,
    /// Begins the next study.
    study_timer: StoredValue<Option<Timeout>, LocalStorage>,
    /// Begins the search for what would be better.
    suggestion_timer: StoredValue<Option<Timeout>, LocalStorage>,
    /// Begins the next sweep.
    sweep_timer: StoredValue<Option<Timeout>, LocalStorage>,
    predictor: StoredValue<Predictor, LocalStorage>,
    pub theme: RwSignal<ThemeChoice>,
    /// Whether charts are to be drawn for a dark page.
    pub dark: Signal<bool>,
    /// The control whose choice made the newest history entry.
    last_pushed: StoredValue<Option<&'static str>>,
}

impl State {
    /// Reads the address and starts predicting.
    pub fn start() -> Self {
        let theme = RwSignal::new(theme::applied());
        let form = address::form();
        let finding = form.find().is_some() && frame::view().is_none();
        let state = Self {
            form: RwSignal::new(form),
            // What a frame shows is arranged with its first answer.
            begun: RwSignal::new(frame::view().is_some()),
            answer: RwSignal::new(None),
            stale: RwSignal::new(true),
            findings: RwSignal::new(Vec::new()),
            worker: RwSignal::new(WorkerStatus::Starting),
            texts: RwSignal::new(Vec::new()),
            sweep: RwSignal::new(Sweep::default()),
            trace: RwSignal::new(String::new()),
            study: RwSignal::new(OpenStudy::default()),
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
        address::replace(&self.form.with_untracked(Form::link));
    }

    /// A choice made with the control `id`: a new history entry, unless the newest one is already this
    /// control's (a slider being dragged).
    pub fn choose(self, id: &'static str, change: impl FnOnce(&mut Form)) {
        self.form.update(change);
        let link = self.form.with_untracked(Form::link);
        if self.last_pushed.get_value() == Some(id) {
            address::replace(&link);
        } else if address::push(&link) {
            self.last_pushed.set_value(Some(id));
        }
    }

    /// What a link meant all along: replaces its entry.
    fn amend(self, change: impl FnOnce(&mut Form)) {
        self.form.update(change);
        address::replace(&self.form.with_untracked(Form::link));
    }

    /// The address of this configuration, with the release of data and weights once it is known.
    pub fn shared_address(self) -> String {
        let address = address::address();
        match self.worker.get_untracked() {
            WorkerStatus::Ready { release } => {
                let page = address.split('#').next().unwrap_or_default();
                format!("{page}#{}", self.form.with_untracked(|form| form.pinned_link(release)))
            }
            _ => address,
        }
    }

    /// Opens the search with these words in it.
    pub fn search_for(self, words: String) {
        self.search.set(words);
    }

    /// Puts what a text of the visitor's holds on the form, as its `field`, or says in `texts` why not.
    pub fn read(self, field: Field, text: String) {
        self.predictor.update_value(|predictor| predictor.named = None);
        texts::read(self, field, text);
    }

    /// Says what was found in such a text.
    pub fn found(self, field: Field, issues: Vec<Issue>) {
        texts::found(self, field, issues);
    }

    /// Has the form's own load run again.
    pub fn end_replay(self) {
        self.trace.set(String::new());
        texts::found(self, Field::Trace, Vec::new());
    }

    /// Forgets what was measured.
    pub fn end_measured(self) {
        texts::end_measured(self);
    }

    /// Ends the sweep under way; what it has found so far stays.
    pub fn stop_sweep(self) {
        sweep::stop(self);
    }

    /// Shows the page in place of the skeleton.
    fn show_page(self) {
        if !self.begun.get_untracked() {
            self.begun.set(true);
        }
    }

    /// Does something with the worker, if there is one.
    fn with_client(self, with: impl FnOnce(&Client)) {
        self.predictor.with_value(|predictor| {
            if let Some(client) = predictor.client() {
                with(client);
            }
        });
    }

    /// What `read` finds in the answer, if there is one.
    pub fn of_answer<T>(self, read: impl FnOnce(&Answer) -> Option<T>) -> Option<T> {
        self.answer.with(|shown| shown.as_ref().and_then(|shown| read(&shown.answer)))
    }

    /// The number of the headline with this id, if the answer has it.
    pub fn reading(self, id: &str) -> Option<Reading> {
        self.of_answer(|answer| answer.readings.iter().find(|reading| reading.id == id).cloned())
    }

    /// What `read` finds in the answer's breakdown of `phase`, if there is one.
    pub fn of_pass<T>(self, phase: Phase, read: impl FnOnce(&Pass) -> Option<T>) -> Option<T> {
        self.of_answer(|answer| answer.passes.get(phase as usize).and_then(read))
    }

    /// Whether an input must be mended before there is an answer.
    pub fn has_errors(self) -> bool {
        self.form.with(|form| form.issues().iter().any(Issue::is_error))
            || self.findings.with(|findings| findings.iter().any(Issue::is_error))
    }

    /// Everything found, of the form first.
    pub fn issues(self) -> Vec<Issue> {
        let mut issues: Vec<Issue> = self.form.with(|form| form.issues().to_vec());
        self.findings.with(|findings| issues.extend_from_slice(findings));
        if let WorkerStatus::Ready { release } = self.worker.get() {
            issues.extend(self.form.with(|form| form.then_and_now(&release)));
        }
        // Until the next answer, what was found of the last one stands: most of it will be found again.
        if !self.has_errors() && !self.finding.get() {
            self.answer
                .with(|shown| issues.extend(shown.iter().flat_map(|shown| shown.issues.iter().cloned())));
        }
        issues.dedup();
        issues
    }

    /// Everything found about `field`.
    pub fn issues_of(self, field: Field) -> Vec<Issue> {
        let mut issues = self.issues();
        issues.retain(|issue| issue.field == field);
        issues.dedup();
        issues
    }
}
