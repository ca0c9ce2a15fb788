//! The worker's side: loads the models, then answers one table of rows after another.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::{Float32Array, Uint8Array};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent, RequestCache, RequestInit, Response};

use super::protocol::{
    Failed, FromWorker, Imported, Loaded as Introduction, Rows, ToWorker, TrainedOn, Up, VERSION, pack,
    unpack,
};
use crate::config::model::import::import;
use crate::efficiency::onnx::Models;
use crate::efficiency::{Answer, Manifest};
use crate::features::Family;

/// The models, once loaded.
type Loaded = Rc<RefCell<Option<Models>>>;

/// Listens to the page, and says so.
pub fn start() {
    console_error_panic_hook::set_once();
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let loaded = Loaded::default();
    let listening = scope.clone();
    let listen = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
        hear(&listening, &loaded, &message.data());
    });
    scope.set_onmessage(Some(listen.as_ref().unchecked_ref()));
    // The worker ends with its page.
    listen.forget();
    post(&scope, FromWorker::Up(Up { version: VERSION }), &[]);
}

fn hear(scope: &DedicatedWorkerGlobalScope, loaded: &Loaded, message: &JsValue) {
    let failed = |id, reason| FromWorker::Failed(Failed { id, reason });
    match unpack::<ToWorker>(message) {
        Ok((ToWorker::Load(asked), _)) => {
            let (scope, loaded) = (scope.clone(), loaded.clone());
            spawn_local(async move {
                let answer = match load(&scope, &asked.models).await {
                    Ok(models) => {
                        let answer = introduce(&models);
                        *loaded.borrow_mut() = Some(models);
                        answer
                    }
                    Err(reason) => failed(None, reason),
                };
                post(&scope, answer, &[]);
            });
        }
        Ok((ToWorker::Rows(Rows { id, families }), tables)) => match answer(loaded, &families, &tables) {
            Ok(answers) => post(scope, FromWorker::Answer(Rows { id, families }), &answers),
            Err(reason) => post(scope, failed(Some(id), reason), &[]),
        },
        Ok((ToWorker::Import(asked), _)) => {
            let (model, issues) = import(&asked.text, None);
            post(scope, FromWorker::Imported(Imported { model, issues }), &[]);
        }
        Err(error) => post(scope, failed(None, error.to_string()), &[]),
    }
}

fn introduce(models: &Models) -> FromWorker {
    let manifest = models.manifest();
    let trained_on = manifest.trained_on().into_iter().map(|(family, gpus)| TrainedOn { family, gpus });
    FromWorker::Loaded(Introduction { release: manifest.release.clone(), trained_on: trained_on.collect() })
}

fn answer(
    loaded: &Loaded,
    families: &[Family],
    tables: &[Float32Array],
) -> Result<Vec<Float32Array>, String> {
    let loaded = loaded.borrow();
    let models = loaded.as_ref().ok_or("rows came before the models")?;
    let answers = families.iter().zip(tables).map(|(family, rows)| {
        let answer = models.run(*family, &rows.to_vec()).map_err(|error| error.to_string())?;
        let numbers: Vec<f32> = answer.into_iter().flat_map(Answer::to_numbers).collect();
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
