//! Everything that is predicted is predicted in a Web Worker of its own, in a wasm binary that is fetched beside the
//! page's. `protocol` is what both sides say, `host` runs in the worker, `client` in the page.

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
