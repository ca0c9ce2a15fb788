//! Charts on canvases of the page, sharp at any pixel ratio, whose points are read out to pointer and keyboard.

pub mod element;
mod tools;

use std::cell::RefCell;

use gloo::events::{EventListener, EventListenerOptions};
use plotters::drawing::IntoDrawingArea;
use plotters_canvas::CanvasBackend;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlCanvasElement, KeyboardEvent, MouseEvent, window};

use crate::chart::reading::{draw_reading, nearest};
use crate::chart::{Chart, Palette, Theme, draw};
use element::{new, with};

/// How far from a point a pointer still means it, in CSS pixels.
const REACH: f64 = 60.0;

/// A canvas with its chart.
struct Painted {
    canvas: HtmlCanvasElement,
    chart: Chart,
    dark: bool,
    /// What the legend leaves out, and the chart without it.
    hidden: Vec<String>,
    shown: Chart,
    /// The point that is read out.
    read: Option<usize>,
    /// Says it to those who do not see it.
    voice: Element,
    tools: Element,
    _listeners: [EventListener; 5],
}

thread_local! {
    static PAINTED: RefCell<Vec<Painted>> = const { RefCell::new(Vec::new()) };
}

/// Draws `chart`, where the canvas has room: a hidden one has none.
pub fn paint(canvas: &HtmlCanvasElement, chart: Chart, dark: bool) {
    if canvas.client_width() == 0 {
        return;
    }
    PAINTED.with_borrow_mut(|all| {
        all.retain(|painted| painted.canvas.is_connected());
        match all.iter_mut().find(|painted| painted.canvas == *canvas) {
            Some(painted) => {
                // Another chart has other points.
                if painted.chart != chart {
                    painted.read = None;
                }
                (painted.chart, painted.dark) = (chart, dark);
                painted.renew();
            }
            None => {
                let _ = canvas.set_attribute("tabindex", "0");
                let voice = with(new("span", "unseen"), &[("aria-live", "polite")]);
                let tools = tools::beside(canvas);
                // A canvas that has left the page meanwhile is drawn all the same.
                let _ = canvas.after_with_node_2(&voice, &tools);
                let listeners = listen(canvas, &tools);
                let (hidden, shown) = (Vec::new(), Chart::default());
                let mut painted = Painted {
                    canvas: canvas.clone(),
                    chart,
                    dark,
                    hidden,
                    shown,
                    read: None,
                    voice,
                    tools,
                    _listeners: listeners,
                };
                painted.renew();
                all.push(painted);
            }
        }
    });
    let _ = canvas.set_attribute("data-drawn", "");
}

fn listen(canvas: &HtmlCanvasElement, tools: &Element) -> [EventListener; 5] {
    let on = |to: &Element, event: &'static str, act: fn(&mut Painted, &Event)| {
        let own = canvas.clone();
        // Keys that move along the points do not scroll the page as well.
        let options = EventListenerOptions::enable_prevent_default();
        EventListener::new_with_options(to, event, options, move |event| {
            PAINTED.with_borrow_mut(|all| {
                if let Some(painted) = all.iter_mut().find(|painted| painted.canvas == own) {
                    act(painted, event);
                }
            });
        })
    };
    [
        on(canvas, "pointermove", Painted::point),
        on(canvas, "pointerleave", |painted, _| painted.read_out(None)),
        on(canvas, "keydown", Painted::key),
        on(canvas, "blur", |painted, _| painted.read_out(None)),
        on(tools, "click", Painted::tool),
    ]
}

impl Painted {
    fn ratio() -> f64 {
        window().map_or(1.0, |window| window.device_pixel_ratio())
    }

    fn theme(&self) -> Theme {
        let theme = Theme::new(Palette::of(self.dark), Self::ratio());
        if self.chart.legend().is_empty() { theme } else { theme.without_key() }
    }

    /// Of the backing store.
    fn size(&self) -> (u32, u32) {
        let size = |css: i32| (f64::from(css) * Self::ratio()).round().max(1.0) as u32;
        (size(self.canvas.client_width()), size(self.canvas.client_height()))
    }

    /// Draws what the legend leaves of the chart.
    fn renew(&mut self) {
        let keys = self.chart.legend();
        self.hidden.retain(|hidden| keys.iter().any(|key| key.name == *hidden));
        self.shown = self.chart.clone().without(&self.hidden);
        tools::legend(&self.tools, &keys, &self.hidden);
        self.draw();
    }

    /// As it is seen, with what is read out.
    fn draw(&self) {
        self.draw_with(self.theme());
    }

    /// Sizes the backing store by the pixel ratio, and only where that changes, since setting it clears the canvas.
    fn draw_with(&self, theme: Theme) {
        let (width, height) = self.size();
        if self.canvas.width() != width || self.canvas.height() != height {
            self.canvas.set_width(width);
            self.canvas.set_height(height);
        }
        let Some(backend) = CanvasBackend::with_canvas_object(self.canvas.clone()) else { return };
        let area = backend.into_drawing_area();
        // A canvas that refuses to draw leaves its summary and the tables.
        let _ = draw(&area, &self.shown, theme);
        let readings = self.shown.readings((f64::from(width), f64::from(height)), theme);
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
        let readings = self.shown.readings((f64::from(width), f64::from(height)), self.theme());
        let at = [mouse.offset_x(), mouse.offset_y()].map(|css| f64::from(css) * Self::ratio());
        self.read_out(nearest(&readings, (at[0], at[1]), REACH * Self::ratio()));
    }

    /// Arrows go from point to point.
    fn key(&mut self, event: &Event) {
        let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
        let (width, height) = self.size();
        let readings = self.shown.readings((f64::from(width), f64::from(height)), self.theme());
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
        if let Some(reading) = readings.get(next) {
            self.voice.set_text_content(Some(&reading.text));
        }
    }
}
