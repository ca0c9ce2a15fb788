//! The kind of load.

use leptos::prelude::*;

use super::issues::Issues;
use crate::config::catalog::numbers::requests::constants;
use crate::config::inputs::Input;
use crate::config::{Field, Load, Workload};
use crate::study::words;
use crate::ui::parts::radio;
use crate::ui::parts::renewed;
use crate::ui::state::State;
use crate::units::significant;

#[component]
pub fn LoadKinds(input: &'static Input) -> impl IntoView {
    let state = State::get();
    // A day's rates replace any kind of load; a memo, so that the choice keeps its focus.
    let day = Memo::new(move |_| {
        state
            .form
            .with(|form| Some(form.hours()).filter(|hours| !hours.is_empty()).map(|hours| words::day(&hours)))
    });
    let chosen = StoredValue::new(None);
    let kinds = renewed(move || match day.get() {
        Some(day) => view! { <span data-testid="load-of-day">{day}" (daily load)"</span> }.into_any(),
        None => {
            let kinds = Load::KINDS.map(|of| kind(state, of, chosen));
            view! { <span class="segments">{Vec::from(kinds)}</span> }.into_any()
        }
    });
    let role = move || if day.with(Option::is_some) { "group" } else { "radiogroup" };
    view! {
        <div class="choice" role=role aria-labelledby="load-label">
            <span class="label" id="load-label" title=input.help>{input.label}</span>
            {kinds}
        </div>
        <Issues fields=&[Field::Load] />
    }
}

/// The radio button for loads of the kind of `of`. `chosen` holds the load that was last typed, and the one
/// that choosing kinds has made of it since: returning to its kind restores it.
fn kind(state: State, of: Load, chosen: StoredValue<Option<(Load, Load)>>) -> AnyView {
    let size = of.size();
    let label = if size == Field::Batch { "One static batch" } else { size.input().label };
    let choose = move || {
        let number = |id| state.reading(id).map(|reading| reading.value);
        let (rate, running) = (number("request-rate"), number("running"));
        state.choose(size.id(), |form| {
            form.choose(Field::Load, |scenario| {
                let now = scenario.workload.load;
                let typed = match chosen.get_value() {
                    Some((typed, made)) if made == now => typed,
                    _ => now,
                };
                let back = (typed.size() == size).then_some(typed);
                let running = running.map(|each| each * f64::from(scenario.replicas));
                let load = back.unwrap_or_else(|| like(&scenario.workload, of, rate, running));
                chosen.set_value(Some((typed, load)));
                scenario.workload.load = load;
            });
        });
    };
    let checked = move || state.form.with(|form| form.scenario().workload.load.size()) == size;
    radio("load", format!("load-{}", size.id()), label, checked, choose)
}

/// A load of the kind of `of`, similar to the answered `workload`: the same number in flight, or the same rate.
fn like(workload: &Workload, of: Load, per_s: Option<f64>, running: Option<f64>) -> Load {
    let per_s = per_s.unwrap_or(1.0);
    // Two digits are as many as one would type.
    let rate = |per_s: f64| significant(per_s, 2).max(0.01);
    let amount = match of {
        Load::Rate(_) | Load::ConstantRate(_) => rate(per_s),
        Load::SessionRate(_) => rate(per_s / f64::from(workload.turns.count.max(1))),
        Load::Burst(_) | Load::Offline(_) => constants().at_rate,
        Load::Concurrency(_) | Load::Sessions(_) | Load::Batch(_) => match workload.load {
            Load::Concurrency(at_once) | Load::Sessions(at_once) | Load::Batch(at_once) => f64::from(at_once),
            _ => running.map_or(16.0, |running| running.round().max(1.0)),
        },
    };
    of.with_amount(amount)
}
