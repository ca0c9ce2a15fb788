//! The page inside another page. `static/boot/embed.js` arranges it and talks with the page around; here is what it cannot
//! do from outside.

use gloo::utils::{document, window};
use js_sys::{Array, Float64Array};
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::{CustomEvent, CustomEventInit};

use super::{Form, State};
use crate::serving::Report;
use crate::serving::report::Basis;

/// The view that the page around asks for; none if the page stands alone.
pub fn view() -> Option<String> {
    document().document_element()?.get_attribute("data-view")
}

/// Whether the panel named so is looked at: what only others show need not be worked out.
pub fn shows(panel: &str) -> bool {
    view().is_none_or(|view| view == panel || view == "full")
}

/// Tells of every change of the form, and of every answer to it, by an event of the window.
///
/// Its detail is an array: the link; whether an input must be mended; then, where there is an answer, the
/// release of the models (empty: the roofline) and [`numbers`].
pub fn tell(state: State) {
    if view().is_none() {
        return;
    }
    Effect::new(move |_| {
        let detail = Array::of2(&state.form.with(Form::link).into(), &state.has_errors().into());
        if !state.stale.get() {
            state.answer.with(|answer| {
                if let Some(answer) = answer {
                    detail.push(&release(&answer.report));
                    detail.push(&Float64Array::from(&numbers(&answer.report)[..]));
                }
            });
        }
        let init = CustomEventInit::new();
        init.set_detail(&detail);
        if let Ok(event) = CustomEvent::new_with_event_init_dict("rooflight:answer", &init) {
            let _ = window().dispatch_event(&event);
        }
    });
}

fn release(report: &Report) -> JsValue {
    match &report.basis {
        Basis::Roofline => "".into(),
        Basis::Learned { release } => release.into(),
    }
}

/// Whether it fits, then the headline in the order of `NUMBERS` in `static/boot/embed.js`; not a number where there is none.
fn numbers(report: &Report) -> [f64; 12] {
    let mut numbers = [f64::NAN; 12];
    numbers[0] = f64::from(u8::from(!report.passes.is_empty()));
    if let Some(headline) = &report.headline {
        let or_none = |number: Option<f64>| number.unwrap_or(f64::NAN);
        numbers[1..].copy_from_slice(&[
            headline.ttft.0,
            or_none(headline.tpot.map(|time| time.0)),
            headline.e2e.0,
            headline.requests_per_s,
            headline.output_per_s,
            headline.total_per_s,
            headline.output_per_s_per_gpu,
            or_none(headline.output_per_s_per_user),
            headline.running,
            headline.waiting,
            or_none(headline.dollars_per_million.map(|dollars| dollars.0)),
        ]);
    }
    numbers
}
