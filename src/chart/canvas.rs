//! The chart's own wasm module: draws on a canvas of the page, sharp at any pixel ratio.

use plotters::drawing::IntoDrawingArea;
use plotters_canvas::CanvasBackend;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::HtmlCanvasElement;

use super::{Chart, Palette, Theme, draw};

/// Draws `chart`, a [`Chart`] as JSON. Sizes the backing store by the pixel ratio, and only where that
/// changes, since setting it clears the canvas.
#[wasm_bindgen]
pub fn paint(canvas: HtmlCanvasElement, chart: &str, dark: bool) {
    let Ok(chart) = Chart::from_json(chart) else { return };
    let ratio = web_sys::window().map_or(1.0, |window| window.device_pixel_ratio());
    let size = |css: i32| (f64::from(css) * ratio).round().max(1.0) as u32;
    let (width, height) = (size(canvas.client_width()), size(canvas.client_height()));
    if canvas.width() != width || canvas.height() != height {
        canvas.set_width(width);
        canvas.set_height(height);
    }
    let Some(backend) = CanvasBackend::with_canvas_object(canvas) else { return };
    let palette = if dark { Palette::DARK } else { Palette::LIGHT };
    // A canvas that refuses to draw leaves its summary and the tables.
    let _ = draw(&backend.into_drawing_area(), &chart, Theme::new(palette, ratio));
}
