//! Charts: what to draw as pure geometry, and drawing that any `plotters` backend can take.
//!
//! The page makes a chart and its summary; drawing is a wasm module of its own (`canvas`), which the page does
//! not wait for. Tests draw SVG. Nothing here measures text through the backend (a browser answers that
//! with a forced layout); label boxes come from [`Theme::text_width`].

#[cfg(feature = "canvas")]
pub mod canvas;
#[cfg(feature = "chart")]
mod draw;
#[cfg(feature = "chart")]
mod labels;
mod roofline;
mod scale;
mod summary;
#[cfg(feature = "chart")]
mod theme;

#[cfg(feature = "chart")]
pub use draw::draw;
pub use roofline::{Point, Roof, Roofline};
pub use scale::LogScale;
pub use summary::summary;
#[cfg(feature = "chart")]
pub use theme::{Palette, Theme};
