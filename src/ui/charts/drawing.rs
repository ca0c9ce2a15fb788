//! A chart, its visible part, and its picture on a canvas.

use gloo::utils::{document, window};
use leptos::html::Canvas;
use leptos::prelude::*;
use plotters_canvas::CanvasBackend;
use wasm_bindgen::JsCast;
use web_sys::HtmlCanvasElement;

use crate::chart::caption::Caption;
use crate::chart::plot::within_frame;
use crate::chart::reading::{Reading, draw_reading, nearest};
use crate::chart::surface::Surface;
use crate::chart::{Chart, Palette, Theme, Zoom, draw};
use crate::ui::state::State;

/// The centre of a chart's frame, as shares of its width and height.
const CENTRE: (f64, f64) = (0.5, 0.5);
/// Backing-store pixels per CSS pixel of a saved picture, at least.
const SAVED_SCALE: f64 = 2.0;
/// Distance from a point within which the pointer selects it, in CSS pixels.
const REACH: f64 = 60.0;

#[derive(Clone, Copy)]
pub struct Drawing {
    canvas: NodeRef<Canvas>,
    pub chart: Signal<Option<Chart>>,
    /// Legend names that are switched off.
    pub hidden: RwSignal<Vec<String>>,
    /// The visible part.
    zoom: RwSignal<Zoom>,
    /// The chart without what is switched off.
    pub shown: Memo<Option<Chart>>,
    /// The point being read out.
    read: RwSignal<Option<usize>>,
    dark: Signal<bool>,
}

impl Drawing {
    pub fn new(canvas: NodeRef<Canvas>, chart: Signal<Option<Chart>>) -> Self {
        let hidden = RwSignal::new(Vec::new());
        let zoom = RwSignal::new(Zoom::default());
        let shown = Memo::new(move |_| Some(chart.get()?.without(&hidden.get()).zoomed(zoom.get())));
        let read = RwSignal::new(None);
        let drawing = Self { canvas, chart, hidden, zoom, shown, read, dark: State::get().dark };
        // Another chart has other points.
        Effect::new(move |_| {
            shown.track();
            drawing.read.set(None);
        });
        // Follows the row of a kernel under the pointer.
        let pointed = State::get().pointed;
        Effect::new(move |before: Option<bool>| {
            let is_kernel = pointed.with(|id| !id.is_empty());
            if is_kernel || before.unwrap_or_default() {
                let at = drawing
                    .readings()
                    .iter()
                    .position(|reading| pointed.with_untracked(|id| reading.id == *id));
                drawing.read_out(at.filter(|_| is_kernel));
            }
            is_kernel
        });
        drawing
    }

    /// The row id of the kernel being read out; `None` if it has no row.
    pub fn kernel(self) -> Option<String> {
        let read = self.read.get_untracked()?;
        self.readings().into_iter().nth(read).map(|reading| reading.id).filter(|id| !id.is_empty())
    }

    /// Subscribes to everything the picture depends on except the point being read out.
    pub fn track(self) {
        self.shown.track();
        self.dark.track();
    }

    /// If still in the page: animation frames come late.
    fn canvas(self) -> Option<HtmlCanvasElement> {
        self.canvas.try_get_untracked().flatten()
    }

    /// The theme for the screen, where the legend is next to the chart.
    fn theme(self) -> Theme {
        let theme = Theme::new(self.palette(), ratio());
        let keyed =
            self.chart.with_untracked(|chart| chart.as_ref().is_none_or(|chart| chart.legend().is_empty()));
        if keyed { theme } else { theme.without_key() }
    }

    pub fn palette(self) -> Palette {
        Palette::of(self.dark.get_untracked())
    }

    /// Size on screen, in CSS pixels.
    pub fn css_size(self) -> Option<(u32, u32)> {
        let canvas = self.canvas()?;
        Some((canvas.client_width().max(1) as u32, canvas.client_height().max(1) as u32))
    }

    /// `chart` as it is saved: sharp on any screen, with captions and its legend, which the page shows outside the canvas.
    pub fn picture(self, chart: &Chart, captions: &[&str]) -> Option<HtmlCanvasElement> {
        let (width, height) = self.css_size()?;
        let caption = Caption::new(captions, f64::from(width));
        let canvas = document().create_element("canvas").ok()?.dyn_into::<HtmlCanvasElement>().ok()?;
        let theme = Theme::new(self.palette(), ratio().max(SAVED_SCALE));
        canvas.set_width(theme.size(f64::from(width)) as u32);
        canvas.set_height(theme.size(f64::from(height) + caption.height()) as u32);
        let area = Surface::Canvas(CanvasBackend::with_canvas_object(canvas.clone())?).sheet();
        caption.draw(&area, chart, theme).ok().map(|()| canvas)
    }

    /// Draws with the point being read out. A hidden canvas has no size to draw on.
    pub fn draw(self) {
        // Animation frames come late: without its canvas, the chart is gone too.
        let Some(canvas) = self.canvas() else { return };
        let Some(chart) = self.shown.get_untracked() else { return };
        let theme = self.theme();
        if canvas.client_width() == 0 {
            return;
        }
        let (width, height) = size(&canvas);
        // Only if it changes, since setting it clears the canvas.
        if (canvas.width(), canvas.height()) != (width, height) {
            canvas.set_width(width);
            canvas.set_height(height);
        }
        let Some(backend) = CanvasBackend::with_canvas_object(canvas.clone()) else { return };
        let area = Surface::Canvas(backend).sheet();
        // If a canvas refuses to draw, its summary and the tables remain.
        let _ = draw(&area, &chart, theme);
        let read = self.read.get_untracked();
        if let Some(reading) = read.and_then(|index| self.readings().into_iter().nth(index)) {
            let _ = draw_reading(&area, &reading, theme);
        }
        let _ = canvas.set_attribute("data-drawn", "");
    }

    fn readings(self) -> Vec<Reading> {
        let (Some(canvas), Some(chart)) = (self.canvas(), self.shown.get_untracked()) else {
            return Vec::new();
        };
        let (width, height) = size(&canvas);
        chart.readings((f64::from(width), f64::from(height)), self.theme())
    }

    pub fn read_out(self, index: Option<usize>) {
        if self.read.get_untracked() != index {
            self.read.set(index);
            self.draw();
        }
    }

    /// Reads out the point near a position in CSS pixels.
    pub fn point(self, x: f64, y: f64) {
        let ratio = ratio();
        self.read_out(nearest(&self.readings(), (x * ratio, y * ratio), REACH * ratio));
    }

    /// Whether the chart can be zoomed.
    pub fn zooms(self) -> bool {
        self.chart.with(|chart| matches!(chart, Some(Chart::Roofline(_))))
    }

    pub fn is_zoomed(self) -> bool {
        !self.zoom.get().shows_all()
    }

    /// Zooms by `factor` around the centre; 0 shows everything.
    pub fn zoom(self, factor: f64) {
        self.zoom.update(|zoom| *zoom = if factor > 0.0 { zoom.by(factor, CENTRE) } else { Zoom::default() });
    }

    /// Zooms by `factor` around a position in CSS pixels.
    pub fn zoom_at(self, factor: f64, at: (f64, f64)) {
        let at = self.within_frame(at);
        self.zoom.update(|zoom| *zoom = zoom.by(factor, at));
    }

    /// Moves what was at `from` to `to`, in CSS pixels.
    pub fn drag(self, from: (f64, f64), to: (f64, f64)) {
        let (from, to) = (self.within_frame(from), self.within_frame(to));
        self.zoom.update(|zoom| *zoom = zoom.moved((from.0 - to.0, from.1 - to.1)));
    }

    fn within_frame(self, at: (f64, f64)) -> (f64, f64) {
        let Some(canvas) = self.canvas() else { return CENTRE };
        within_frame(at, (f64::from(canvas.client_width()), f64::from(canvas.client_height())))
    }

    /// Arrow keys move between points; returns the text of the point reached, or `None` for other keys.
    pub fn step(self, key: &str) -> Option<String> {
        let readings = self.readings();
        let last = readings.len().checked_sub(1)?;
        let read = self.read.get_untracked();
        let next = match key {
            "ArrowRight" | "ArrowDown" => read.map_or(0, |at| (at + 1).min(last)),
            "ArrowLeft" | "ArrowUp" => read.map_or(last, |at| at.saturating_sub(1)),
            "Home" => 0,
            "End" => last,
            "Escape" => {
                self.read_out(None);
                return None;
            }
            _ => return None,
        };
        self.read_out(Some(next));
        Some(readings.get(next)?.text.clone())
    }
}

fn ratio() -> f64 {
    window().device_pixel_ratio()
}

/// Size of the backing store.
fn size(canvas: &HtmlCanvasElement) -> (u32, u32) {
    let size = |css: i32| (f64::from(css) * ratio()).round().max(1.0) as u32;
    (size(canvas.client_width()), size(canvas.client_height()))
}
