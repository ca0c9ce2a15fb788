//! A custom model inside a link: JSON, deflated, in URL-safe base64.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};
use serde::{Deserialize, Serialize};

use crate::config::Model;

/// Most bytes after inflating: a small link must not fill the memory.
const MAX_INFLATED: usize = 256 * 1024;

/// miniz's level 9, "best": models are a few hundred bytes.
const LEVEL: u8 = 9;

/// What `x` carries.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload<T> {
    model: T,
}

pub fn encode(model: &Model) -> Option<String> {
    // A model is plain data; its serialisation has no way to fail.
    let json = serde_json::to_vec(&Payload { model }).ok()?;
    Some(URL_SAFE_NO_PAD.encode(compress_to_vec(&json, LEVEL)))
}

pub fn decode(text: &str) -> Result<Model, String> {
    let packed = URL_SAFE_NO_PAD.decode(text.trim_end_matches('='));
    let packed = packed.map_err(|error| format!("the custom model is cut off or damaged: {error}"))?;
    let json = decompress_to_vec_with_limit(&packed, MAX_INFLATED).map_err(|error| match error.status {
        TINFLStatus::HasMoreOutput => format!("the custom model is larger than {} KiB", MAX_INFLATED / 1024),
        _ => "the custom model is cut off or damaged".to_owned(),
    })?;
    let payload: Payload<Model> = serde_json::from_slice(&json)
        .map_err(|error| format!("the custom model is not one this release reads: {error}"))?;
    Ok(payload.model)
}
