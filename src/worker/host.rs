//! The worker's side: loads the models, then answers one table of rows after another.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Date, Float32Array};
use wasm_bindgen::prelude::{Closure, wasm_bindgen};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use super::asked::setup;
use super::fetch;
use super::protocol::{
    FromWorker, Simulate, Simulated, Studied, StudyAsked, ToWorker, VERSION, pack, unpack,
};
use super::simulation::Simulation;
use super::texts;
use crate::config::{Field, Issue};
use crate::efficiency::onnx::Models;
use crate::efficiency::{CallAnswer, Efficiencies, Rows};
use crate::serving::plan;
use crate::serving::run::Trace;
use crate::study::accuracy::Accuracy;
use crate::study::{Document, Study, Topic};

/// What the worker holds between messages.
#[derive(Clone, Default)]
struct Session {
    /// The models, once loaded.
    models: Rc<RefCell<Option<Models>>>,
    /// The simulation under way.
    simulation: Rc<RefCell<Option<Simulation>>>,
    /// The study asked for last, unless it was ended.
    studied: Rc<Cell<Option<u32>>>,
    /// The study under way, with its id.
    study: Rc<RefCell<Option<(u32, Study)>>>,
    /// Where the models are.
    folder: Rc<RefCell<String>>,
    /// The report of measured cases, once it was asked for.
    accuracy: Rc<RefCell<Option<Rc<Accuracy>>>>,
    /// To be replayed.
    trace: Rc<RefCell<Option<Trace>>>,
}

impl Session {
    /// The report of measured cases, fetched when first asked for.
    async fn accuracy(&self, scope: &DedicatedWorkerGlobalScope) -> Option<Rc<Accuracy>> {
        if let Some(known) = self.accuracy.borrow().as_ref() {
            return Some(known.clone());
        }
        let folder = self.folder.borrow().clone();
        let fetched = Rc::new(fetch::accuracy(scope, &folder).await?);
        *self.accuracy.borrow_mut() = Some(fetched.clone());
        Some(fetched)
    }

    /// Has the models answer.
    fn ask(&self, rows: &Rows) -> Result<Efficiencies, String> {
        let loaded = self.models.borrow();
        let models = loaded.as_ref().ok_or("the models are not loaded yet")?;
        models.answer(rows).map(Efficiencies::Learned).map_err(|error| error.to_string())
    }
}

/// Listens to the page, and says so. To be called in a worker of the page's own and nowhere else: the same wasm
/// is imported by others for its functions, perhaps in workers of theirs.
#[wasm_bindgen]
pub fn listen() {
    console_error_panic_hook::set_once();
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let session = Session::default();
    let listening = scope.clone();
    let listen = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
        hear(&listening, &session, &message.data());
    });
    scope.set_onmessage(Some(listen.as_ref().unchecked_ref()));
    // The worker ends with its page.
    listen.forget();
    post(&scope, FromWorker::Up { version: VERSION }, &[]);
}

fn hear(scope: &DedicatedWorkerGlobalScope, session: &Session, message: &JsValue) {
    let failed = |id, reason| FromWorker::Failed { id, reason };
    match unpack::<ToWorker>(message) {
        Ok((ToWorker::Load { models }, _)) => {
            let (scope, loaded) = (scope.clone(), session.models.clone());
            session.folder.borrow_mut().clone_from(&models);
            spawn_local(async move {
                let answer = match fetch::load(&scope, &models).await {
                    Ok(models) => {
                        let release = models.manifest().release.clone();
                        let answer = FromWorker::Loaded { release };
                        *loaded.borrow_mut() = Some(models);
                        answer
                    }
                    Err(reason) => failed(None, reason),
                };
                post(&scope, answer, &[]);
            });
        }
        Ok((ToWorker::Ask { id, link }, _)) => match answer(session, id, &link) {
            Ok((answered, table)) => post(scope, answered, table.as_slice()),
            Err(reason) => post(scope, failed(Some(id), reason), &[]),
        },
        Ok((ToWorker::Read(asked), _)) => {
            let (read, trace) = texts::read(&asked);
            post(scope, FromWorker::Read(read), &[]);
            if asked.field == Field::Trace {
                *session.trace.borrow_mut() = trace;
            }
        }
        Ok((ToWorker::Simulate(asked), _)) => {
            let (simulated, simulation) = simulate(session, &asked).unwrap_or_else(|reason| {
                let issues = vec![Issue::error(Field::Load, reason)];
                (Simulated { id: asked.id, issues, ..Simulated::default() }, None)
            });
            post(scope, FromWorker::Simulated(simulated), &[]);
            let goes_on = simulation.is_some();
            *session.simulation.borrow_mut() = simulation;
            if goes_on {
                go_on(scope, session, asked.id);
            }
        }
        Ok((ToWorker::Stop { id }, _)) => {
            session.simulation.borrow_mut().take_if(|simulation| simulation.id == id);
        }
        Ok((ToWorker::Study(asked), _)) => {
            session.study.borrow_mut().take();
            session.studied.set(Some(asked.id));
            let (scope, session) = (scope.clone(), session.clone());
            spawn_local(async move {
                let StudyAsked { id, topic, of, link, page } = asked;
                let accuracy = match topic {
                    Topic::Evidence | Topic::Explain => session.accuracy(&scope).await,
                    _ => None,
                };
                // Another may have been asked for, while this one waited for its report.
                if session.studied.get() != Some(id) {
                    return;
                }
                *session.study.borrow_mut() = Some((id, Study::new(topic, &of, &link, &page).with(accuracy)));
                study_on(&scope, &session, id, 0.0);
            });
        }
        Ok((ToWorker::EndStudy { id }, _)) => {
            if session.studied.get() == Some(id) {
                session.studied.set(None);
                session.study.borrow_mut().take();
            }
        }
        Err(error) => post(scope, failed(None, error.to_string()), &[]),
    }
}

fn simulate(session: &Session, asked: &Simulate) -> Result<(Simulated, Option<Simulation>), String> {
    let trace = session.trace.borrow().clone().filter(|_| asked.replay);
    Simulation::start(asked, trace, |rows| session.ask(rows))
}

/// One more load of the simulation, in a task of its own: what the page asks meanwhile comes first.
fn go_on(scope: &DedicatedWorkerGlobalScope, session: &Session, id: u32) {
    let (listening, session) = (scope.clone(), session.clone());
    later(scope, move || {
        let swept = {
            let mut simulation = session.simulation.borrow_mut();
            let Some(simulation) = simulation.as_mut().filter(|simulation| simulation.id == id) else {
                return;
            };
            simulation.step()
        };
        let finished = swept.finished;
        post(&listening, FromWorker::Swept(swept), &[]);
        if finished {
            session.simulation.borrow_mut().take();
        } else {
            go_on(&listening, &session, id);
        }
    });
}

/// A document is sent again when this much has passed: each renews all that the page shows of it.
const STUDY_SHOWN_EVERY_MS: f64 = 150.0;

/// One more configuration of the study, likewise; `shown` is when the page was last told.
fn study_on(scope: &DedicatedWorkerGlobalScope, session: &Session, id: u32, mut shown: f64) {
    let (listening, session) = (scope.clone(), session.clone());
    later(scope, move || {
        let studied = {
            let mut study = session.study.borrow_mut();
            let Some((_, study)) = study.as_mut().filter(|(of, _)| *of == id) else { return };
            let document = match study.step(|rows| session.ask(rows)) {
                Ok(_) => study.document(),
                Err(reason) => Document::saying(reason),
            };
            let (done, total) = study.progress();
            Studied { id, done: done as u32, total: total as u32, document }
        };
        let (now, over) = (Date::now(), studied.done == studied.total);
        if over || now - shown >= STUDY_SHOWN_EVERY_MS {
            shown = now;
            post(&listening, FromWorker::Studied(studied), &[]);
        }
        if over {
            session.study.borrow_mut().take();
        } else {
            study_on(&listening, &session, id, shown);
        }
    });
}

/// Runs `task` when what has been asked meanwhile is answered.
fn later(scope: &DedicatedWorkerGlobalScope, task: impl FnOnce() + 'static) {
    let task = Closure::once_into_js(task);
    // Without a timer what is known so far stands.
    let _ = scope.set_timeout_with_callback(task.unchecked_ref());
}

/// The answers to the calls of a configuration, as a table, or the issues that stand in their way.
fn answer(session: &Session, id: u32, link: &str) -> Result<(FromWorker, Option<Float32Array>), String> {
    let loaded = session.models.borrow();
    let models = loaded.as_ref().ok_or("a question came before the models")?;
    let release = models.manifest().release.clone();
    let (_, rows) = match setup(link).and_then(|setup| plan(&setup)) {
        Ok(planned) => planned,
        Err(issues) => return Ok((FromWorker::Answered { id, release, issues }, None)),
    };
    let learned = models.answer(&rows).map_err(|error| error.to_string())?;
    let numbers: Vec<f32> = learned.calls.into_iter().flat_map(CallAnswer::to_numbers).collect();
    Ok((FromWorker::Answered { id, release, issues: Vec::new() }, Some(Float32Array::from(&numbers[..]))))
}

fn post(scope: &DedicatedWorkerGlobalScope, header: FromWorker, tables: &[Float32Array]) {
    let (message, buffers) = pack(&header, tables);
    // Buffers are fresh, so nothing is there that could not be transferred.
    let _ = scope.post_message_with_transfer(&message, &buffers);
}
