//! A custom model in a link: its JSON record in URL-safe base64, with one byte for each common piece of such
//! records, which shrinks a dense model from 310 bytes to 65.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::config::Model;
use crate::config::objects::from_json;

/// The payload of `x`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload<M> {
    model: M,
}

/// What the control characters from U+0001 on stand for. JSON itself has none, so links from before this table are
/// read unchanged. Frozen: the order is part of every link. New pieces take unused characters, up to U+001F.
///
/// The first match is used, so a longer piece precedes its own prefix.
const PIECES: [&str; 31] = [
    r#"{"model":{"id":""#,
    r#"","name":""#,
    r#"","hidden":"#,
    r#","vocab":"#,
    r#","max_context":"#,
    r#","tied_embeddings":false,"weights":""#,
    r#","tied_embeddings":true,"weights":""#,
    r#"","blocks":[{"count":"#,
    r#",{"count":"#,
    r#","attention":{"gqa":{"heads":"#,
    r#","attention":{"mla":{"heads":"#,
    r#","attention":"#,
    r#":{"heads":"#,
    r#","kv_heads":8,"head_dim":"#,
    r#","kv_heads":"#,
    r#","head_dim":"#,
    r#","qk_norm":true,"qkv_bias":false"#,
    r#","qk_norm":false,"qkv_bias":"#,
    r#"}},"ffn":{"dense":{"intermediate":"#,
    r#","ffn":{"moe":{"experts":"#,
    r#","topk":"#,
    r#","intermediate":"#,
    r#","shared":"#,
    r#"}},"norms":"pre"}"#,
    r#","query_rank":"#,
    r#","latent":"#,
    r#","rope":"#,
    r#","window":"#,
    r#"],"checkpoints":[{"weights":""#,
    r#"],"notes":[""#,
    "]}}",
];

pub fn encode(model: &Model) -> String {
    let json = serde_json::to_string(&Payload { model }).unwrap_or_default();
    let (mut rest, mut out) = (json.as_bytes(), Vec::new());
    while let [first, others @ ..] = rest {
        let found = PIECES.iter().position(|piece| rest.starts_with(piece.as_bytes()));
        out.push(found.map_or(*first, |index| index as u8 + 1));
        rest = found.and_then(|index| rest.get(PIECES[index].len()..)).unwrap_or(others);
    }
    URL_SAFE_NO_PAD.encode(out)
}

pub fn decode(text: &str) -> Result<Model, String> {
    const DAMAGED: &str = "the custom model is cut off or damaged";
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|_| DAMAGED)?;
    // A link is too short for this to exhaust memory.
    let mut json = Vec::new();
    for byte in bytes {
        match PIECES.get(usize::from(byte).wrapping_sub(1)) {
            Some(piece) => json.extend_from_slice(piece.as_bytes()),
            None => json.push(byte),
        }
    }
    let json = str::from_utf8(&json).map_err(|_| DAMAGED)?;
    let payload: Payload<Model> = from_json(json).map_err(|fault| format!("{DAMAGED}: {fault}"))?;
    Ok(payload.model)
}
