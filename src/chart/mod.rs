//! Charts: what to draw as pure geometry, and drawing that any `plotters` backend can take.
//!
//! The page draws on a canvas, tests draw SVG. Nothing here measures text through the backend (a
//! browser answers that with a forced layout); label boxes come from [`theme::Theme::text_width`].

mod draw;
mod labels;
mod roofline;
mod scale;
mod summary;
mod theme;

pub use draw::draw;
pub use roofline::{Point, Roof, Roofline};
pub use scale::LogScale;
pub use summary::summary;
pub use theme::{Palette, Theme};
