//! The worker's side: loads the models, then answers questions in turn.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::Date;
use wasm_bindgen::prelude::{Closure, wasm_bindgen};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use super::answer::{self, Loads};
use super::fetch;
use super::protocol::{
    Answered, FromWorker, PredictionRequest, Studied, StudyRequest, Swept, ToWorker, VERSION, pack, unpack,
};
use super::texts;
use crate::config::{Field, Issue};
use crate::efficiency::onnx::Models;
use crate::efficiency::{Efficiencies, Rows};
use crate::serving::run::{OwnRuns, Trace};
use crate::serving::table::Tables;
use crate::study::accuracy::Accuracy;
use crate::study::{Document, Study, Topic};

/// State between messages.
#[derive(Clone, Default)]
struct Session {
    /// The models, once loaded.
    models: Rc<RefCell<Option<Models>>>,
    /// The last question.
    asked: Rc<RefCell<Option<PredictionRequest>>>,
    /// Other loads around that of the last answer.
    loads: Rc<RefCell<Option<Loads>>>,
    /// The last study requested, unless ended.
    studied: Rc<Cell<Option<u32>>>,
    /// The current study, with its id.
    study: Rc<RefCell<Option<(u32, Study)>>>,
    /// An unfinished search for plans, continued if it is requested again.
    search: Rc<RefCell<Option<Study>>>,
    /// URL of the models.
    folder: Rc<RefCell<String>>,
    /// The report of measured cases, once requested.
    accuracy: Rc<RefCell<Option<Rc<Accuracy>>>>,
    /// Calibration points of the visitor's measured runs.
    own_runs: Rc<RefCell<OwnRuns>>,
    tables: Rc<RefCell<Tables>>,
    /// The trace to replay.
    trace: Rc<RefCell<Option<Trace>>>,
}

impl Session {
    /// The report of measured cases, fetched on first use.
    async fn accuracy(&self, scope: &DedicatedWorkerGlobalScope) -> Option<Rc<Accuracy>> {
        if let Some(known) = self.accuracy.borrow().as_ref() {
            return Some(known.clone());
        }
        let folder = self.folder.borrow().clone();
        let fetched = Rc::new(fetch::accuracy(scope, &folder).await?);
        *self.accuracy.borrow_mut() = Some(fetched.clone());
        Some(fetched)
    }

    /// Runs the models; falls back to the roofline until they are loaded.
    fn ask(&self, rows: &Rows) -> Result<Efficiencies, String> {
        let loaded = self.models.borrow();
        let Some(models) = loaded.as_ref() else { return Ok(Efficiencies::Roofline) };
        models.answer(rows).map(Efficiencies::Learned).map_err(|error| error.to_string())
    }

    /// Ends the current study, keeping a search for plans.
    fn put_aside(&self) {
        if let Some((_, study)) = self.study.borrow_mut().take().filter(|(_, study)| study.seeks()) {
            *self.search.borrow_mut() = Some(study);
        }
    }

    /// Runs the next load around the answer with this id, if it is still the last.
    fn sweep(&self, id: u32) -> Option<Swept> {
        let accuracy = self.accuracy.borrow().clone();
        Some(self.loads.borrow_mut().as_mut().filter(|loads| loads.id == id)?.step(accuracy.as_deref()))
    }

    /// Answers the last question.
    fn answer(&self) -> Option<FromWorker> {
        let asked = self.asked.borrow().clone()?;
        self.loads.borrow_mut().take();
        let trace = self.trace.borrow().clone().filter(|_| asked.replay);
        let own_runs = &mut self.own_runs.borrow_mut();
        let tables = &mut self.tables.borrow_mut();
        let answered = answer::of(&asked, trace, (own_runs, tables), |rows| self.ask(rows));
        let (answered, loads) = answered.unwrap_or_else(|reason| {
            let issues = vec![Issue::error(Field::Data, reason)];
            (Answered { id: asked.id, issues, ..Answered::default() }, None)
        });
        *self.loads.borrow_mut() = loads;
        Some(FromWorker::Answered(Box::new(answered)))
    }
}

/// Listens to the page, and reports readiness. Call only in the page's own worker: others import the same wasm for
/// its functions, perhaps in their own workers.
#[wasm_bindgen]
pub fn listen() {
    console_error_panic_hook::set_once();
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let session = Session::default();
    let listening = scope.clone();
    let listen = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
        handle(&listening, &session, &message.data());
    });
    scope.set_onmessage(Some(listen.as_ref().unchecked_ref()));
    // The worker ends with its page.
    listen.forget();
    post(&scope, &FromWorker::Up { version: VERSION });
}

fn handle(scope: &DedicatedWorkerGlobalScope, session: &Session, message: &JsValue) {
    match unpack::<ToWorker>(message) {
        Ok(ToWorker::Load { models }) => {
            let (scope, session) = (scope.clone(), session.clone());
            session.folder.borrow_mut().clone_from(&models);
            spawn_local(async move {
                match fetch::load(&scope, &models).await {
                    Ok(models) => {
                        let release = models.manifest().release.clone();
                        *session.models.borrow_mut() = Some(models);
                        post(&scope, &FromWorker::Loaded { release });
                        if let Some(answer) = session.answer() {
                            post(&scope, &answer);
                        }
                    }
                    Err(reason) => post(&scope, &FromWorker::Failed { reason }),
                }
            });
        }
        Ok(ToWorker::Ask(asked)) => {
            *session.asked.borrow_mut() = Some(asked);
            if let Some(answer) = session.answer() {
                post(scope, &answer);
            }
        }
        Ok(ToWorker::Read(asked)) => {
            let (read, trace) = texts::read(&asked);
            post(scope, &FromWorker::Read(read));
            // A text without one leaves the one before in use.
            if trace.is_some() {
                *session.trace.borrow_mut() = trace;
            }
        }
        Ok(ToWorker::Sweep { id }) => sweep_on(scope, session, id),
        Ok(ToWorker::Stop { id }) => {
            session.loads.borrow_mut().take_if(|loads| loads.id == id);
        }
        // A search predicts nothing: the study under way goes on.
        Ok(ToWorker::Study(StudyRequest { id, topic: Topic::Search, of, link, page })) => {
            let document = Study::new(Topic::Search, &of, &link, &page).document();
            post(scope, &FromWorker::Studied(Studied { id, document, ..Studied::default() }));
        }
        Ok(ToWorker::Study(asked)) => {
            session.put_aside();
            session.studied.set(Some(asked.id));
            let (scope, session) = (scope.clone(), session.clone());
            spawn_local(async move {
                let StudyRequest { id, topic, of, link, page } = asked;
                let accuracy = match topic {
                    Topic::Evidence | Topic::Explain | Topic::Compare | Topic::Sweep => {
                        session.accuracy(&scope).await
                    }
                    _ => None,
                };
                // Another study may have been requested while this one waited for its report.
                if session.studied.get() != Some(id) {
                    return;
                }
                let traced = session.asked.borrow().as_ref().is_some_and(|asked| asked.replay);
                let study = Study::new(topic, &of, &link, &page).with(accuracy).beside_trace(traced);
                let before = session.search.borrow_mut().take_if(|before| before.seeks_as(&study));
                let study = before.unwrap_or_else(|| study.observing(session.own_runs.clone()));
                *session.study.borrow_mut() = Some((id, study));
                study_on(&scope, &session, id, 0.0);
            });
        }
        Ok(ToWorker::EndStudy { id }) => {
            if session.studied.get() == Some(id) {
                session.studied.set(None);
                session.put_aside();
            }
        }
        Err(reason) => post(scope, &FromWorker::Unreadable { reason }),
    }
}

/// Runs one more load of the sweep in a separate task: messages from the page come first.
fn sweep_on(scope: &DedicatedWorkerGlobalScope, session: &Session, id: u32) {
    let (listening, session) = (scope.clone(), session.clone());
    later(scope, move || {
        let Some(swept) = session.sweep(id) else { return };
        let finished = swept.finished;
        post(&listening, &FromWorker::Swept(swept));
        let is_bare = session.accuracy.borrow().is_none() && session.models.borrow().is_some();
        match finished {
            false => sweep_on(&listening, &session, id),
            // Measured runs follow once they have been fetched: nothing waits for them.
            true if is_bare => spawn_local(async move {
                session.accuracy(&listening).await;
                if let Some(swept) = session.sweep(id).filter(|_| session.accuracy.borrow().is_some()) {
                    post(&listening, &FromWorker::Swept(swept));
                }
            }),
            true => {}
        }
    });
}

/// Minimum interval between updates of a document, since each re-renders it.
const STUDY_SHOWN_EVERY_MS: f64 = 150.0;
/// Search tasks take a millisecond or less, so several are done between messages: browsers leave 4 ms between
/// timers.
const STUDY_SLICE_MS: f64 = 16.0;

/// Predicts one more configuration of the study in a separate task; `shown` is the time of the last update.
fn study_on(scope: &DedicatedWorkerGlobalScope, session: &Session, id: u32, mut shown: f64) {
    let (listening, session) = (scope.clone(), session.clone());
    later(scope, move || {
        let (studied, over) = {
            let mut study = session.study.borrow_mut();
            let Some((_, study)) = study.as_mut().filter(|(of, _)| *of == id) else { return };
            let end = Date::now() + STUDY_SLICE_MS;
            let mut failed = None;
            while failed.is_none() && Date::now() < end {
                match study.step(|rows| session.ask(rows)) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(reason) => failed = Some(reason),
                }
            }
            let (done, total) = study.progress();
            let over = done == total || failed.is_some();
            let now = Date::now();
            let is_due = over || now - shown >= STUDY_SHOWN_EVERY_MS;
            // Documents that are not sent are not built.
            let studied = is_due.then(|| Studied {
                id,
                done: if over { total as u32 } else { done as u32 },
                total: total as u32,
                issues: study.issues(),
                document: failed.map_or_else(|| study.page_document(), Document::saying),
            });
            shown = if is_due { now } else { shown };
            (studied, over)
        };
        if let Some(studied) = studied {
            post(&listening, &FromWorker::Studied(studied));
        }
        if over {
            session.study.borrow_mut().take();
        } else {
            study_on(&listening, &session, id, shown);
        }
    });
}

/// Runs `task` after pending messages.
fn later(scope: &DedicatedWorkerGlobalScope, task: impl FnOnce() + 'static) {
    let task = Closure::once_into_js(task);
    // Without a timer the current results remain.
    let _ = scope.set_timeout_with_callback(task.unchecked_ref());
}

fn post(scope: &DedicatedWorkerGlobalScope, message: &FromWorker) {
    // Text can always be posted.
    let _ = scope.post_message(&pack(message));
}
