//! From the form to the answer: the roofline at once, the learned efficiencies when the worker has them.

use gloo::timers::callback::Timeout;
use gloo::utils::{document, window};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;

use super::{Answer, Form, State, simulate, study, texts};
use crate::config::{self, Field, Issue, catalog::catalog};
use crate::efficiency::{Efficiencies, Learned};
use crate::serving::{Plan, finish, plan};
use crate::worker::client::{Client, Event, Files};
use crate::worker::protocol::{FromWorker, Text};

/// How long the last learned answer stays before the roofline of a new scenario takes its
/// place: a warm worker answers sooner, and the numbers then do not jump twice.
const GRACE_MS: u32 = 80;

/// Where the learned models are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerStatus {
    Starting,
    Ready {
        release: String,
    },
    /// Not here yet, long after they should be.
    Late,
    Failed {
        reason: String,
    },
}

/// A plan that waits for the models, or waited.
struct Question {
    id: u32,
    plan: Plan,
    /// Whether the learned answer has come.
    answered: bool,
}

/// What outlives one prediction.
#[derive(Default)]
pub struct Predictor {
    client: Option<Client>,
    /// What the texts are to be that wait for the worker, or are with it.
    pub reading: Vec<Field>,
    /// Of these, the texts that no worker was there for yet.
    unread: Vec<Text>,
    newest: Option<Question>,
    asked: u32,
    /// Shows the roofline of a question that the worker is slow to answer.
    grace: Option<Timeout>,
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

/// Predicts on every change of the form, once the browser has had a frame to lay the page out in.
pub fn start(state: State) {
    Effect::new(move |_| {
        if state.begun.get() {
            predict(state);
        }
    });
    let begin = move || {
        if !state.begun.get_untracked() {
            state.begun.set(true);
        }
        // After the first numbers, so that neither files nor compilation delay them.
        Timeout::new(0, move || start_worker(state)).forget();
    };
    let soon = move || {
        Timeout::new(0, begin).forget();
    };
    // What others frame may be out of sight, where no frames are drawn.
    if state.begun.get_untracked() {
        return soon();
    }
    let frame = Closure::once_into_js(soon);
    let _ = window().request_animation_frame(frame.unchecked_ref());
}

fn predict(state: State) {
    let (setup, mut findings) = state.form.with(|form| config::check(form.scenario(), catalog()));
    let bad_draft = state.form.with(|form| form.has_bad_draft());
    state.stale.set(true);
    simulate::end(state);
    state.predictor.update_value(|predictor| (predictor.newest, predictor.grace) = (None, None));
    match setup.map(|setup| plan(&setup)) {
        Some(Ok((plan, _))) if !bad_draft => ask(state, plan),
        Some(Err(issues)) => findings.extend(issues),
        Some(Ok(_)) | None => {}
    }
    state.findings.set(findings);
    study::changed(state);
}

fn ask(state: State, plan: Plan) {
    let learned_is_near = state.worker.with_untracked(|worker| matches!(worker, WorkerStatus::Ready { .. }))
        && state.answer.with_untracked(Option::is_some);
    state.predictor.update_value(|predictor| {
        predictor.asked = predictor.asked.wrapping_add(1);
        if let Some(client) = &predictor.client {
            client.ask(predictor.asked, state.form.with_untracked(Form::link));
        }
        if learned_is_near {
            predictor.grace = Some(Timeout::new(GRACE_MS, move || show_roofline(state)));
        }
        predictor.newest = Some(Question { id: predictor.asked, plan, answered: false });
    });
    if !learned_is_near {
        show_roofline(state);
    }
}

/// Shows the newest question at its ideal, unless its learned answer stands.
fn show_roofline(state: State) {
    let answered = state.predictor.with_value(|predictor| {
        let question = predictor.newest.as_ref().filter(|question| !question.answered)?;
        Some(answer(question, &Efficiencies::Roofline))
    });
    match answered {
        Some(Some(answer)) => show(state, answer),
        Some(None) => mismatch(state),
        None => {}
    }
}

/// Shows the learned answer with this id, unless a newer question has been asked since.
fn show_learned(state: State, id: u32, learned: Learned) {
    let answered = state.predictor.try_update_value(|predictor| {
        let question = predictor.newest.as_mut().filter(|question| question.id == id)?;
        question.answered = true;
        predictor.grace = None;
        Some(answer(question, &Efficiencies::Learned(learned)))
    });
    match answered.flatten() {
        Some(Some(answer)) => {
            // Where nothing fits there is nothing to run; arrivals beyond capacity are worth a look.
            let runs = !answer.report.passes.is_empty();
            show(state, answer);
            if runs {
                simulate::begin(state);
            }
        }
        Some(None) => mismatch(state),
        None => {}
    }
}

fn answer(question: &Question, efficiencies: &Efficiencies) -> Option<Answer> {
    let report = finish(&question.plan, efficiencies)?;
    Some(Answer { setup: question.plan.setup.clone(), report })
}

fn show(state: State, answer: Answer) {
    state.answer.set(Some(answer));
    state.stale.set(false);
}

/// An answer that does not belong to its plan: whatever stands on the page is another configuration's.
fn mismatch(state: State) {
    let text = "the efficiencies do not match this configuration: reload the page, and report it if that does not help";
    state.findings.update(|findings| findings.push(Issue::error(Field::Data, text)));
    state.stale.set(true);
}

fn start_worker(state: State) {
    let Some(files) = files() else {
        return fail(state, "this build of the page has no worker".into());
    };
    match Client::start(&files, move |event| hear(state, event)) {
        Ok(client) => {
            state.predictor.update_value(|predictor| {
                if let Some(question) = &predictor.newest {
                    client.ask(question.id, state.form.with_untracked(Form::link));
                }
                predictor.unread.drain(..).for_each(|text| client.read(text));
                predictor.client = Some(client);
            });
            // A view may have been chosen meanwhile.
            study::ask(state);
        }
        Err(_) => fail(state, "this browser refuses to start it".into()),
    }
}

fn hear(state: State, event: Event) {
    match event {
        Event::Answer { id, learned } => {
            // It may have failed over another question before.
            let ready = WorkerStatus::Ready { release: learned.release.clone() };
            if state.worker.with_untracked(|worker| *worker != ready) {
                state.worker.set(ready);
            }
            show_learned(state, id, learned);
        }
        Event::Late => state.worker.set(WorkerStatus::Late),
        Event::Message(message) => match message {
            // Answered by the client.
            FromWorker::Up { .. } => {}
            FromWorker::Loaded { release } => state.worker.set(WorkerStatus::Ready { release }),
            FromWorker::Answered { id, issues, .. } => {
                if id == state.predictor.with_value(|predictor| predictor.asked) {
                    state.findings.update(|findings| findings.extend(issues));
                    show_roofline(state);
                }
            }
            FromWorker::Read(read) => texts::heard(state, read),
            FromWorker::Simulated(run) => simulate::simulated(state, run),
            FromWorker::Swept(curve) => simulate::swept(state, curve),
            FromWorker::Studied(studied) => study::heard(state, studied),
            FromWorker::Failed { reason, .. } => fail(state, reason),
        },
    }
}

/// No learned answer will come, or none to the last question.
fn fail(state: State, reason: String) {
    texts::failed(state, &reason);
    state.worker.set(WorkerStatus::Failed { reason });
    show_roofline(state);
    study::ask(state);
}

/// What is said of the work that the worker does not do, since it failed.
pub fn not_done(reason: &str) -> String {
    format!("This is worked out by the worker of the learned models, which failed: {reason}")
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
