//! The API for JavaScript. Configurations and options come as text for the core's own parser; results are plain
//! objects, arrays, numbers and strings.

use std::cell::{Cell, RefCell};

use js_sys::{Date, Map, Uint8Array};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use super::{Failure, FailureKind, Options, ParsedScenario, Prediction};
use crate::config::Issue;
use crate::efficiency::onnx::{ModelError, Models};
use crate::efficiency::{Efficiencies, Rows};
use crate::find::{Answer, Request, Search};
use crate::serving::table::Tables;

thread_local! {
    static MODELS: RefCell<Option<Models>> = const { RefCell::new(None) };
    /// The table of the last prediction: programs ask for many loads of one setup.
    static TABLES: RefCell<Tables> = RefCell::default();
}

/// Loads the manifest's text and the bytes of the files it names. Returns a failure, or undefined.
#[wasm_bindgen(js_name = loadModels)]
pub fn load_models(manifest: &str, files: &Map) -> JsValue {
    console_error_panic_hook::set_once();
    let bytes = |name: &str| {
        let found: Option<Uint8Array> = files.get(&name.into()).dyn_into().ok();
        let reason = || ModelError::File { path: name.into(), reason: "not among the files".into() };
        found.map(|bytes| bytes.to_vec()).ok_or_else(reason)
    };
    match Models::new(manifest, bytes) {
        Ok(models) => {
            MODELS.set(Some(models));
            TABLES.take();
            JsValue::UNDEFINED
        }
        Err(error) => value(&Failure::new(FailureKind::Damaged, error.to_string())),
    }
}

/// The release of the loaded models, if any.
#[wasm_bindgen]
pub fn release() -> Option<String> {
    MODELS.with_borrow(|models| models.as_ref().map(|models| models.manifest().release.clone()))
}

/// Version of the program; data and weights have a separate release.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}

/// `config`: a link or a JSON scenario. `options`: an object as JSON.
#[wasm_bindgen]
pub fn predict(config: &str, options: &str) -> JsValue {
    let prediction = match Options::from_json(options) {
        Ok(options) => {
            let asked = ParsedScenario::with(config, &options);
            // Not borrowed meanwhile: a prediction that traps must not lock out the next.
            let mut tables = TABLES.take();
            let prediction = asked.predict_among(&options, &mut tables, |rows| answer(&options, rows));
            TABLES.set(tables);
            prediction
        }
        Err(issue) => Prediction { issues: vec![issue], ..Prediction::default() },
    };
    value(&prediction)
}

fn answer(options: &Options, rows: &Rows) -> Result<Efficiencies, Failure> {
    if options.roofline == Some(true) {
        return Ok(Efficiencies::Roofline);
    }
    MODELS.with_borrow(|models| {
        let none = "the learned models are not loaded: load them, or ask for the roofline";
        let models = models.as_ref().ok_or_else(|| Failure::new(FailureKind::NoModels, none))?;
        let failed = |error: ModelError| Failure::new(FailureKind::Models, error.to_string());
        models.answer(rows).map(Efficiencies::Learned).map_err(failed)
    })
}

/// A search in progress.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Planner {
    /// `None` if the request has an error.
    search: Option<Search>,
    issues: Vec<Issue>,
    options: Options,
    failure: Option<Failure>,
}

#[wasm_bindgen]
impl Planner {
    /// `request` and `options`, as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(request: &str, options: &str) -> Self {
        let (request, mut issues) = Request::from_json(request);
        let options = Options::from_json(options).map_err(|issue| issues.push(issue)).ok();
        let search = request.filter(|_| options.is_some()).map(Search::new);
        Self { search, issues, options: options.unwrap_or_default(), failure: None }
    }

    /// Searches for about this many milliseconds. Returns whether anything remains.
    pub fn step(&mut self, milliseconds: f64) -> bool {
        let Some(search) = &mut self.search else { return false };
        let failed = Cell::new(None);
        let ask = |rows: &Rows| {
            answer(&self.options, rows).map_err(|failure| {
                let text = failure.text.clone();
                failed.set(Some(failure));
                text
            })
        };
        let end = Date::now() + milliseconds;
        loop {
            match search.step(&ask) {
                Ok(true) if Date::now() < end => {}
                Ok(remains) => return remains,
                Err(text) => {
                    self.failure = failed.take().or(Some(Failure::new(FailureKind::Models, text)));
                    search.stop();
                    return false;
                }
            }
        }
    }

    /// The current answer.
    pub fn answer(&self) -> JsValue {
        let found = self.search.as_ref().map_or_else(Answer::default, Search::answer);
        let finished = found.finished || self.search.is_none();
        let issues = self.issues.iter().cloned().chain(found.issues).collect();
        value(&Answer { issues, finished, ..found })
    }

    /// A failure that no other request would avoid, or undefined.
    pub fn failure(&self) -> JsValue {
        self.failure.as_ref().map_or(JsValue::UNDEFINED, value)
    }
}

#[wasm_bindgen]
pub fn models() -> JsValue {
    value(&super::models())
}

#[wasm_bindgen]
pub fn gpus() -> JsValue {
    value(&super::gpus())
}

#[wasm_bindgen]
pub fn engines() -> JsValue {
    value(&super::engines())
}

#[wasm_bindgen(js_name = encodeLink)]
pub fn encode_link(config: &str) -> JsValue {
    value(&super::encode(config))
}

#[wasm_bindgen(js_name = decodeLink)]
pub fn decode_link(link: &str) -> JsValue {
    value(&super::decode(link))
}

/// A JavaScript value equal to the JSON form.
fn value(of: &impl Serialize) -> JsValue {
    // No type here has a serializer that could fail.
    of.serialize(&Serializer::json_compatible()).unwrap_or(JsValue::UNDEFINED)
}
