//! The page's side of the worker: starts it, asks one question at a time, and reports what happens.

use std::cell::RefCell;
use std::rc::Rc;

use gloo::timers::callback::Timeout;
use js_sys::{Array, Float32Array, JSON};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, ErrorEvent, MessageEvent, Url, Worker};

use super::protocol::{FromWorker, Simulate, StudyAsked, Text, ToWorker, VERSION, pack, unpack};
use crate::efficiency::{CallAnswer, Learned};

/// After this long without models the page says that they are late; it keeps listening.
const LATE_AFTER_MS: u32 = 15_000;

/// Where the worker's files are, as absolute URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    pub script: String,
    pub wasm: String,
    /// Folder of the manifest and the models; ends in a slash.
    pub models: String,
}

/// What the page hears of its worker.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The answer to the question `id`.
    Answer { id: u32, learned: Learned },
    /// Anything else it says. An answer without a table was refused.
    Message(FromWorker),
    /// Still nothing; it may come.
    Late,
}

impl Event {
    /// No learned answer will come, or none to the last question.
    fn failed(reason: String) -> Self {
        Self::Message(FromWorker::Failed { id: None, reason })
    }
}

/// A running worker. Dropping it ends the worker.
pub struct Client {
    worker: Worker,
    session: Rc<RefCell<Session>>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
    _late: Timeout,
}

/// One question is under way at a time; of those that come meanwhile only the newest is kept.
#[derive(Default)]
struct Session {
    models: String,
    /// The worker listens.
    up: bool,
    /// To be read as soon as it does.
    texts: Vec<Text>,
    /// The models are there.
    loaded: bool,
    under_way: Option<u32>,
    next: Option<(u32, String)>,
    /// A simulation to begin when no question waits.
    simulate: Option<Simulate>,
    /// A study likewise, before it: it is what the visitor looks at.
    study: Option<StudyAsked>,
}

impl Client {
    /// Starts the worker; `on_event` hears of everything that follows.
    ///
    /// # Errors
    /// What the browser says when it refuses to start a worker at all.
    pub fn start(files: &Files, on_event: impl Fn(Event) + 'static) -> Result<Self, JsValue> {
        let worker = start(files)?;
        let on_event = Rc::new(on_event);
        let session = Rc::new(RefCell::new(Session { models: files.models.clone(), ..Session::default() }));

        let on_message = {
            let (worker, session, on_event) = (worker.clone(), session.clone(), on_event.clone());
            Closure::new(move |message: MessageEvent| {
                let event = session.borrow_mut().hear(&worker, &message.data());
                if let Some(event) = event {
                    on_event(event);
                }
            })
        };
        let on_error = {
            let on_event = on_event.clone();
            Closure::new(move |error: ErrorEvent| {
                error.prevent_default();
                on_event(Event::failed(reason(&error)));
            })
        };
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        let late = {
            let session = session.clone();
            Timeout::new(LATE_AFTER_MS, move || {
                if !session.borrow().loaded {
                    on_event(Event::Late);
                }
            })
        };
        Ok(Self { worker, session, _on_message: on_message, _on_error: on_error, _late: late })
    }

    /// Asks for the efficiencies of the calls of this configuration, now or when the worker is free; a newer
    /// question replaces one that still waits.
    pub fn ask(&self, id: u32, link: String) {
        let mut session = self.session.borrow_mut();
        session.next = Some((id, link));
        // A refused post is a defect that the worker's error event reports.
        let _ = session.send(&self.worker);
    }

    /// Has the worker read a text of the visitor's, now or when it listens. Reading needs no models, only code that
    /// few visitors want: it stays out of the page.
    pub fn read(&self, text: Text) {
        let mut session = self.session.borrow_mut();
        session.texts.push(text);
        let _ = session.send(&self.worker);
    }

    /// Has the load of `link` simulated, and the loads around it; ends the simulation under way.
    pub fn simulate(&self, id: u32, link: String, replay: bool) {
        let mut session = self.session.borrow_mut();
        session.simulate = Some(Simulate { id, link, replay });
        let _ = session.send(&self.worker);
    }

    /// Has a configuration studied; ends the study under way.
    pub fn study(&self, asked: StudyAsked) {
        let mut session = self.session.borrow_mut();
        session.study = Some(asked);
        let _ = session.send(&self.worker);
    }

    /// Ends the study `id`, or never begins it.
    pub fn end_study(&self, id: u32) {
        self.session.borrow_mut().study = None;
        let _ = post(&self.worker, ToWorker::EndStudy { id });
    }

    /// Ends the simulation `id`, or never begins it.
    pub fn stop(&self, id: u32) {
        self.session.borrow_mut().simulate = None;
        let _ = post(&self.worker, ToWorker::Stop { id });
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
    /// Takes one message in; what the page should know of it.
    fn hear(&mut self, worker: &Worker, message: &JsValue) -> Option<Event> {
        let failed = |reason: String| Some(Event::failed(reason));
        let (header, tables) = match unpack::<FromWorker>(message) {
            Ok(read) => read,
            Err(error) => return failed(error.to_string()),
        };
        let event = match header {
            FromWorker::Up { version } if version != VERSION => {
                let hint = "reload the page to fetch both anew";
                return failed(format!("the page speaks version {VERSION}, its worker {version}: {hint}"));
            }
            FromWorker::Up { .. } => {
                self.up = true;
                if let Err(error) = post(worker, ToWorker::Load { models: self.models.clone() }) {
                    return failed(format!("{error:?}"));
                }
                None
            }
            FromWorker::Answered { id, release, issues } => {
                self.under_way = None;
                Some(match tables.first() {
                    Some(table) => Event::Answer { id, learned: Learned { release, calls: answers(table) } },
                    None => Event::Message(FromWorker::Answered { id, release, issues }),
                })
            }
            message => {
                match &message {
                    FromWorker::Loaded { .. } => self.loaded = true,
                    FromWorker::Failed { id, .. } if *id == self.under_way => self.under_way = None,
                    _ => {}
                }
                Some(Event::Message(message))
            }
        };
        match self.send(worker) {
            Ok(()) => event,
            Err(error) => failed(format!("{error:?}")),
        }
    }

    /// Posts what waits: texts if the worker listens, a question if the models are there and it is
    /// free.
    fn send(&mut self, worker: &Worker) -> Result<(), JsValue> {
        if self.up {
            for text in std::mem::take(&mut self.texts) {
                post(worker, ToWorker::Read(text))?;
            }
        }
        if !self.loaded || self.under_way.is_some() {
            return Ok(());
        }
        let Some((id, link)) = self.next.take() else {
            if let Some(asked) = self.study.take() {
                post(worker, ToWorker::Study(asked))?;
            }
            let simulate = self.simulate.take();
            return simulate.map_or(Ok(()), |asked| post(worker, ToWorker::Simulate(asked)));
        };
        self.under_way = Some(id);
        post(worker, ToWorker::Ask { id, link })
    }
}

fn post(worker: &Worker, header: ToWorker) -> Result<(), JsValue> {
    let (message, _) = pack(&header, &[]);
    worker.post_message(&message)
}

/// Starts the worker from a blob that imports its script: a page without an origin of its own (a
/// sandboxed frame) is refused `new Worker(url)`, and a blob as a module too.
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

fn answers(table: &Float32Array) -> Vec<CallAnswer> {
    let numbers = table.to_vec();
    numbers.as_chunks().0.iter().copied().map(CallAnswer::from_numbers).collect()
}

/// A script that did not load raises an event without a message.
fn reason(error: &ErrorEvent) -> String {
    let message = js_sys::Reflect::get(error, &"message".into()).ok().and_then(|text| text.as_string());
    message.filter(|text| !text.is_empty()).unwrap_or_else(|| "its files could not be loaded".into())
}
