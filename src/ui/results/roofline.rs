//! The roofline chart on its canvas, with a summary in words.

use std::cell::Cell;
use std::rc::Rc;

use gloo::utils::window;
use js_sys::Array;
use leptos::html::Canvas;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{CustomEvent, CustomEventInit, HtmlCanvasElement, ResizeObserver};

use crate::chart::{Roofline, summary};
use crate::config::json;
use crate::graph::Phase;
use crate::ui::erased::text;
use crate::ui::state::State;

#[component]
pub fn RooflineView() -> impl IntoView {
    let state = State::get();
    let chart =
        Memo::new(move |_| state.of_answer(|answer| Roofline::new(&answer.setup.gpu, &answer.report.passes)));
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
            if let (Some(canvas), Some(chart)) = (canvas.get_untracked(), chart.get_untracked()) {
                paint(&canvas, chart, dark);
            }
        });
    });
    let words = text(move || chart.with(|chart| chart.as_ref().map(summary)).unwrap_or_default());
    view! {
        <section class="panel roofline" aria-label="Roofline">
            <header>
                <h2>"Roofline"</h2>
                <p class="key">
                    <span>{phase_mark(Phase::Prefill)}"Prefill kernel"</span>
                    <span>{phase_mark(Phase::Decode)}"Decode kernel"</span>
                    <span>"Area: share of the step's time"</span>
                    <span>"Stem: up to the ceiling of its tiles and waves"</span>
                </p>
            </header>
            <canvas node_ref=canvas data-testid="roofline" role="img" aria-describedby="roofline-summary" aria-label="Roofline chart"></canvas>
            <p class="summary" id="roofline-summary" data-testid="roofline-summary">{words}</p>
        </section>
    }
}

/// The mark a phase has in the chart.
pub fn phase_mark(phase: Phase) -> AnyView {
    let class = match phase {
        Phase::Prefill => "mark-prefill",
        Phase::Decode => "mark-decode",
    };
    view! { <i class=class aria-hidden="true"></i> }.into_any()
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

/// Has the chart's module draw, which `static/boot/boot.js` loads and which hears of it by this event. Until it
/// is there, and where it cannot be loaded, the summary and the tables stand alone.
fn paint(canvas: &HtmlCanvasElement, mut chart: Roofline, dark: bool) {
    let chart = json::write(&mut chart);
    let init = CustomEventInit::new();
    init.set_bubbles(true);
    init.set_detail(&Array::of2(&chart.into(), &dark.into()));
    if let Ok(event) = CustomEvent::new_with_event_init_dict("rooflight:chart", &init) {
        let _ = canvas.dispatch_event(&event);
    }
}
