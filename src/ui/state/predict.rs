//! From the form to the answer, which comes from the worker.

use crate::serving::report::Basis;
use gloo::timers::callback::Timeout;
use gloo::utils::{document, window};
use leptos::prelude::*;

use super::{Form, Shown, State, find, study, suggest, sweep, texts};
use crate::config::inputs::check_ranges;
use crate::config::{Field, Issue};
use crate::worker::client::{Client, Event, Files};
use crate::worker::protocol::{Answered, FromWorker, PredictionRequest, Text};

/// Delay after which the page is shown without numbers.
const SHOWN_AFTER_MS: u32 = 800;

/// State of the learned models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerStatus {
    Starting,
    Ready {
        release: String,
    },
    /// Long overdue.
    Late,
    /// Failed to load: numbers stay at the roofline.
    Failed {
        reason: String,
    },
    /// The worker has ended, without further numbers.
    Ended {
        reason: String,
    },
}

impl WorkerStatus {
    /// The message that the worker has ended, and why; `None` if it has not.
    pub fn ended(&self) -> Option<String> {
        match self {
            Self::Ended { reason } => Some(format!("The prediction worker failed: {reason}")),
            _ => None,
        }
    }
}

/// State kept between predictions.
#[derive(Default)]
pub struct Predictor {
    client: Option<Client>,
    /// Texts waiting for the worker, or being read; and whether each is a name that a link holds.
    pub reading: Vec<(Text, bool)>,
    /// The last question, if the form has one.
    newest: Option<PredictionRequest>,
    asked: u32,
}

impl Predictor {
    pub fn client(&self) -> Option<&Client> {
        self.client.as_ref()
    }

    /// Has the worker read `text` as soon as possible.
    pub fn read(&mut self, text: Text, is_of_link: bool) {
        if let Some(client) = &self.client {
            client.read(text.clone());
        }
        self.reading.push((text, is_of_link));
    }
}

/// Predicts on every change of the form.
pub fn start(state: State) {
    Effect::new(move |_| {
        state.form.track();
        state.trace.track();
        predict(state);
    });
    Timeout::new(SHOWN_AFTER_MS, move || state.show_page()).forget();
    // A separate task, like mounting the page.
    Timeout::new(0, move || start_worker(state)).forget();
}

/// Asks the worker about the form.
fn predict(state: State) {
    if find::changed(state) {
        return state.predictor.update_value(|predictor| predictor.newest = None);
    }
    state.stale.set(true);
    sweep::end(state);
    suggest::end(state);
    // The form still reports what is out of range.
    if let Some(why) = state.worker.with_untracked(WorkerStatus::ended) {
        let mut found: Vec<Issue> = state.form.with_untracked(|form| check_ranges(form.scenario()).collect());
        found.push(Issue::error(Field::Data, why));
        state.findings.set(found);
    }
    let (link, replay) = (state.form.with_untracked(Form::link), untrack(|| state.replays()));
    state.predictor.update_value(|predictor| {
        predictor.asked = predictor.asked.wrapping_add(1);
        predictor.newest = Some(PredictionRequest { id: predictor.asked, link, replay });
        if let (Some(client), Some(asked)) = (&predictor.client, &predictor.newest) {
            client.ask(asked.clone());
        }
    });
    texts::look_up(state);
    study::changed(state);
}

/// Handles the answer to the newest question; older ones are outdated.
fn answered(state: State, answered: Answered) {
    let newest =
        |predictor: &Predictor| predictor.newest.as_ref().is_some_and(|asked| asked.id == answered.id);
    if !state.predictor.with_value(newest) {
        return;
    }
    let Answered { id, release, issues, answer, has_loads } = answered;
    state.show_page();
    // The worker was asked with the last valid number: its issues apply, but its answer does not match the form.
    if state.form.with_untracked(Form::has_bad_draft) {
        return state.findings.set(issues);
    }
    // If the models are loading, another answer follows.
    let last =
        release.is_some() || state.worker.with_untracked(|of| matches!(of, WorkerStatus::Failed { .. }));
    let basis = release.map_or(Basis::Roofline, |release| Basis::Learned { release });
    match answer {
        Some(answer) => {
            state.findings.set(Vec::new());
            state.answer.set(Some(Shown { basis, answer, issues }));
            state.stale.set(false);
        }
        None => state.findings.set(issues),
    }
    if !has_loads {
        sweep::none(state);
        suggest::rest(state);
    } else if last {
        sweep::begin(state, id);
    } else {
        sweep::expect(state);
    }
}

fn start_worker(state: State) {
    let Some(files) = files() else {
        return end(state, "this build of the page has no worker".into());
    };
    match Client::start(&files, move |event| receive(state, event)) {
        Ok(client) => state.predictor.update_value(|predictor| {
            if let Some(asked) = &predictor.newest {
                client.ask(asked.clone());
            }
            predictor.reading.iter().for_each(|(text, _)| client.read(text.clone()));
            predictor.client = Some(client);
        }),
        Err(_) => end(state, "this browser refuses to start it".into()),
    }
    // A view, or plans, may have been requested meanwhile.
    if !find::resume(state) {
        study::ask(state);
    }
}

fn receive(state: State, event: Event) {
    match event {
        // A worker that has ended will never load them.
        Event::Late if state.worker.get_untracked() == WorkerStatus::Starting => {
            state.worker.set(WorkerStatus::Late);
        }
        Event::Late => {}
        Event::Ended(reason) => end(state, reason),
        Event::Message(message) => match message {
            // Handled by the client.
            // The client ends at the latter.
            FromWorker::Up { .. } | FromWorker::Unreadable { .. } => {}
            FromWorker::Loaded { release } => state.worker.set(WorkerStatus::Ready { release }),
            FromWorker::Failed { reason } => {
                state.worker.set(WorkerStatus::Failed { reason });
                predict(state);
            }
            FromWorker::Answered(of) => answered(state, *of),
            FromWorker::Read(read) => texts::receive(state, read),
            FromWorker::Swept(curve) => sweep::swept(state, curve),
            FromWorker::Studied(studied) if find::receive(state, &studied) => {}
            FromWorker::Studied(studied) => study::receive(state, studied),
        },
    }
}

/// No more numbers will come.
fn end(state: State, reason: String) {
    state.worker.set(WorkerStatus::Ended { reason });
    texts::ended(state);
    state.show_page();
    predict(state);
    study::ask(state);
}

/// File names from the script tag that loaded the page (set by `scripts/hooks/name.mjs`).
fn files() -> Option<Files> {
    let script = document().query_selector("script[data-worker]").ok()??;
    let base = document().base_uri().ok().flatten().or_else(|| window().location().href().ok())?;
    let absolute = |name: &str| web_sys::Url::new_with_base(name, &base).ok().map(|url| url.href());
    Some(Files {
        script: absolute(&script.get_attribute("data-worker")?)?,
        wasm: absolute(&script.get_attribute("data-worker-wasm")?)?,
        models: absolute("models/")?,
    })
}
