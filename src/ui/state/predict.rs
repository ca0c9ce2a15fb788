//! From the form to the answer: the worker has all of it.

use gloo::timers::callback::Timeout;
use gloo::utils::{document, window};
use leptos::prelude::*;

use super::{Basis, Form, Shown, State, find, study, suggest, sweep, texts};
use crate::config::inputs::check_ranges;
use crate::config::{Field, Issue};
use crate::worker::client::{Client, Event, Files};
use crate::worker::protocol::{Answered, Ask, FromWorker, Text};

/// The page is shown without numbers where none have come for so long.
const SHOWN_AFTER_MS: u32 = 800;

/// Where the learned models are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerStatus {
    Starting,
    Ready {
        release: String,
    },
    /// Not here yet, long after they should be.
    Late,
    /// They will not come: numbers are those of the roofline.
    Failed {
        reason: String,
    },
    /// Nor will any other numbers.
    Ended {
        reason: String,
    },
}

impl WorkerStatus {
    /// Why the worker does nothing any more.
    pub fn ended(&self) -> Option<String> {
        match self {
            Self::Ended { reason } => {
                Some(format!("Numbers are worked out in a worker, which failed: {reason}"))
            }
            _ => None,
        }
    }
}

/// What outlives one prediction.
#[derive(Default)]
pub struct Predictor {
    client: Option<Client>,
    /// What the texts are to be that wait for the worker, or are with it.
    pub reading: Vec<Field>,
    /// Of these, the texts that no worker was there for yet.
    unread: Vec<Text>,
    /// The name of a link that the worker looks up, until it has.
    pub named: Option<String>,
    /// The question asked last, if the form has one.
    newest: Option<Ask>,
    asked: u32,
}

impl Predictor {
    pub fn client(&self) -> Option<&Client> {
        self.client.as_ref()
    }

    /// Has the worker read `text` as soon as there is one.
    pub fn read(&mut self, text: Text) {
        self.reading.push(text.field);
        match &self.client {
            Some(client) => client.read(text),
            None => self.unread.push(text),
        }
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
    // A task of its own, as the mounting of the page is one.
    Timeout::new(0, move || start_worker(state)).forget();
}

/// Asks the worker what the form means.
fn predict(state: State) {
    if find::changed(state) {
        return state.predictor.update_value(|predictor| predictor.newest = None);
    }
    state.stale.set(true);
    sweep::end(state);
    suggest::end(state);
    // The form still says what is out of its range.
    if let Some(why) = state.worker.with_untracked(WorkerStatus::ended) {
        let mut found: Vec<Issue> = state.form.with_untracked(|form| check_ranges(form.scenario()).collect());
        found.push(Issue::error(Field::Data, why));
        state.findings.set(found);
    }
    let (link, replay) =
        (state.form.with_untracked(Form::link), state.trace.with_untracked(|trace| !trace.is_empty()));
    state.predictor.update_value(|predictor| {
        predictor.asked = predictor.asked.wrapping_add(1);
        predictor.newest = Some(Ask { id: predictor.asked, link, replay });
        if let (Some(client), Some(asked)) = (&predictor.client, &predictor.newest) {
            client.ask(asked.clone());
        }
    });
    texts::look_up(state);
    study::changed(state);
}

/// Takes in the answer to the newest question; to an older one the form has changed.
fn answered(state: State, answered: Answered) {
    let newest =
        |predictor: &Predictor| predictor.newest.as_ref().is_some_and(|asked| asked.id == answered.id);
    if !state.predictor.with_value(newest) {
        return;
    }
    let Answered { id, release, issues, answer, has_loads } = answered;
    state.show_page();
    // The worker was asked about the last good number: what it finds wrong stands, its answer is not the form's.
    if state.form.with_untracked(Form::has_bad_draft) {
        return state.findings.set(issues);
    }
    // Where the models are on their way, another answer is.
    let last =
        release.is_some() || state.worker.with_untracked(|of| matches!(of, WorkerStatus::Failed { .. }));
    let basis = release.map_or(Basis::Roofline, Basis::Learned);
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
    match Client::start(&files, move |event| hear(state, event)) {
        Ok(client) => state.predictor.update_value(|predictor| {
            if let Some(asked) = &predictor.newest {
                client.ask(asked.clone());
            }
            predictor.unread.drain(..).for_each(|text| client.read(text));
            predictor.client = Some(client);
        }),
        Err(_) => end(state, "this browser refuses to start it".into()),
    }
    // A view, or plans, may have been asked for meanwhile.
    if !find::resume(state) {
        study::ask(state);
    }
}

fn hear(state: State, event: Event) {
    match event {
        Event::Late => state.worker.set(WorkerStatus::Late),
        Event::Ended(reason) => end(state, reason),
        Event::Message(message) => match message {
            // Answered by the client.
            FromWorker::Up { .. } => {}
            FromWorker::Loaded { release } => state.worker.set(WorkerStatus::Ready { release }),
            FromWorker::Failed { reason } => {
                state.worker.set(WorkerStatus::Failed { reason });
                predict(state);
            }
            FromWorker::Answered(of) => answered(state, *of),
            FromWorker::Read(read) => texts::heard(state, read),
            FromWorker::Swept(curve) => sweep::swept(state, curve),
            FromWorker::Studied(studied) if find::heard(state, &studied) => {}
            FromWorker::Studied(studied) => study::heard(state, studied),
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

/// The files named on the script that loaded the page (`scripts/hooks/name.mjs` put them there).
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
