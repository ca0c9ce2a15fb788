//! A custom model inside a link: its JSON record in URL-safe base64.
//!
//! Not deflated: a dense model's record is 330 bytes, deflating saves a third of it and costs the page
//! 18 KB (gzip) of its first download.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use crate::config::Model;
use crate::config::record::{self, record};

/// What `x` carries.
#[derive(Serialize)]
struct Payload<T> {
    model: T,
}

record!(Payload<Model>: model);

pub fn encode(model: &Model) -> Option<String> {
    // A model is plain data; its serialisation has no way to fail.
    let json = serde_json::to_vec(&Payload { model }).ok()?;
    Some(URL_SAFE_NO_PAD.encode(json))
}

pub fn decode(text: &str) -> Result<Model, String> {
    const DAMAGED: &str = "the custom model is cut off or damaged";
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|_| DAMAGED)?;
    let json = std::str::from_utf8(&bytes).map_err(|_| DAMAGED)?;
    let payload: Payload<Model> = record::read(json).map_err(|fault| format!("{DAMAGED}: {fault}"))?;
    Ok(payload.model)
}
