//! What limits each phase.

use leptos::prelude::*;

use super::roofline::phase_mark;
use crate::graph::Phase;
use crate::ui::parts::term;
use crate::ui::state::State;

#[component]
pub fn Limits() -> impl IntoView {
    view! {
        <div class="pair">
            <Limit phase=Phase::Prefill id="limit-prefill" />
            <Limit phase=Phase::Decode id="limit-decode" />
        </div>
    }
}

/// Names and meanings of a pass's facts, in order.
const FACTS: [(&str, &str); 5] = [
    ("uncalibrated step", "Time of one engine step before calibration"),
    ("tokens", "Tokens the step processes"),
    ("sequences", "Sequences in the step"),
    ("MFU", "FLOPs used against the dense peak of the format used"),
    ("MBU", "Weight and KV bytes touched, over step time and peak bandwidth"),
];

#[component]
fn Limit(phase: Phase, id: &'static str) -> impl IntoView {
    let state = State::get();
    // Dashes before the first answer, so that nothing moves when it arrives.
    let facts = FACTS.into_iter().enumerate().map(move |(index, (name, help))| {
        let fact = move || state.of_pass(phase, |pass| pass.facts.get(index).cloned()).unwrap_or("–".into());
        view! { <div><dt>{term(name.into(), help.into())}</dt><dd>{fact}</dd></div> }
    });
    let sentence = move || state.of_pass(phase, |pass| Some(pass.sentence.clone())).unwrap_or("–".into());
    view! {
        <section class="panel limit">
            <h2>{phase_mark(phase)}{phase.name()}</h2>
            <p data-testid=id>{sentence}</p>
            <dl class="facts">{facts.collect_view()}</dl>
        </section>
    }
}
