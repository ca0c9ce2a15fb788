//! Fetches the models, and the report of measured cases.

use std::collections::BTreeMap;

use js_sys::Uint8Array;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DedicatedWorkerGlobalScope, RequestCache, RequestInit, Response};

use crate::efficiency::Manifest;
use crate::efficiency::onnx::{ModelError, Models};
use crate::study::accuracy::Accuracy;

/// Fetches the manifest, then all models it names in parallel.
pub async fn load(scope: &DedicatedWorkerGlobalScope, folder: &str) -> Result<Models, String> {
    // Files of the same name from another release may be cached: the manifest is revalidated, and models are
    // requested by content.
    let manifest_url = format!("{folder}manifest.json");
    let request = JsFuture::from(scope.fetch_with_str_and_init(&manifest_url, &anew()));
    let manifest = content(&manifest_url, request).await?;
    let text = String::from_utf8(manifest).map_err(|_| format!("{manifest_url}: not text"))?;
    let manifest = Manifest::parse(&text).map_err(|error| error.to_string())?;
    // All futures are polled together: a promise that fails while another is awaited would be reported as
    // unhandled.
    let requests: Vec<(String, String, JsFuture)> = manifest
        .families
        .into_values()
        .map(|record| {
            let url = format!("{folder}{}?{}", record.file, record.sha256);
            let request = JsFuture::from(scope.fetch_with_str(&url));
            (record.file, url, request)
        })
        .collect();
    let mut files = BTreeMap::new();
    for (file, url, request) in requests {
        files.insert(file, content(&url, request).await?);
    }
    let bytes = |file: &str| {
        let reason = || ModelError::File { path: file.into(), reason: "not among the files".into() };
        files.remove(file).ok_or_else(reason)
    };
    Models::new(&text, bytes).map_err(|error| error.to_string())
}

/// Makes the browser revalidate its cache: the name does not depend on the content.
fn anew() -> RequestInit {
    let anew = RequestInit::new();
    anew.set_cache(RequestCache::NoCache);
    anew
}

/// Fetches the report of measured cases; `None` if unavailable.
pub async fn accuracy(scope: &DedicatedWorkerGlobalScope, folder: &str) -> Option<Accuracy> {
    let url = format!("{folder}evidence.json");
    let request = JsFuture::from(scope.fetch_with_str_and_init(&url, &anew()));
    let text = String::from_utf8(content(&url, request).await.ok()?).ok()?;
    Accuracy::parse(&text).ok()
}

/// The response body for `url`.
async fn content(url: &str, request: JsFuture) -> Result<Vec<u8>, String> {
    let failed = |what: &str| format!("{url}: {what}");
    let response = request.await.map_err(|_| failed("not reachable"))?;
    let response: Response = response.dyn_into().map_err(|_| failed("no response"))?;
    if !response.ok() {
        return Err(failed(&format!("status {}", response.status())));
    }
    let body = response.array_buffer().map_err(|_| failed("no content"))?;
    let buffer = JsFuture::from(body).await.map_err(|_| failed("broken off"))?;
    Ok(Uint8Array::new(&buffer).to_vec())
}
