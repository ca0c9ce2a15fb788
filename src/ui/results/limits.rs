//! What holds each phase back.

use leptos::prelude::*;

use super::roofline::phase_mark;
use crate::graph::Phase;
use crate::serving::report::PassReport;
use crate::ui::state::State;
use crate::ui::words;
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

#[component]
fn Limit(phase: Phase, id: &'static str) -> impl IntoView {
    let state = State::get();
    let pass = Memo::new(move |_| {
        state.answer.with(|answer| {
            answer
                .as_ref()
                .and_then(|answer| answer.report.passes.iter().find(|pass| pass.phase == phase).cloned())
        })
    });
    let sentence =
        move || pass.with(|pass| pass.as_ref().map_or("–".to_string(), |pass| pass.sentence.clone()));
    let facts = move || {
        pass.with(|pass| facts(pass.as_ref()))
            .into_iter()
            .map(|(name, value, help)| {
                view! { <div><dt title=help>{name}</dt><dd>{value}</dd></div> }
            })
            .collect_view()
    };
    view! {
        <section class="panel limit">
            <h2>{phase_mark(phase)}{words::phase(phase)}</h2>
            <p data-testid=id>{sentence}</p>
            <dl class="facts">{facts}</dl>
        </section>
    }
}

/// Name, value, meaning; dashes before the first answer, so that nothing moves when it comes.
fn facts(pass: Option<&PassReport>) -> [(&'static str, String, &'static str); 5] {
    let show = |value: fn(&PassReport) -> String| pass.map_or("–".to_string(), value);
    [
        ("step", show(|pass| pass.time.print().to_string()), "Time of one step of the engine"),
        ("tokens", show(|pass| count(pass.tokens as f64)), "Tokens the step processes"),
        ("sequences", show(|pass| count(pass.sequences as f64)), "Sequences in the step"),
        (
            "MFU",
            show(|pass| percent(pass.mfu).to_string()),
            "FLOPs used against the dense peak of the format used",
        ),
        (
            "MBU",
            show(|pass| percent(pass.mbu).to_string()),
            "Weight and KV bytes touched, over step time and peak bandwidth",
        ),
    ]
}
