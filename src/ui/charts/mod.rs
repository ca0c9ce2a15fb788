//! Charts on canvases, sharp at any pixel ratio, with points read out by pointer and keyboard.

mod drawing;
mod tools;

use leptos::ev::{KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};
use leptos::html::Canvas;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{HtmlCanvasElement, ResizeObserver};

use crate::chart::Chart;
use crate::ui::results::kernels;
use drawing::Drawing;
use tools::Tools;

/// A canvas, its tools and its summary; tests find it by `id`.
#[component]
pub fn ChartView(
    #[prop(into)] id: String,
    #[prop(into)] label: String,
    #[prop(into)] chart: Signal<Option<Chart>>,
    /// The chart's content in words.
    #[prop(into)]
    words: Signal<String>,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let drawing = Drawing::new(canvas, chart);
    let resized = RwSignal::new(());
    let watch = StoredValue::new_local(None);
    Effect::new(move |_| watch.set_value(canvas.get().and_then(|canvas| Watch::new(&canvas, resized))));
    let waiting = StoredValue::new(false);
    Effect::new(move |_| {
        resized.track();
        drawing.track();
        // At most once per frame, however many changes there are.
        if !waiting.get_value() {
            waiting.set_value(true);
            request_animation_frame(move || {
                waiting.try_set_value(false);
                drawing.draw();
            });
        }
    });
    // Announces what is read out to screen readers, unless the pointer asked.
    let voice = RwSignal::new(String::new());
    let place = |event: &MouseEvent| (f64::from(event.offset_x()), f64::from(event.offset_y()));
    // Where a press started or was dragged to, and whether it was dragged: a drag opens nothing.
    let pressed = StoredValue::new(None);
    let dragged = StoredValue::new(false);
    // The second finger of a pinch drags nothing.
    let press = move |event: PointerEvent| {
        dragged.set_value(!event.is_primary());
        pressed.set_value(Some(place(&event)).filter(|_| event.is_primary()));
    };
    let point = move |event: PointerEvent| {
        if !event.is_primary() {
            return;
        }
        let at = place(&event);
        match pressed.get_value().filter(|_| drawing.is_zoomed()) {
            Some(from) => {
                dragged.set_value(dragged.get_value() || from != at);
                pressed.set_value(Some(at));
                drawing.drag(from, at);
            }
            None => drawing.point(at.0, at.1),
        }
    };
    // A kernel's point leads to its row.
    let open = move || {
        if let Some(kernel) = drawing.kernel().filter(|_| !dragged.get_value()) {
            kernels::show(&kernel);
        }
    };
    let key = move |event: KeyboardEvent| {
        if event.key() == "Enter" {
            // The key would press the focused button.
            event.prevent_default();
            dragged.set_value(false);
            open();
        } else if let Some(factor) = zoomed(&event.key()).filter(|_| drawing.zooms() && !event.ctrl_key()) {
            drawing.zoom(factor);
        } else if let Some(by) = moved(&event).filter(|_| drawing.is_zoomed()) {
            event.prevent_default();
            drawing.drag((0.0, 0.0), by);
        } else if let Some(text) = drawing.step(&event.key()) {
            // Keys that move between points do not scroll the page.
            event.prevent_default();
            voice.set(text);
        }
    };
    // A trackpad reports a pinch as turning the wheel with Ctrl; `press.js` does the same for two fingers.
    let pinch = move |event: WheelEvent| {
        if event.ctrl_key() && drawing.zooms() {
            event.prevent_default();
            drawing.zoom_at((-event.delta_y() / PINCH).exp(), place(&event));
        }
    };
    let summary = format!(
        "{}-summary",
        if id.is_empty() { label.replace(' ', "-").to_ascii_lowercase() } else { id.clone() }
    );
    view! {
        <canvas
            node_ref=canvas role="img" tabindex="0" data-testid=id.clone() aria-label=label.clone()
            aria-describedby=summary.clone()
            data-zoomed=move || drawing.is_zoomed()
            on:pointerdown=press on:pointerup=move |_| pressed.set_value(None)
            on:pointermove=point on:wheel=pinch
            on:pointerleave=move |_| {
                pressed.set_value(None);
                drawing.read_out(None);
            }
            on:click=move |_| open() on:keydown=key on:blur=move |_| drawing.read_out(None)
        ></canvas>
        <span class="unseen" aria-live="polite">{voice}</span>
        <Tools drawing=drawing label=label id=id />
        <p class="summary" id=summary.clone() data-testid=summary>{words}</p>
    }
}

/// Zoom factor of one press of a button or key.
pub const ZOOM: f64 = 1.5;
/// Wheel delta that zooms by e.
const PINCH: f64 = 100.0;
/// Distance a key moves the chart, in CSS pixels.
const MOVED: f64 = 60.0;

/// The zoom factor of a key; 0 shows everything.
fn zoomed(key: &str) -> Option<f64> {
    match key {
        "+" | "=" => Some(ZOOM),
        "-" => Some(1.0 / ZOOM),
        "0" => Some(0.0),
        _ => None,
    }
}

/// Movement by arrow keys with Shift, opposite to the view.
fn moved(event: &KeyboardEvent) -> Option<(f64, f64)> {
    match event.key().as_str() {
        _ if !event.shift_key() => None,
        "ArrowRight" => Some((-MOVED, 0.0)),
        "ArrowLeft" => Some((MOVED, 0.0)),
        "ArrowUp" => Some((0.0, MOVED)),
        "ArrowDown" => Some((0.0, -MOVED)),
        _ => None,
    }
}

/// Reports changes of the canvas's size and the pixel ratio (zooming the page changes both) while it lives.
struct Watch {
    observer: ResizeObserver,
    _changed: Closure<dyn FnMut()>,
}

impl Watch {
    fn new(canvas: &HtmlCanvasElement, resized: RwSignal<()>) -> Option<Self> {
        let changed = Closure::<dyn FnMut()>::new(move || {
            resized.try_set(());
        });
        let observer = ResizeObserver::new(changed.as_ref().unchecked_ref()).ok()?;
        observer.observe(canvas);
        Some(Self { observer, _changed: changed })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}
