//! A custom model inside a link: its JSON record in URL-safe base64.
//!
//! Not deflated: a dense model's record is 330 bytes, deflating saves a third of it and costs the page
//! 18 KB (gzip) of its first download.

use crate::config::Model;
use crate::config::json;
use crate::config::record::record;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// What `x` carries.
#[derive(Default)]
struct Payload {
    model: Model,
}

record!(Payload: model);

pub fn encode(model: &Model) -> String {
    URL_SAFE_NO_PAD.encode(json::write(&mut Payload { model: model.clone() }))
}

pub fn decode(text: &str) -> Result<Model, String> {
    const DAMAGED: &str = "the custom model is cut off or damaged";
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|_| DAMAGED)?;
    let json = std::str::from_utf8(&bytes).map_err(|_| DAMAGED)?;
    let payload: Payload = json::read(json).map_err(|fault| format!("{DAMAGED}: {fault}"))?;
    Ok(payload.model)
}
