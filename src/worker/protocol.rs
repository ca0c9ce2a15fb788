//! What the page and its worker say to each other.
//!
//! A message is a JavaScript array: the header as JSON, then one `Float32Array` per table, whose buffer is
//! transferred.

use js_sys::{Array, Float32Array};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast, JsValue};

use crate::config::{Field, Issue};
use crate::study::{Document, Topic};

/// Raised with every change of the messages: the files of the page and of the worker are cached
/// apart, and after a deploy may be of different ages.
pub const VERSION: u32 = 8;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToWorker {
    /// Fetch the models below this absolute URL, which ends in a slash.
    Load {
        models: String,
    },
    /// Plan the configuration of this link and answer its calls. The answer has one table, of `CallAnswer::WIDTH`
    /// numbers per call.
    Ask {
        id: u32,
        link: String,
    },
    Read(Text),
    Simulate(Simulate),
    /// End the simulation with this id.
    Stop {
        id: u32,
    },
    Study(StudyAsked),
    /// End the study with this id.
    EndStudy {
        id: u32,
    },
}

/// Read this text of the visitor's: a `config.json` (`model`); a trace, to be kept for replays, or a histogram (`trace`); a
/// measurement (`measured`), to be set beside the configuration of `link`.
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

/// Run the load of this link in the simulator, then the loads around it. Ends the simulation under way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulate {
    pub id: u32,
    pub link: String,
    /// Replay the trace read last.
    pub replay: bool,
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

/// What is known of it so far: `done` configurations of `total` are predicted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Studied {
    pub id: u32,
    pub done: u32,
    pub total: u32,
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
    /// With the calls' answers in a table, or with what stands in their way.
    Answered {
        id: u32,
        release: String,
        issues: Vec<Issue>,
    },
    /// Loading failed, or the question with this id.
    Failed {
        id: Option<u32>,
        reason: String,
    },
    Read(Read),
    Simulated(Simulated),
    Swept(Swept),
    Studied(Studied),
}

/// A run, as a document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Simulated {
    pub id: u32,
    /// Why it cannot be run, or what makes its numbers mean little.
    pub issues: Vec<Issue>,
    /// Whether other loads follow.
    pub goes_on: bool,
    /// Empty where it cannot be run.
    pub document: Document,
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

/// Why a message could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    #[error("a message is not an array of a header and tables")]
    Form,
    #[error("a message's header does not read: {0}")]
    Header(String),
}

/// The message, and the list of buffers to transfer with it.
pub fn pack(header: &impl Serialize, tables: &[Float32Array]) -> (Array, Array) {
    let header = serde_json::to_string(header).unwrap_or_default();
    let (message, buffers) = (Array::of1(&header.into()), Array::new());
    for table in tables {
        message.push(table);
        buffers.push(&table.buffer());
    }
    (message, buffers)
}

/// The header and the tables of a message received.
///
/// # Errors
/// Where it is none of this protocol's.
pub fn unpack<T: DeserializeOwned>(message: &JsValue) -> Result<(T, Vec<Float32Array>), BadMessage> {
    let message: &Array = message.dyn_ref().ok_or(BadMessage::Form)?;
    let header = message.get(0).as_string().ok_or(BadMessage::Form)?;
    let header = serde_json::from_str(&header).map_err(|fault| BadMessage::Header(fault.to_string()))?;
    let mut tables = Vec::new();
    for index in 1..message.length() {
        tables.push(message.get(index).dyn_into().map_err(|_| BadMessage::Form)?);
    }
    Ok((header, tables))
}
