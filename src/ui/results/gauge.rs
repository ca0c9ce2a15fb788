//! A number with its name and unit.

use leptos::prelude::*;

use crate::study::Topic;
use crate::study::panel::Panel;
use crate::ui::parts::term;
use crate::ui::state::State;
use crate::units::decimal;
use crate::worker::protocol::Reading;

/// A headline number. Without a reading it shows a dash and keeps its place.
#[component]
pub fn Gauge(
    id: &'static str,
    name: &'static str,
    help: &'static str,
    /// The name in plain words, for phones.
    #[prop(optional)]
    plain: &'static str,
    /// Whether its percentiles have their own line.
    #[prop(optional)]
    spread: bool,
) -> impl IntoView {
    let state = State::get();
    let reading = Memo::new(move |_| state.reading(id));
    let show = move |part: fn(&Reading) -> String| {
        move || reading.with(|reading| reading.as_ref().map(part)).unwrap_or_default()
    };
    let number = move || reading.with(|one| one.as_ref().map_or("–".into(), |one| one.number.clone()));
    let spread = spread.then(|| {
        // On phones only the P99.
        let more = show(|reading| reading.spread.split_once("P99").unwrap_or_default().0.to_owned());
        let last = show(|reading| {
            reading.spread.find("P99").map_or(&*reading.spread, |at| &reading.spread[at..]).to_owned()
        });
        view! { <dd class="spread" data-spread=id><span class="more">{more}</span>{last}</dd> }
    });
    let band = spread.is_some().then(|| {
        let between = show(|reading| reading.band.clone());
        view! { <dd class="band" data-band=id title="80 % of measurements are expected in this range">{between}</dd> }
    });
    let plain = (!plain.is_empty()).then(|| term(plain.into(), help.into()));
    view! {
        <div class="gauge">
            <dt>{term(name.into(), help.into())}<span class="plain">{plain}</span>" "{show(|reading| reading.of.clone())}</dt>
            <dd data-testid=id data-value=show(|reading| decimal(reading.value))>
                <button
                    type="button" class="why" data-testid=format!("explain-{id}") disabled=explains(id).is_empty()
                    title=(!explains(id).is_empty()).then_some("Formula and values")
                    on:click=move |_| state.show(Panel::Study(Topic::Explain), explains(id))
                >
                    <span class="figure">{number}</span>" "
                    <span class="unit">{show(|reading| reading.unit.clone())}</span>
                </button>
            </dd>
            {band}
            {spread}
            // Takes no space if empty.
            <dd class="measured" data-measured=id>{show(|reading| reading.measured.clone())}</dd>
        </div>
    }
}

/// The fold that explains a number; none for those that only the simulated run gives.
fn explains(id: &'static str) -> &'static str {
    match id {
        "ttft" | "tpot" | "e2e" | "cost" => id,
        "per-user" => "tpot",
        "power" | "energy" | "running" | "waiting" => "",
        _ => "throughput",
    }
}
