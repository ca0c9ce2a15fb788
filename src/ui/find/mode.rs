//! Switches between evaluating one configuration and finding plans.

use leptos::prelude::*;

use crate::ui::radio::{radio, segments};
use crate::ui::state::{State, frame};

/// Absent in a frame, which shows one configuration.
#[component]
pub fn Mode() -> impl IntoView {
    let state = State::get();
    let option = |(id, text, finds): (&str, &str, bool)| {
        radio("mode", id.into(), text, move || state.finding.get() == finds, move || state.seek(finds))
    };
    let options = [("mode-evaluate", "Evaluate", false), ("mode-find", "Find", true)].map(option);
    frame::view().is_none().then_some(segments("", "Mode", options.into()))
}
