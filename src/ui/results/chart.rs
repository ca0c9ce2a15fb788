//! A chart on its canvas.

use std::cell::Cell;
use std::rc::Rc;

use gloo::utils::window;
use leptos::html::Canvas;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{HtmlCanvasElement, ResizeObserver};

use crate::chart::Chart;
use crate::ui::canvas::paint;
use crate::ui::state::State;

/// `words` say what the chart shows.
#[component]
pub fn ChartView(
    #[prop(into)] id: String,
    #[prop(into)] label: String,
    #[prop(into)] chart: Signal<Option<Chart>>,
    #[prop(into)] words: Signal<String>,
) -> impl IntoView {
    let state = State::get();
    let canvas = NodeRef::<Canvas>::new();
    let resized = RwSignal::new(());
    Effect::new(move |_| {
        if let Some(canvas) = canvas.get() {
            observe(&canvas, resized);
        }
    });
    let waiting = Rc::new(Cell::new(false));
    Effect::new(move |_| {
        resized.track();
        chart.track();
        state.dark.track();
        redraw_next_frame(&waiting, move || {
            let dark = state.dark.get_untracked();
            if let Some(canvas) = canvas.get_untracked() {
                if let Some(chart) = chart.get_untracked() {
                    paint(&canvas, chart, dark);
                }
            }
        });
    });
    let summary_id = format!("{id}-summary");
    view! {
        <canvas node_ref=canvas data-testid=id role="img" aria-describedby=summary_id.clone() aria-label=label></canvas>
        <p class="summary" id=summary_id.clone() data-testid=summary_id>{words}</p>
    }
}

/// Tells of changes of the canvas's size and of the pixel ratio (zoom changes both).
fn observe(canvas: &HtmlCanvasElement, resized: RwSignal<()>) {
    let changed = Closure::<dyn FnMut()>::new(move || {
        resized.try_set(());
    });
    if let Ok(observer) = ResizeObserver::new(changed.as_ref().unchecked_ref()) {
        observer.observe(canvas);
    }
    // Page and chart end together.
    changed.forget();
}

/// At most one redraw a frame, however many changes there are.
fn redraw_next_frame(waiting: &Rc<Cell<bool>>, redraw: impl FnOnce() + 'static) {
    if waiting.replace(true) {
        return;
    }
    let waiting = waiting.clone();
    let frame = Closure::once_into_js(move || {
        waiting.set(false);
        redraw();
    });
    let _ = window().request_animation_frame(frame.unchecked_ref());
}
