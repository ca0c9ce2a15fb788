//! A measurement of one's own, to be set beside the prediction.

use leptos::prelude::*;

use super::own_text::Own;
use crate::config::Field;
use crate::ui::state::State;

pub static MEASURED: Own = Own {
    id: "measured",
    field: Field::Measured,
    summary: "Your measurement",
    hint: "What vllm bench serve, or another benchmark, printed or saved as JSON. It stays in your browser and in the link.",
    take: "Compare with it",
    accept: ".txt,.log,.json,.jsonl,text/plain,application/json",
    // With every request and its tokens.
    longest: 50e6,
    too_long: "this file is too large for the report of a benchmark",
    held: said,
    holds: ["measured-held", "measured-remove"],
    end: State::end_measured,
};

fn said(state: State) -> String {
    let none = state.form.with(|form| form.scenario().measured.is_empty());
    if none { String::new() } else { "A measurement stands beside the prediction.".into() }
}
