//! Lengths and load.

use leptos::prelude::*;

use super::issues::Issues;
use super::measured::MEASURED;
use super::own_text::OwnText;
use super::quantity::QuantityInput;
use super::trace::TRACE;
use crate::config::{Field, Lengths, Load, Scenario};
use crate::serving::report::Headline;
use crate::ui::state::State;
use crate::ui::state::quantity::{
    ACCEPTED, BATCH, BURSTINESS, CACHED_SHARE, CONCURRENCY, DRAFTED, ISL, LOG_SPREAD, OSL, Quantity, RATE,
    SLO_TPOT, SLO_TTFT, SPREAD, round,
};
use crate::units::significant;

#[component]
pub fn Workload() -> impl IntoView {
    let state = State::get();
    // A memo, so that the box below is not rebuilt while one types into it.
    let kind = Memo::new(move |_| state.form.with(|form| Kind::of(form.scenario().workload.load)));
    let size = move || {
        let kind = kind.get();
        let shape = (kind == Kind::Rate).then(|| view! { <QuantityInput quantity=&BURSTINESS /> });
        view! { <QuantityInput quantity=kind.quantity() />{shape} }.into_any()
    };
    let kinds = Kind::ALL.map(|one| view! { <LoadKind kind=one /> });
    view! {
        <fieldset class="group">
            <legend>"Workload"</legend>
            <QuantityInput quantity=&ISL />
            <p class="sum">{move || state.form.with(|form| mixed(form.scenario()))}</p>
            <QuantityInput quantity=&OSL />
            <Issues fields=&[Field::Histogram] />
            <QuantityInput quantity=&SPREAD />
            <QuantityInput quantity=&LOG_SPREAD />
            <div class="choice" role="radiogroup" aria-labelledby="load-label">
                <span class="label" id="load-label">"Load"</span>
                <span class="segments">{Vec::from(kinds)}</span>
            </div>
            <Issues fields=&[Field::Load] />
            {size}
            <QuantityInput quantity=&CACHED_SHARE />
            <QuantityInput quantity=&DRAFTED />
            <QuantityInput quantity=&ACCEPTED />
            <QuantityInput quantity=&SLO_TTFT />
            <QuantityInput quantity=&SLO_TPOT />
            <OwnText own=&TRACE />
            <OwnText own=&MEASURED />
        </fieldset>
    }
}

/// How requests come, without how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Clients,
    Rate,
    Batch,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Clients, Self::Rate, Self::Batch];

    fn of(load: Load) -> Self {
        match load {
            Load::Concurrency(_) => Self::Clients,
            Load::Rate(_) => Self::Rate,
            Load::Batch(_) => Self::Batch,
        }
    }

    /// The id of its control, and its name.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Clients => ("load-concurrency", "Clients"),
            Self::Rate => ("load-rate", "Rate"),
            Self::Batch => ("load-batch", "One batch"),
        }
    }

    fn quantity(self) -> &'static Quantity {
        match self {
            Self::Clients => &CONCURRENCY,
            Self::Rate => &RATE,
            Self::Batch => &BATCH,
        }
    }

    /// A load of this kind like the one shown: as many requests at once, or as many a second.
    fn like(self, load: Load, shown: Option<&Headline>) -> Load {
        let at_once = match load {
            Load::Concurrency(size) | Load::Batch(size) => size,
            Load::Rate(_) => shown.map_or(16, |headline| headline.running.round().max(1.0) as u32),
        };
        match self {
            Self::Clients => Load::Concurrency(at_once),
            Self::Batch => Load::Batch(at_once),
            // Two digits are as much as one would type.
            Self::Rate => {
                let rate = shown.map_or(1.0, |headline| headline.requests_per_s);
                Load::Rate(round(significant(rate, 2)).max(0.01))
            }
        }
    }
}

/// A measured batch has a length for each prompt, a histogram many: the box shows their mean.
fn mixed(scenario: &Scenario) -> String {
    let bins = scenario.workload.histogram.len();
    match &scenario.workload.isl {
        _ if bins > 0 => format!("drawn from a histogram of {bins} lengths; these are their means"),
        Lengths::Each(lengths) => {
            format!("{} prompts of different lengths; this is their mean", lengths.len())
        }
        Lengths::Fixed(_) => String::new(),
    }
}

#[component]
fn LoadKind(kind: Kind) -> impl IntoView {
    let state = State::get();
    let (id, label) = kind.words();
    let choose = move |_| {
        let headline = state.of_answer(|answer| answer.report.headline.clone());
        state.choose(id, |form| {
            form.choose(Field::Load, |scenario| {
                scenario.workload.load = kind.like(scenario.workload.load, headline.as_ref());
            });
        });
    };
    let checked = move || state.form.with(|form| Kind::of(form.scenario().workload.load)) == kind;
    view! {
        <input type="radio" name="load" id=id data-testid=id prop:checked=checked on:change=choose />
        <label for=id>{label}</label>
    }
}
