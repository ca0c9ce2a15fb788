//! Messages between page and worker, with everything ready for display. They use postcard's format: code that reads
//! fields by position is a third the size of code that reads them by name.

use js_sys::Uint8Array;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast, JsValue};

use crate::chart::Chart;
use crate::config::{Field, Issue};
use crate::study::{Document, Topic};

/// Incremented on every change of the messages: page and worker files are cached separately, and may differ in age
/// after a deploy.
pub const VERSION: u32 = 17;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToWorker {
    /// Fetch the models under this absolute URL, which ends in a slash. The last question is then answered again.
    Load {
        models: String,
    },
    Ask(PredictionRequest),
    Read(Text),
    /// Run other loads around that of the answer with this id, if it was the last.
    Sweep {
        id: u32,
    },
    /// Stop that.
    Stop {
        id: u32,
    },
    Study(StudyRequest),
    /// End the study with this id.
    EndStudy {
        id: u32,
    },
}

/// Predict the configuration of this link, at the roofline until the models are loaded. Ends the current sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictionRequest {
    pub id: u32,
    pub link: String,
    /// Replay the last trace read.
    pub replay: bool,
}

/// Read a visitor's text: a `config.json`, a published name or a launch command (`model`); a trace to keep for
/// replays, or a histogram (`trace`); a measurement to compare with the configuration of `link` (`measured`); a
/// search in words (`vary`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    pub field: Field,
    pub text: String,
    pub link: String,
}

/// The contents of such a text, and the issues found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    pub field: Field,
    pub issues: Vec<Issue>,
    /// A link with what the form is to take over; empty if nothing.
    pub link: String,
    /// Description of the trace kept; empty if none.
    pub trace: String,
}

/// Study the configuration of this link. Ends the current study, unless this is a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyRequest {
    pub id: u32,
    pub topic: Topic,
    /// The choice within the topic.
    pub of: String,
    pub link: String,
    /// The page's address without query and fragment, for sharing.
    pub page: String,
}

/// Results so far: `done` of `total` configurations or layouts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Studied {
    pub id: u32,
    pub done: u32,
    pub total: u32,
    /// Issues of a search with the request, or with all plans.
    pub issues: Vec<Issue>,
    pub document: Document,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromWorker {
    /// The first message.
    Up {
        version: u32,
    },
    /// The models of this release are loaded.
    Loaded {
        release: String,
    },
    /// The models failed to load; answers stay at the roofline.
    Failed {
        reason: String,
    },
    /// A message of the page could not be decoded.
    Unreadable {
        reason: String,
    },
    Answered(Box<Answered>),
    Read(Read),
    Swept(Swept),
    Studied(Studied),
}

/// The answer for a configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    pub id: u32,
    /// Release of the models; `None` at the roofline.
    pub release: Option<String>,
    /// Issues from checking, fitting and running it.
    pub issues: Vec<Issue>,
    /// `None` if it cannot be predicted.
    pub answer: Option<Answer>,
    /// Whether other loads can be run.
    pub has_loads: bool,
}

/// An answer ready for display.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// If it fits there are passes; their numbers may still be missing.
    pub fits: bool,
    pub verdict: Verdict,
    /// The headline; empty if there is none.
    pub readings: Vec<Reading>,
    /// The basis of the bands, and the physics alone; empty if not calibrated.
    pub calibration: String,
    pub memory: MemoryShown,
    /// Prefill, decode.
    pub passes: Vec<Pass>,
    pub roofline: Option<Chart>,
    pub roofline_words: String,
    /// The simulated run; empty for a static batch.
    pub run: Document,
}

/// Whether the configuration fits and meets the limits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// `meets`, `may` (in doubt), `misses`, `none` (no limits) or `unfit`.
    pub id: String,
    pub words: String,
    /// By how much limits are met or missed, or what would make the configuration fit.
    pub reason: String,
}

/// A number of the headline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub id: String,
    /// The value in s, tokens/s, requests/s, requests or dollars.
    pub value: f64,
    pub number: String,
    pub unit: String,
    /// What the value is of, with several replicas: "in all", or per which part.
    pub of: String,
    /// Percentiles or goodput, in words; empty if there is nothing to add.
    pub spread: String,
    /// The 80 % band, in words; empty if not calibrated.
    pub band: String,
    /// The measurement, and the prediction's deviation from it; empty without a measurement.
    pub measured: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryShown {
    pub verdict: String,
    pub words: String,
    pub parts: Vec<Part>,
    /// End of device memory in the bar, in %; `None` if everything fits.
    pub end: Option<f64>,
}

/// A part of device memory, or of a step's time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub class: String,
    pub name: String,
    /// As text, with its unit.
    pub size: String,
    /// Width in the bar, in %.
    pub width: f64,
}

/// One engine step, broken down.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// What limits the step.
    pub sentence: String,
    /// Step, tokens, sequences, MFU, MBU.
    pub facts: Vec<String>,
    /// Step time by resource, omitting zeros.
    pub times: Vec<Part>,
    pub kernels: Vec<KernelRow>,
}

/// A row of a table of kernels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelRow {
    /// The id for tests.
    pub id: String,
    pub name: String,
    /// The fold that explains it; empty for the host and the total.
    pub fold: String,
    pub time: String,
    /// Share of the step's time, 0..1, and as text.
    pub share: f64,
    pub percent: String,
    /// The colour class of its limit.
    pub class: String,
    /// Limit, efficiency, launches, FLOP, bytes, intensity, provenance, part, shape.
    pub cells: Vec<String>,
    /// The provenance explained.
    pub help: String,
}

/// The loads run so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Swept {
    pub id: u32,
    pub done: u32,
    pub total: u32,
    pub finished: bool,
    /// Empty if there are none.
    pub document: Document,
}

/// Encodes a message.
pub fn pack(message: &impl Serialize) -> JsValue {
    // Our messages always fit in memory; an empty one is refused by the receiver.
    Uint8Array::from(&*postcard::to_allocvec(message).unwrap_or_default()).into()
}

/// Decodes a message.
pub fn unpack<T: DeserializeOwned>(message: &JsValue) -> Result<T, String> {
    let bytes: &Uint8Array = message.dyn_ref().ok_or("a message holds no bytes")?;
    postcard::from_bytes(&bytes.to_vec()).map_err(|fault| format!("cannot decode a message: {fault}"))
}
