//! The page inside another page. The scripts in `static/boot/embed/` arrange it and exchange messages; this is what
//! cannot be done from outside.

use gloo::utils::document;
use js_sys::{Array, Float64Array};
use leptos::prelude::*;

use super::{Form, State};
use crate::ui::parts::dispatch;
use crate::worker::protocol::Answer;

/// The view requested by the host page; `None` if not embedded.
pub fn view() -> Option<String> {
    document().document_element()?.get_attribute("data-view")
}

/// Whether the named panel is shown: content of others need not be computed.
pub fn shows(panel: &str) -> bool {
    view().is_none_or(|view| view == panel || view == "full")
}

/// Reports every change of the form, and every answer, by a window event.
///
/// Its detail is an array: the link; whether an input must be corrected; then, if there is an answer, the model
/// release (empty at the roofline) and [`numbers`].
pub fn tell(state: State) {
    if view().is_none() {
        return;
    }
    Effect::new(move |_| {
        let detail = Array::of2(&state.form.with(Form::link).into(), &state.has_errors().into());
        if !state.stale.get() {
            state.answer.with(|answer| {
                if let Some(shown) = answer {
                    detail.push(&shown.basis.release().unwrap_or_default().into());
                    detail.push(&Float64Array::from(&numbers(&shown.answer)[..]));
                }
            });
        }
        dispatch("rooflight:answer", &detail);
    });
}

/// The numbers in the order of `NUMBERS` in `static/boot/embed/messages.js`.
const NUMBERS: [&str; 11] = [
    "ttft",
    "tpot",
    "e2e",
    "request-rate",
    "throughput",
    "total",
    "per-gpu",
    "per-user",
    "running",
    "waiting",
    "cost",
];

/// Whether the configuration fits, then the headline; NaN if unknown.
fn numbers(answer: &Answer) -> Vec<f64> {
    let number =
        |id: &&str| answer.readings.iter().find(|one| one.id == **id).map_or(f64::NAN, |one| one.value);
    std::iter::once(f64::from(u8::from(answer.fits))).chain(NUMBERS.iter().map(number)).collect()
}
