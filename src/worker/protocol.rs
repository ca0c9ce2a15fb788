//! What the page and its worker say to each other.
//!
//! A message is a JavaScript array: the header as JSON, then one `Float32Array` per table, whose buffer is
//! transferred.

use js_sys::{Array, Float32Array};
use wasm_bindgen::{JsCast, JsValue};

use crate::config::json;
use crate::config::record::{Record, record, variants};
use crate::config::{Issue, Model};
use crate::features::Family;

/// Raised with every change of the messages: the files of the page and of the worker are cached
/// apart, and after a deploy may be of different ages.
pub const VERSION: u32 = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToWorker {
    Load(Load),
    Rows(Rows),
    Import(Import),
}

/// Fetch the models below this absolute URL, which ends in a slash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Load {
    pub models: String,
}

/// Run each family's model on its table: feature rows, row-major. The answer is the same with
/// `Answer::WIDTH` numbers per row in the tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    pub id: u32,
    pub families: Vec<Family>,
}

/// Read this `config.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Import {
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromWorker {
    /// The first message.
    Up(Up),
    /// The models are ready.
    Loaded(Loaded),
    Answer(Rows),
    /// Loading failed, or the request with this id.
    Failed(Failed),
    Imported(Imported),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Up {
    pub version: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    pub release: String,
    pub trained_on: Vec<TrainedOn>,
}

/// The GPUs whose measurements trained a family.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrainedOn {
    pub family: Family,
    pub gpus: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failed {
    pub id: Option<u32>,
    pub reason: String,
}

/// What a `config.json` holds, and what was found in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    pub model: Option<Model>,
    pub issues: Vec<Issue>,
}

variants!(ToWorker: Load(Load) = "load", Rows(Rows) = "rows", Import(Import) = "import");
record!(Load: models);
record!(Rows: id, families);
record!(Import: text);
variants!(
    FromWorker:
    Up(Up) = "up",
    Loaded(Loaded) = "loaded",
    Answer(Rows) = "answer",
    Failed(Failed) = "failed",
    Imported(Imported) = "imported",
);
record!(Up: version);
record!(Loaded: release, trained_on);
record!(TrainedOn: family, gpus);
record!(Failed: id, reason);
record!(Imported: model, issues);

/// Why a message could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    #[error("a message is not an array of a header and tables")]
    Form,
    #[error("a message's header does not read: {0}")]
    Header(String),
}

/// The message, and the list of buffers to transfer with it.
pub fn pack(header: &mut dyn Record, tables: &[Float32Array]) -> (Array, Array) {
    let (message, buffers) = (Array::of1(&json::write(header).into()), Array::new());
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
pub fn unpack<T: Record + Default>(message: &JsValue) -> Result<(T, Vec<Float32Array>), BadMessage> {
    let message: &Array = message.dyn_ref().ok_or(BadMessage::Form)?;
    let header = message.get(0).as_string().ok_or(BadMessage::Form)?;
    let header = json::read(&header).map_err(BadMessage::Header)?;
    let mut tables = Vec::new();
    for index in 1..message.length() {
        tables.push(message.get(index).dyn_into().map_err(|_| BadMessage::Form)?);
    }
    Ok((header, tables))
}
