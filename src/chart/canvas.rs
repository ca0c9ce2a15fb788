//! The chart's own wasm module: draws on canvases of the page, sharp at any pixel ratio, and reads out their points
//! to pointer and keyboard.

use std::cell::RefCell;

use plotters::drawing::IntoDrawingArea;
use plotters_canvas::CanvasBackend;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{Closure, wasm_bindgen};
use web_sys::{Element, Event, HtmlCanvasElement, KeyboardEvent, MouseEvent, window};

use super::reading::{draw_reading, nearest};
use super::{Chart, Palette, Theme, draw};

/// How far from a point a pointer still means it, in CSS pixels.
const REACH: f64 = 60.0;

/// A canvas with its chart.
struct Painted {
    canvas: HtmlCanvasElement,
    chart: Chart,
    dark: bool,
    /// The point that is read out.
    read: Option<usize>,
    /// Says it to those who do not see it.
    voice: Option<Element>,
    _listeners: Vec<Closure<dyn FnMut(Event)>>,
}

thread_local! {
    static PAINTED: RefCell<Vec<Painted>> = const { RefCell::new(Vec::new()) };
}

/// Draws `chart`, a [`Chart`] as JSON.
#[wasm_bindgen]
pub fn paint(canvas: HtmlCanvasElement, chart: &str, dark: bool) {
    let Ok(chart) = Chart::from_json(chart) else { return };
    PAINTED.with_borrow_mut(|all| {
        all.retain(|painted| painted.canvas.is_connected());
        match all.iter_mut().find(|painted| painted.canvas == canvas) {
            Some(painted) => {
                // Another chart has other points.
                if painted.chart != chart {
                    painted.read = None;
                }
                (painted.chart, painted.dark) = (chart, dark);
                painted.draw();
            }
            None => {
                let _ = canvas.set_attribute("tabindex", "0");
                let voice = voice(&canvas);
                let listeners = listen(&canvas);
                let painted = Painted { canvas, chart, dark, read: None, voice, _listeners: listeners };
                painted.draw();
                all.push(painted);
            }
        }
    });
}

/// Behind the canvas, heard and not seen.
fn voice(canvas: &HtmlCanvasElement) -> Option<Element> {
    let voice = window()?.document()?.create_element("span").ok()?;
    voice.set_class_name("unseen");
    let _ = voice.set_attribute("aria-live", "polite");
    canvas.after_with_node_1(&voice).ok()?;
    Some(voice)
}

fn listen(canvas: &HtmlCanvasElement) -> Vec<Closure<dyn FnMut(Event)>> {
    let on = |event: &str, act: fn(&mut Painted, &Event)| {
        let own = canvas.clone();
        let closure = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
            PAINTED.with_borrow_mut(|all| {
                if let Some(painted) = all.iter_mut().find(|painted| painted.canvas == own) {
                    act(painted, &event);
                }
            });
        });
        let _ = canvas.add_event_listener_with_callback(event, closure.as_ref().unchecked_ref());
        closure
    };
    vec![
        on("pointermove", Painted::point),
        on("pointerleave", |painted, _| painted.read_out(None)),
        on("keydown", Painted::key),
        on("blur", |painted, _| painted.read_out(None)),
    ]
}

impl Painted {
    fn ratio() -> f64 {
        window().map_or(1.0, |window| window.device_pixel_ratio())
    }

    fn theme(&self) -> Theme {
        let palette = if self.dark { Palette::DARK } else { Palette::LIGHT };
        Theme::new(palette, Self::ratio())
    }

    /// Of the backing store.
    fn size(&self) -> (u32, u32) {
        let size = |css: i32| (f64::from(css) * Self::ratio()).round().max(1.0) as u32;
        (size(self.canvas.client_width()), size(self.canvas.client_height()))
    }

    /// Sizes the backing store by the pixel ratio, and only where that changes, since setting it clears the canvas.
    fn draw(&self) {
        let (width, height) = self.size();
        if self.canvas.width() != width || self.canvas.height() != height {
            self.canvas.set_width(width);
            self.canvas.set_height(height);
        }
        let Some(backend) = CanvasBackend::with_canvas_object(self.canvas.clone()) else { return };
        let (area, theme) = (backend.into_drawing_area(), self.theme());
        // A canvas that refuses to draw leaves its summary and the tables.
        let _ = draw(&area, &self.chart, theme);
        let readings = self.chart.readings((f64::from(width), f64::from(height)), theme);
        if let Some(reading) = self.read.and_then(|index| readings.get(index)) {
            let _ = draw_reading(&area, reading, theme);
        }
    }

    fn read_out(&mut self, index: Option<usize>) {
        if self.read != index {
            self.read = index;
            self.draw();
        }
    }

    fn point(&mut self, event: &Event) {
        let Some(mouse) = event.dyn_ref::<MouseEvent>() else { return };
        let (width, height) = self.size();
        let readings = self.chart.readings((f64::from(width), f64::from(height)), self.theme());
        let at = [mouse.offset_x(), mouse.offset_y()].map(|css| f64::from(css) * Self::ratio());
        self.read_out(nearest(&readings, (at[0], at[1]), REACH * Self::ratio()));
    }

    /// Arrows go from point to point.
    fn key(&mut self, event: &Event) {
        let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
        let (width, height) = self.size();
        let readings = self.chart.readings((f64::from(width), f64::from(height)), self.theme());
        let Some(last) = readings.len().checked_sub(1) else { return };
        let next = match key.key().as_str() {
            "ArrowRight" | "ArrowDown" => self.read.map_or(0, |at| (at + 1).min(last)),
            "ArrowLeft" | "ArrowUp" => self.read.map_or(last, |at| at.saturating_sub(1)),
            "Home" => 0,
            "End" => last,
            "Escape" => return self.read_out(None),
            _ => return,
        };
        event.prevent_default();
        self.read_out(Some(next));
        if let (Some(voice), Some(reading)) = (&self.voice, readings.get(next)) {
            voice.set_text_content(Some(&reading.text));
        }
    }
}
