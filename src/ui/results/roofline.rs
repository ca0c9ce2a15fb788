//! The roofline chart, with a summary in words.

use leptos::prelude::*;

use crate::graph::Phase;
use crate::ui::charts::ChartView;
use crate::ui::state::State;

#[component]
pub fn RooflineView() -> impl IntoView {
    let state = State::get();
    let chart = Memo::new(move |_| state.of_answer(|answer| answer.roofline.clone()));
    let words = move || state.of_answer(|answer| Some(answer.roofline_words.clone())).unwrap_or_default();
    view! {
        <section class="panel roofline" aria-label="Roofline">
            <header>
                <h2>"Roofline"</h2>
                <p class="key">
                    <span>"Area: share of the step's time"</span>
                    <span>"Stem: up to the ceiling of its tiles and waves"</span>
                </p>
            </header>
            <ChartView id="roofline" label="Roofline chart" chart=chart words=words />
        </section>
    }
}

/// A phase's mark in the chart.
pub fn phase_mark(phase: Phase) -> AnyView {
    let class = match phase {
        Phase::Prefill => "mark-prefill",
        Phase::Decode => "mark-decode",
    };
    view! { <i class=class aria-hidden="true"></i> }.into_any()
}
