//! From the form to the answer: the roofline at once, the learned efficiencies when the worker has them.

use std::cell::RefCell;
use std::rc::Rc;

use gloo::timers::callback::Timeout;
use gloo::utils::{document, window};
use leptos::prelude::*;

use super::{Answer, State};
use crate::config::{self, catalog::catalog};
use crate::efficiency::{Efficiencies, Learned};
use crate::serving::{Plan, finish, plan};
use crate::worker::client::{Client, Event, Files};

/// How long the last learned answer stays, dimmed, before the roofline of a new scenario takes its
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
struct Predictor {
    client: Option<Client>,
    newest: Option<Question>,
    asked: u32,
    /// Shows the roofline of a question that the worker is slow to answer.
    grace: Option<Timeout>,
}

/// Predicts on every change of the form, from now on.
pub fn start(state: State) {
    let predictor = Rc::new(RefCell::new(Predictor::default()));
    let starting = predictor.clone();
    Effect::new(move |_| predict(state, &predictor));
    // After the first paint, so that neither files nor compilation delay it.
    Timeout::new(0, move || start_worker(state, &starting)).forget();
}

fn predict(state: State, predictor: &Rc<RefCell<Predictor>>) {
    let (setup, mut findings) = state.form.with(|form| config::check(form.scenario(), catalog()));
    let bad_draft = state.form.with(|form| form.has_bad_draft());
    state.stale.set(true);
    let mut predictor_now = predictor.borrow_mut();
    predictor_now.newest = None;
    predictor_now.grace = None;
    match setup.map(|setup| plan(&setup)) {
        Some(Ok(planned)) if !bad_draft => {
            predictor_now.asked = predictor_now.asked.wrapping_add(1);
            let id = predictor_now.asked;
            if let Some(client) = &predictor_now.client {
                client.ask(id, planned.rows());
            }
            let learned_is_near =
                state.worker.with_untracked(|worker| matches!(worker, WorkerStatus::Ready { .. }))
                    && state.answer.with_untracked(Option::is_some);
            if learned_is_near {
                let late = predictor.clone();
                predictor_now.grace = Some(Timeout::new(GRACE_MS, move || show_roofline(state, &late)));
            }
            predictor_now.newest = Some(Question { id, plan: planned, answered: false });
            drop(predictor_now);
            if !learned_is_near {
                show_roofline(state, predictor);
            }
        }
        Some(Err(issues)) => findings.extend(issues),
        Some(Ok(_)) | None => {}
    }
    state.findings.set(findings);
}

/// Shows the newest question at its ideal, unless its learned answer stands.
fn show_roofline(state: State, predictor: &Rc<RefCell<Predictor>>) {
    let predictor = predictor.borrow();
    if let Some(question) = predictor.newest.as_ref().filter(|question| !question.answered) {
        show(state, question, &Efficiencies::Roofline);
    }
}

/// Shows the learned answer with this id, unless a newer question has been asked since.
fn show_learned(state: State, predictor: &Rc<RefCell<Predictor>>, id: u32, learned: Learned) {
    let mut predictor = predictor.borrow_mut();
    let Some(question) = predictor.newest.as_mut().filter(|question| question.id == id) else { return };
    question.answered = true;
    show(state, question, &Efficiencies::Learned(learned));
    predictor.grace = None;
}

fn show(state: State, question: &Question, efficiencies: &Efficiencies) {
    if let Some(report) = finish(&question.plan, efficiencies) {
        state.answer.try_set(Some(Answer { setup: question.plan.setup.clone(), report }));
        state.stale.try_set(false);
    }
}

fn start_worker(state: State, predictor: &Rc<RefCell<Predictor>>) {
    let Some(files) = files() else {
        let reason = "this build of the page has no worker".into();
        state.worker.set(WorkerStatus::Failed { reason });
        return;
    };
    let heard = predictor.clone();
    match Client::start(&files, move |event| hear(state, &heard, event)) {
        Ok(client) => {
            let mut predictor = predictor.borrow_mut();
            if let Some(question) = &predictor.newest {
                client.ask(question.id, question.plan.rows());
            }
            predictor.client = Some(client);
        }
        Err(_) => {
            let reason = "this browser refuses to start it".into();
            state.worker.set(WorkerStatus::Failed { reason });
        }
    }
}

fn hear(state: State, predictor: &Rc<RefCell<Predictor>>, event: Event) {
    match event {
        Event::Ready { release } => {
            state.worker.try_set(WorkerStatus::Ready { release });
        }
        Event::Answer { id, learned } => {
            // It may have failed over another question before.
            let ready = WorkerStatus::Ready { release: learned.release.clone() };
            if state.worker.with_untracked(|worker| *worker != ready) {
                state.worker.try_set(ready);
            }
            show_learned(state, predictor, id, learned);
        }
        Event::Late => {
            state.worker.try_set(WorkerStatus::Late);
        }
        Event::Failed { reason } => {
            state.worker.try_set(WorkerStatus::Failed { reason });
            show_roofline(state, predictor);
        }
    }
}

/// The files named on the script that loaded the page (`scripts/hooks/name-worker.mjs` put them there).
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
