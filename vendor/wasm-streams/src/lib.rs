//! Stand-in for the crate wasm-streams, which Leptos links for server functions that answer in streams.
//!
//! The page has no server. The real crate exports three JavaScript classes, and what is exported no
//! linker can leave out, used or not: they and the futures behind them are the largest part of Leptos
//! that the page would ship in vain. This has the interface that Leptos compiles against; every stream
//! is empty.

use futures_util::stream::{Empty, Stream, empty};
use wasm_bindgen::{JsValue, UnwrapThrowExt};

pub struct ReadableStream(web_sys::ReadableStream);

impl ReadableStream {
    pub fn from_raw(raw: web_sys::ReadableStream) -> Self {
        Self(raw)
    }

    pub fn from_stream(_: impl Stream<Item = Result<JsValue, JsValue>> + 'static) -> Self {
        Self(web_sys::ReadableStream::new().expect_throw("a stream"))
    }

    pub fn into_raw(self) -> web_sys::ReadableStream {
        self.0
    }

    pub fn into_stream(self) -> Empty<Result<JsValue, JsValue>> {
        empty()
    }
}
