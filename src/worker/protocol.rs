//! What the page and its worker say to each other.
//!
//! A message is a JavaScript array: the header, then one `Float32Array` per table, whose buffer is
//! transferred. Headers go through serde; numbers do not.

use js_sys::{Array, Float32Array};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use wasm_bindgen::{JsCast, JsValue};

use crate::features::Family;

/// Raised with every change of the messages: the files of the page and of the worker are cached
/// apart, and after a deploy may be of different ages.
pub const VERSION: u32 = 2;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Fetch the models below this absolute URL, which ends in a slash.
    Load { models: String },
    /// Run each family's model on its table: feature rows, row-major. The answer carries the same id.
    Rows { id: u32, families: Vec<Family> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromWorker {
    /// The first message.
    Up { version: u32 },
    /// The models are ready.
    Loaded { release: String, trained_on: Vec<(Family, Vec<String>)> },
    /// `Answer::WIDTH` numbers per row; one table per family, in this order.
    Answer { id: u32, families: Vec<Family> },
    /// Loading failed, or the request with this id.
    Failed { id: Option<u32>, reason: String },
}

/// Why a message could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    #[error("a message is not an array of a header and tables")]
    Form,
    #[error("a message's header does not read: {0}")]
    Header(String),
}

/// The message, and the list of buffers to transfer with it.
///
/// # Errors
/// Where serde cannot express the header.
pub fn pack<T: Serialize>(header: &T, tables: &[Float32Array]) -> Result<(Array, Array), BadMessage> {
    let header =
        serde_wasm_bindgen::to_value(header).map_err(|error| BadMessage::Header(error.to_string()))?;
    let (message, buffers) = (Array::of1(&header), Array::new());
    for table in tables {
        message.push(table);
        buffers.push(&table.buffer());
    }
    Ok((message, buffers))
}

/// The header and the tables of a message received.
///
/// # Errors
/// Where it is none of this protocol's.
pub fn unpack<T: DeserializeOwned>(message: &JsValue) -> Result<(T, Vec<Float32Array>), BadMessage> {
    let message: &Array = message.dyn_ref().ok_or(BadMessage::Form)?;
    let header = serde_wasm_bindgen::from_value(message.get(0));
    let header = header.map_err(|error| BadMessage::Header(error.to_string()))?;
    let tables = message.iter().skip(1).map(|table| table.dyn_into().map_err(|_| BadMessage::Form));
    Ok((header, tables.collect::<Result<_, _>>()?))
}
