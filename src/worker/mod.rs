//! All predictions run in a Web Worker, in a wasm binary fetched in parallel with the page's. `protocol` has the
//! messages, `host` runs in the worker, `client` in the page.

#[cfg(feature = "infer-worker")]
mod answer;
#[cfg(feature = "ui")]
pub mod client;
#[cfg(feature = "infer-worker")]
mod fetch;
#[cfg(feature = "infer-worker")]
pub mod host;
pub mod protocol;
#[cfg(feature = "infer-worker")]
mod texts;
#[cfg(feature = "infer-worker")]
mod view;
