//! The page's side of the worker: starts it, asks one question at a time, and reports events.

use std::cell::RefCell;
use std::rc::Rc;

use gloo::timers::callback::Timeout;
use js_sys::{Array, JSON};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, ErrorEvent, MessageEvent, Url, Worker};

use super::protocol::{FromWorker, PredictionRequest, StudyRequest, Text, ToWorker, VERSION, pack, unpack};
use crate::study::Topic;

/// Delay after which models that are still missing are late.
const LATE_AFTER_MS: u32 = 15_000;

/// Absolute URLs of the worker's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    pub script: String,
    pub wasm: String,
    /// Folder of the manifest and the models; ends in a slash.
    pub models: String,
}

/// Events reported to the page.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Message(FromWorker),
    /// The models should have loaded; if they have not, they still may.
    Late,
    /// The worker could not be started or has ended, for this reason.
    Ended(String),
}

/// A running worker. Dropping it ends the worker.
pub struct Client {
    worker: Worker,
    session: Rc<RefCell<Session>>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
    _late: Timeout,
}

/// Only one question is in flight; of those asked meanwhile only the newest is kept.
#[derive(Default)]
struct Session {
    models: String,
    /// Whether the worker is listening.
    up: bool,
    /// Texts to read once it is.
    texts: Vec<Text>,
    /// Whether the models have loaded or failed.
    settled: bool,
    under_way: Option<u32>,
    next: Option<PredictionRequest>,
    /// A sweep to start when no question is waiting.
    sweep: Option<u32>,
    /// A study to start before the sweep, because the visitor is looking at it. It needs the models.
    study: Option<StudyRequest>,
    /// What the visitor searches for, which needs none.
    search: Option<StudyRequest>,
}

impl Client {
    /// Starts the worker; `on_event` receives all events.
    pub fn start(files: &Files, on_event: impl Fn(Event) + 'static) -> Result<Self, JsValue> {
        let worker = start(files)?;
        let on_event = Rc::new(on_event);
        let session = Rc::new(RefCell::new(Session { models: files.models.clone(), ..Session::default() }));

        let on_message = {
            let (worker, session, on_event) = (worker.clone(), session.clone(), on_event.clone());
            Closure::new(move |message: MessageEvent| {
                let event = session.borrow_mut().handle(&worker, &message.data());
                if let Some(event) = event {
                    on_event(event);
                }
            })
        };
        let on_error = {
            let on_event = on_event.clone();
            Closure::new(move |error: ErrorEvent| {
                error.prevent_default();
                on_event(Event::Ended(reason(&error)));
            })
        };
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        let late = Timeout::new(LATE_AFTER_MS, move || on_event(Event::Late));
        Ok(Self { worker, session, _on_message: on_message, _on_error: on_error, _late: late })
    }

    /// Changes the queue, then posts what can be sent.
    fn with(&self, change: impl FnOnce(&mut Session)) {
        let mut session = self.session.borrow_mut();
        change(&mut session);
        // A refused post is a bug that the worker's error event reports.
        let _ = session.send(&self.worker);
    }

    /// Asks about a configuration, as soon as the worker is free; a newer question replaces one still waiting.
    pub fn ask(&self, asked: PredictionRequest) {
        self.with(|session| session.next = Some(asked));
    }

    /// Has the worker read a visitor's text, once it listens.
    pub fn read(&self, text: Text) {
        self.with(|session| session.texts.push(text));
    }

    /// Runs the loads around that of answer `id`.
    pub fn sweep(&self, id: u32) {
        self.with(|session| session.sweep = Some(id));
    }

    /// Studies a configuration; ends the current study, unless this is a search.
    pub fn study(&self, asked: StudyRequest) {
        self.with(|session| match asked.topic {
            Topic::Search => session.search = Some(asked),
            _ => session.study = Some(asked),
        });
    }

    /// Ends study `id`, or cancels it.
    pub fn end_study(&self, id: u32) {
        self.session.borrow_mut().study = None;
        let _ = post(&self.worker, &ToWorker::EndStudy { id });
    }

    /// Ends the sweep around answer `id`, or cancels it.
    pub fn stop(&self, id: u32) {
        self.session.borrow_mut().sweep = None;
        let _ = post(&self.worker, &ToWorker::Stop { id });
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

impl Session {
    /// Handles a message; returns the event for the page.
    fn handle(&mut self, worker: &Worker, message: &JsValue) -> Option<Event> {
        let message = match unpack::<FromWorker>(message) {
            Ok(message) => message,
            Err(reason) => return Some(Event::Ended(reason)),
        };
        match &message {
            FromWorker::Up { version } if *version != VERSION => {
                let hint = "reload the page to fetch both anew";
                let reason = format!("the page speaks version {VERSION}, its worker {version}: {hint}");
                return Some(Event::Ended(reason));
            }
            FromWorker::Unreadable { reason } => return Some(Event::Ended(reason.clone())),
            FromWorker::Up { .. } => {
                self.up = true;
                let models = self.models.clone();
                if let Err(error) = post(worker, &ToWorker::Load { models }) {
                    return Some(Event::Ended(format!("{error:?}")));
                }
            }
            FromWorker::Loaded { .. } | FromWorker::Failed { .. } => self.settled = true,
            FromWorker::Answered(answered) if Some(answered.id) == self.under_way => self.under_way = None,
            _ => {}
        }
        match self.send(worker) {
            Ok(()) => Some(Event::Message(message)),
            Err(error) => Some(Event::Ended(format!("{error:?}"))),
        }
    }

    /// Posts what is waiting, if the worker listens: first a question if none is in flight, then work that can wait
    /// for the models.
    fn send(&mut self, worker: &Worker) -> Result<(), JsValue> {
        if !self.up {
            return Ok(());
        }
        for text in std::mem::take(&mut self.texts) {
            post(worker, &ToWorker::Read(text))?;
        }
        if let Some(asked) = self.search.take() {
            post(worker, &ToWorker::Study(asked))?;
        }
        if self.under_way.is_some() {
            return Ok(());
        }
        if let Some(asked) = self.next.take() {
            self.under_way = Some(asked.id);
            return post(worker, &ToWorker::Ask(asked));
        }
        if !self.settled {
            return Ok(());
        }
        if let Some(asked) = self.study.take() {
            post(worker, &ToWorker::Study(asked))?;
        }
        self.sweep.take().map_or(Ok(()), |id| post(worker, &ToWorker::Sweep { id }))
    }
}

fn post(worker: &Worker, message: &ToWorker) -> Result<(), JsValue> {
    worker.post_message(&pack(message))
}

/// Starts the worker from a blob that imports its script: a page without an origin (a sandboxed frame) may not use
/// `new Worker(url)`, nor a blob as a module.
fn start(files: &Files) -> Result<Worker, JsValue> {
    let quoted = |text: &str| JSON::stringify(&text.into()).map(String::from);
    // A rejected promise raises no error event of the worker; a throw from a timer does.
    let script = format!(
        "import({}).then((script) => script.default({{ module_or_path: {} }}).then(script.listen)).catch((error) => setTimeout(() => {{ throw error; }}));",
        quoted(&files.script)?,
        quoted(&files.wasm)?,
    );
    let kind = BlobPropertyBag::new();
    kind.set_type("text/javascript");
    let blob = Blob::new_with_str_sequence_and_options(&Array::of1(&script.into()), &kind)?;
    let url = Url::create_object_url_with_blob(&blob)?;
    Worker::new(&url)
}

/// A script that failed to load raises an event without a message.
fn reason(error: &ErrorEvent) -> String {
    let message = js_sys::Reflect::get(error, &"message".into()).ok().and_then(|text| text.as_string());
    message.filter(|text| !text.is_empty()).unwrap_or_else(|| "its files could not be loaded".into())
}
