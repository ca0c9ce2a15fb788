//! The worker's side: loads the models, then answers one table of rows after another.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::{Float32Array, Uint8Array};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent, RequestCache, RequestInit, Response};

use super::asked::setup;
use super::protocol::{
    Answered, Ask, Failed, FromWorker, Imported, Loaded as Introduction, Rows, Simulate, Simulated, ToWorker,
    Up, VERSION, pack, unpack,
};
use super::simulation::Simulation;
use super::view;
use crate::config::model::import::import;
use crate::config::{Field, Issue};
use crate::efficiency::onnx::Models;
use crate::efficiency::{CallAnswer, Efficiencies, Manifest};
use crate::features::Family;
use crate::serving::plan;
use crate::serving::run::Trace;

/// What the worker holds between messages.
#[derive(Clone, Default)]
struct Desk {
    /// The models, once loaded.
    models: Rc<RefCell<Option<Models>>>,
    /// The simulation under way.
    simulation: Rc<RefCell<Option<Simulation>>>,
    /// To be replayed.
    trace: Rc<RefCell<Option<Trace>>>,
}

/// Listens to the page, and says so.
pub fn start() {
    console_error_panic_hook::set_once();
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let desk = Desk::default();
    let listening = scope.clone();
    let listen = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
        hear(&listening, &desk, &message.data());
    });
    scope.set_onmessage(Some(listen.as_ref().unchecked_ref()));
    // The worker ends with its page.
    listen.forget();
    post(&scope, FromWorker::Up(Up { version: VERSION }), &[]);
}

fn hear(scope: &DedicatedWorkerGlobalScope, desk: &Desk, message: &JsValue) {
    let failed = |id, reason| FromWorker::Failed(Failed { id, reason });
    match unpack::<ToWorker>(message) {
        Ok((ToWorker::Load(asked), _)) => {
            let (scope, loaded) = (scope.clone(), desk.models.clone());
            spawn_local(async move {
                let answer = match load(&scope, &asked.models).await {
                    Ok(models) => {
                        let release = models.manifest().release.clone();
                        let answer = FromWorker::Loaded(Introduction { release });
                        *loaded.borrow_mut() = Some(models);
                        answer
                    }
                    Err(reason) => failed(None, reason),
                };
                post(&scope, answer, &[]);
            });
        }
        Ok((ToWorker::Ask(asked), _)) => match answer(desk, &asked) {
            Ok((answered, table)) => post(scope, FromWorker::Answered(answered), table.as_slice()),
            Err(reason) => post(scope, failed(Some(asked.id), reason), &[]),
        },
        Ok((ToWorker::Rows(Rows { id, families }), tables)) => match run(desk, &families, &tables) {
            Ok(answers) => post(scope, FromWorker::Rows(Rows { id, families }), &answers),
            Err(reason) => post(scope, failed(Some(id), reason), &[]),
        },
        Ok((ToWorker::Import(asked), _)) => {
            let (model, issues) = import(&asked.text, None);
            post(scope, FromWorker::Imported(Imported { model, issues }), &[]);
        }
        Ok((ToWorker::Trace(asked), _)) => {
            let (trace, issues) = Trace::parse(&asked.text);
            post(scope, FromWorker::Traced(view::trace(trace.as_ref(), issues)), &[]);
            *desk.trace.borrow_mut() = trace;
        }
        Ok((ToWorker::Simulate(asked), _)) => {
            let (simulated, simulation) = simulate(desk, &asked).unwrap_or_else(|reason| {
                let issues = vec![Issue::error(Field::Load, reason)];
                (Simulated { id: asked.id, issues, ..Simulated::default() }, None)
            });
            post(scope, FromWorker::Simulated(simulated), &[]);
            let goes_on = simulation.is_some();
            *desk.simulation.borrow_mut() = simulation;
            if goes_on {
                go_on(scope, desk, asked.id);
            }
        }
        Ok((ToWorker::Stop(stop), _)) => {
            desk.simulation.borrow_mut().take_if(|simulation| simulation.id == stop.id);
        }
        Err(error) => post(scope, failed(None, error.to_string()), &[]),
    }
}

fn simulate(desk: &Desk, asked: &Simulate) -> Result<(Simulated, Option<Simulation>), String> {
    let loaded = desk.models.borrow();
    let models = loaded.as_ref().ok_or("a simulation came before the models")?;
    let trace = desk.trace.borrow().clone().filter(|_| asked.replay);
    Simulation::start(asked, trace, |rows| {
        models.answer(rows).map(Efficiencies::Learned).map_err(|error| error.to_string())
    })
}

/// One more load of the simulation, in a task of its own: what the page asks meanwhile comes first.
fn go_on(scope: &DedicatedWorkerGlobalScope, desk: &Desk, id: u32) {
    let (listening, desk) = (scope.clone(), desk.clone());
    let next = Closure::once_into_js(move || {
        let swept = {
            let mut simulation = desk.simulation.borrow_mut();
            let Some(simulation) = simulation.as_mut().filter(|simulation| simulation.id == id) else {
                return;
            };
            simulation.step()
        };
        let finished = swept.finished;
        post(&listening, FromWorker::Swept(swept), &[]);
        if finished {
            desk.simulation.borrow_mut().take();
        } else {
            go_on(&listening, &desk, id);
        }
    });
    // Without a timer there is no curve, and the run stands alone.
    let _ = scope.set_timeout_with_callback(next.unchecked_ref());
}

/// The answers to the calls of a configuration, as a table, or the issues that stand in their way.
fn answer(desk: &Desk, asked: &Ask) -> Result<(Answered, Option<Float32Array>), String> {
    let loaded = desk.models.borrow();
    let models = loaded.as_ref().ok_or("a question came before the models")?;
    let (id, release) = (asked.id, models.manifest().release.clone());
    let (_, rows) = match setup(&asked.link).and_then(|setup| plan(&setup)) {
        Ok(planned) => planned,
        Err(issues) => return Ok((Answered { id, release, issues }, None)),
    };
    let learned = models.answer(&rows).map_err(|error| error.to_string())?;
    let numbers: Vec<f32> = learned.calls.into_iter().flat_map(CallAnswer::to_numbers).collect();
    Ok((Answered { id, release, issues: Vec::new() }, Some(Float32Array::from(&numbers[..]))))
}

/// Each family's model, run on its table.
fn run(desk: &Desk, families: &[Family], tables: &[Float32Array]) -> Result<Vec<Float32Array>, String> {
    let loaded = desk.models.borrow();
    let models = loaded.as_ref().ok_or("rows came before the models")?;
    let answers = families.iter().zip(tables).map(|(family, rows)| {
        let answer = models.run(*family, &rows.to_vec()).map_err(|error| error.to_string())?;
        let numbers: Vec<f32> = answer.into_iter().map(|answer| answer.ln_efficiency).collect();
        Ok(Float32Array::from(&numbers[..]))
    });
    answers.collect()
}

/// Fetches the manifest, then every model it names at once.
async fn load(scope: &DedicatedWorkerGlobalScope, folder: &str) -> Result<Models, String> {
    // Same-named files of another release may be in the cache: the manifest is asked for anew, and the
    // models by their content.
    let anew = RequestInit::new();
    anew.set_cache(RequestCache::NoCache);
    let manifest_url = format!("{folder}manifest.json");
    let request = JsFuture::from(scope.fetch_with_str_and_init(&manifest_url, &anew));
    let manifest = content(&manifest_url, request).await?;
    let text = String::from_utf8(manifest).map_err(|_| format!("{manifest_url}: not text"))?;
    let manifest = Manifest::parse(&text).map_err(|error| error.to_string())?;
    // Futures at once: a promise that fails while another is awaited would reach the console unhandled.
    let requests: Vec<(String, String, JsFuture)> = manifest
        .families
        .into_values()
        .map(|record| {
            let url = format!("{folder}{}?{}", record.file, record.sha256);
            let request = JsFuture::from(scope.fetch_with_str(&url));
            (record.file, url, request)
        })
        .collect();
    let mut files = BTreeMap::new();
    for (file, url, request) in requests {
        files.insert(file, content(&url, request).await?);
    }
    // A file the manifest names is in `files`; an empty one is refused for its length.
    Models::new(&text, |file| Ok(files.remove(file).unwrap_or_default())).map_err(|error| error.to_string())
}

/// The bytes that the request for `url` answers with.
async fn content(url: &str, request: JsFuture) -> Result<Vec<u8>, String> {
    let failed = |what: &str| format!("{url}: {what}");
    let response = request.await.map_err(|_| failed("not reachable"))?;
    let response: Response = response.dyn_into().map_err(|_| failed("no response"))?;
    if !response.ok() {
        return Err(failed(&format!("status {}", response.status())));
    }
    let body = response.array_buffer().map_err(|_| failed("no content"))?;
    let buffer = JsFuture::from(body).await.map_err(|_| failed("broken off"))?;
    Ok(Uint8Array::new(&buffer).to_vec())
}

fn post(scope: &DedicatedWorkerGlobalScope, mut header: FromWorker, tables: &[Float32Array]) {
    let (message, buffers) = pack(&mut header, tables);
    // Buffers are fresh, so nothing is there that could not be transferred.
    let _ = scope.post_message_with_transfer(&message, &buffers);
}
