//! What the page and its worker say to each other, everything that is shown ready to be shown. Messages are in postcard's format: the code
//! that reads their fields by place is a third of that which reads them by name.

use js_sys::Uint8Array;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast, JsValue};

use crate::chart::Chart;
use crate::config::{Field, Issue};
use crate::study::{Document, Topic};

/// Raised with every change of the messages: the files of the page and of the worker are cached
/// apart, and after a deploy may be of different ages.
pub const VERSION: u32 = 12;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToWorker {
    /// Fetch the models below this absolute URL, which ends in a slash. The question asked last is then answered again.
    Load {
        models: String,
    },
    Ask(Ask),
    Read(Text),
    /// Run the loads around that of the answer with this id, if it was the last.
    Sweep {
        id: u32,
    },
    /// End that.
    Stop {
        id: u32,
    },
    Study(StudyAsked),
    /// End the study with this id.
    EndStudy {
        id: u32,
    },
}

/// Predict the configuration of this link: at the roofline until the models are there. Ends the sweep under way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    pub id: u32,
    pub link: String,
    /// Replay the trace read last.
    pub replay: bool,
}

/// Read this text of the visitor's: a `config.json`, a published name or a launch command (`model`); a trace, to be kept for replays, or a histogram (`trace`); a
/// measurement (`measured`), to be set beside the configuration of `link`; what is to be found, in words (`vary`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    pub field: Field,
    pub text: String,
    pub link: String,
}

/// What such a text holds, and what was found in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    pub field: Field,
    pub issues: Vec<Issue>,
    /// A link that holds what the form is to take; empty where there is nothing.
    pub link: String,
    /// The trace that is kept, in a sentence; empty where none is.
    pub trace: String,
}

/// Study the configuration of this link. Ends the study under way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyAsked {
    pub id: u32,
    pub topic: Topic,
    /// One of the topic's choices.
    pub of: String,
    pub link: String,
    /// The address of the page without query and fragment, for what is shared.
    pub page: String,
}

/// What is known of it so far: `done` configurations of `total` are predicted, or layouts done with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Studied {
    pub id: u32,
    pub done: u32,
    pub total: u32,
    /// What a search for plans finds wrong with the request, or with all plans.
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
    /// The models of this release are ready.
    Loaded {
        release: String,
    },
    /// They will not come; answers are at the roofline.
    Failed {
        reason: String,
    },
    Answered(Box<Answered>),
    Read(Read),
    Swept(Swept),
    Studied(Studied),
}

/// All there is to say of a configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    pub id: u32,
    /// Of the models; none at the roofline.
    pub release: Option<String>,
    /// What checking, fitting and running it found.
    pub issues: Vec<Issue>,
    /// None where it cannot be predicted.
    pub answer: Option<Answer>,
    /// Whether other loads can be run.
    pub has_loads: bool,
}

/// An answer as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What fits has passes; their numbers may still be missing.
    pub fits: bool,
    pub verdict: Verdict,
    /// The headline; empty where there is none.
    pub readings: Vec<Reading>,
    /// What stands behind the bands, and what the physics alone says; empty where nothing was calibrated.
    pub calibration: String,
    pub memory: MemoryShown,
    /// Prefill, decode.
    pub passes: Vec<Pass>,
    pub roofline: Option<Chart>,
    pub roofline_words: String,
    /// The simulated run; empty for a static batch.
    pub run: Document,
}

/// Whether it fits and keeps to the limits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// `meets`, `misses`, `none` (there are no limits) or `unfit`.
    pub id: String,
    pub words: String,
    /// By how much; what would make it fit.
    pub reason: String,
}

/// A number of the headline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub id: String,
    /// In s, tokens/s, requests/s, requests or dollars.
    pub value: f64,
    pub number: String,
    pub unit: String,
    /// Its percentiles, or what of it keeps to the limits; empty where there is nothing to add.
    pub spread: String,
    /// What 80 % of measurements are expected between; empty where nothing was calibrated.
    pub band: String,
    /// What was measured of it, and how far the prediction is off; empty without a measurement.
    pub measured: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryShown {
    pub verdict: String,
    pub words: String,
    pub parts: Vec<Part>,
    /// Where device memory ends in the bar, in %; none where everything fits.
    pub end: Option<f64>,
}

/// A part of device memory, or of a step's time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub class: String,
    pub name: String,
    /// As text, with its unit.
    pub size: String,
    /// Of the bar, in %.
    pub width: f64,
}

/// One step of the engine, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// What limits it.
    pub sentence: String,
    /// Step, tokens, sequences, MFU, MBU.
    pub facts: Vec<String>,
    /// Its time by resource, leaving out those that take none.
    pub times: Vec<Part>,
    pub kernels: Vec<Kernel>,
}

/// A row of a table of kernels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// As tests find it.
    pub id: String,
    pub name: String,
    /// The fold that explains it; empty for the host and the sum.
    pub fold: String,
    pub time: String,
    /// Of the step's time, 0..1, and as text.
    pub share: f64,
    pub percent: String,
    /// Limit, efficiency, launches, FLOP, bytes, intensity, provenance, part, shape.
    pub cells: Vec<String>,
    /// What the provenance means.
    pub help: String,
}

/// The loads around it, as far as they have been run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Swept {
    pub id: u32,
    pub done: u32,
    pub total: u32,
    pub finished: bool,
    /// Empty where there are none.
    pub document: Document,
}

/// A message as it is posted.
pub fn pack(message: &impl Serialize) -> JsValue {
    // A message of ours always fits into memory; an empty one is refused where it arrives.
    Uint8Array::from(&*postcard::to_allocvec(message).unwrap_or_default()).into()
}

/// A message received.
///
/// # Errors
/// Where it is none of this protocol's.
pub fn unpack<T: DeserializeOwned>(message: &JsValue) -> Result<T, String> {
    let bytes: &Uint8Array = message.dyn_ref().ok_or("a message holds no bytes")?;
    postcard::from_bytes(&bytes.to_vec()).map_err(|fault| format!("a message does not read: {fault}"))
}
