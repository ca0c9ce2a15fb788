//! Time of a decode step and a prefill step by resource, as one bar each.

use leptos::prelude::*;

use crate::graph::Phase;
use crate::study::Topic;
use crate::study::panel::Panel;
use crate::ui::state::State;
use crate::units::fixed;
use crate::worker::protocol::{Part, Pass};

/// Class and name of each resource, in bar order.
const KEY: [(&str, &str); 4] = [
    ("resource-compute", "compute"),
    ("resource-memory", "memory"),
    ("resource-links", "links"),
    ("resource-host", "launch and host"),
];

#[component]
pub fn TimesView() -> impl IntoView {
    let state = State::get();
    // Before the first answer its place is kept.
    let nothing = move || state.of_answer(|answer| Some(answer.passes.is_empty())) == Some(true);
    let bars = move || {
        [Phase::Decode, Phase::Prefill]
            .map(|phase| state.of_pass(phase, |pass| Some(bar(phase, pass))))
            .into_iter()
            .collect_view()
    };
    let key = KEY.map(|(class, name)| {
        view! { <span><i class=format!("swatch {class}") aria-hidden="true"></i>{name}</span> }.into_any()
    });
    view! {
        <section class="panel times" aria-label="Time of a step by resource" prop:hidden=nothing>
            {bars}
            <p class="key">
                <span>"Before calibration:"</span>
                {Vec::from(key)}
                <button type="button" class="why" on:click=move |_| state.show(Panel::Study(Topic::Breakdown), "")>
                    "By part and kernel"
                </button>
            </p>
        </section>
    }
}

fn bar(phase: Phase, pass: &Pass) -> AnyView {
    let name = phase.name();
    let shares: Vec<String> = pass.times.iter().map(|part| format!("{} {}", part.name, part.size)).collect();
    let parts: Vec<AnyView> = pass.times.iter().map(segment).collect();
    view! {
        <div class="time">
            <span class="name">{name}</span>
            <span class="step">{pass.facts.first().cloned()}</span>
            <div class="bar" role="img" data-testid=format!("time-{}", phase.id()) aria-label=format!("{name} step by resource: {}", shares.join(", "))>
                {parts}
            </div>
        </div>
    }
    .into_any()
}

/// Share and name, as far as there is room for whole ones (`results.css`).
fn segment(Part { class, name, size, width }: &Part) -> AnyView {
    let text = format!("{size} {}", name.replace(' ', "\u{a0}"));
    view! { <span class=class.clone() style:width=fixed(*width, 2) + "%">{text}</span> }.into_any()
}
