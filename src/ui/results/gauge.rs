//! A number with its name and unit.

use leptos::prelude::*;

use super::reading::Reading;
use crate::config::Metric;
use crate::serving::measured::{Deviation, print};
use crate::serving::report::Headline;
use crate::study::Topic;
use crate::ui::state::State;
use crate::units::{Printed, decimal};

/// A headline number. Without a reading it shows a dash and keeps its place.
#[component]
pub fn Gauge(
    id: &'static str,
    name: &'static str,
    help: &'static str,
    read: fn(&Headline) -> Reading,
) -> impl IntoView {
    let state = State::get();
    let reading = move || state.of_answer(|answer| answer.report.headline.as_ref().and_then(read));
    let show = move |part: fn((f64, Printed)) -> String| move || reading().map(part).unwrap_or_default();
    let number = move || reading().map_or("–".into(), |(_, printed)| printed.number);
    let deviation = move || {
        let metric = Metric::from_id(id)?;
        let (predicted, _) = reading()?;
        let deviation =
            state.form.with(|form| Deviation::of(&form.scenario().measured, metric, predicted))?;
        Some(format!("{} measured, {}", print(metric, deviation.measured), deviation.difference()))
    };
    view! {
        <div class="gauge">
            <dt title=help>
                <button type="button" class="why" on:click=move |_| state.show(Some(Topic::Explain), explains(id))>{name}</button>
            </dt>
            <dd data-testid=id data-value=show(|(value, _)| decimal(value))>
                <span class="figure">{number}</span>" "
                <span class="unit">{show(|(_, printed)| printed.unit.to_string())}</span>
            </dd>
            // Empty, it takes no room.
            <dd class="measured" data-measured=id>{move || deviation().unwrap_or_default()}</dd>
        </div>
    }
}

/// The fold that explains a number.
fn explains(id: &'static str) -> &'static str {
    match id {
        "ttft" | "tpot" | "e2e" | "cost" => id,
        _ => "throughput",
    }
}
