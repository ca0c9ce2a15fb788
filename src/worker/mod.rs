//! The models run in a Web Worker of their own, in a wasm binary that is fetched after the first
//! paint. `protocol` is what both sides say, `host` runs in the worker, `client` in the page.

#[cfg(feature = "infer-worker")]
mod asked;
#[cfg(feature = "ui")]
pub mod client;
#[cfg(feature = "infer-worker")]
mod fetch;
#[cfg(feature = "infer-worker")]
pub mod host;
pub mod protocol;
#[cfg(feature = "infer-worker")]
mod simulation;
#[cfg(feature = "infer-worker")]
mod texts;
#[cfg(feature = "infer-worker")]
mod view;
