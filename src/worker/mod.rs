//! The models run in a Web Worker of their own, in a wasm binary that is fetched after the first
//! paint. `protocol` is what both sides say, `client` is the page's side.

#[cfg(feature = "ui")]
pub mod client;
pub mod protocol;
