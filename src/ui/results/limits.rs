//! What holds each phase back.

use leptos::prelude::*;

use super::roofline::phase_mark;
use crate::graph::Phase;
use crate::serving::report::PassReport;
use crate::study::words;
use crate::ui::state::State;
use crate::units::{count, percent};

#[component]
pub fn Limits() -> impl IntoView {
    view! {
        <div class="pair">
            <Limit phase=Phase::Prefill id="limit-prefill" />
            <Limit phase=Phase::Decode id="limit-decode" />
        </div>
    }
}

/// Name, value, meaning.
type PassFact = (&'static str, fn(&PassReport) -> String, &'static str);

const FACTS: [PassFact; 5] = [
    ("step", |pass| pass.time.print().to_string(), "Time of one step of the engine"),
    ("tokens", |pass| count(pass.tokens as f64), "Tokens the step processes"),
    ("sequences", |pass| count(pass.sequences as f64), "Sequences in the step"),
    ("MFU", |pass| percent(pass.mfu).to_string(), "FLOPs used against the dense peak of the format used"),
    (
        "MBU",
        |pass| percent(pass.mbu).to_string(),
        "Weight and KV bytes touched, over step time and peak bandwidth",
    ),
];

#[component]
fn Limit(phase: Phase, id: &'static str) -> impl IntoView {
    let state = State::get();
    // Dashes before the first answer, so that nothing moves when it comes.
    let show = move |read: fn(&PassReport) -> String| {
        move || state.of_pass(phase, |pass| Some(read(pass))).unwrap_or("–".into())
    };
    let facts = FACTS.map(|(name, read, help)| {
        view! { <div><dt title=help>{name}</dt><dd>{show(read)}</dd></div> }
    });
    view! {
        <section class="panel limit">
            <h2>{phase_mark(phase)}{words::phase(phase)}</h2>
            <p data-testid=id>{show(|pass| pass.sentence.clone())}</p>
            <dl class="facts">{Vec::from(facts)}</dl>
        </section>
    }
}
