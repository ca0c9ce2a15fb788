//! A number with its name and unit.

use leptos::prelude::*;

use crate::units::Printed;

/// What a gauge shows: the unrounded value, and how it reads.
pub type Reading = Option<(f64, Printed)>;

/// A rate as read: a count and its unit.
pub fn rate(value: f64, unit: &'static str) -> Reading {
    Some((value, Printed { number: crate::units::count(value), unit }))
}

/// A definition-list entry. Without a reading it shows a dash and keeps its place.
#[component]
pub fn Gauge(
    id: &'static str,
    name: &'static str,
    help: &'static str,
    #[prop(into)] reading: Signal<Reading>,
) -> impl IntoView {
    let value = move || reading.with(|reading| reading.as_ref().map(|(value, _)| value.to_string()));
    let number =
        move || reading.with(|r| r.as_ref().map_or("–".to_string(), |(_, printed)| printed.number.clone()));
    let unit = move || reading.with(|reading| reading.as_ref().map(|(_, printed)| printed.unit));
    view! {
        <div class="gauge">
            <dt title=help>{name}</dt>
            <dd data-testid=id data-value=value>
                <span class="figure">{number}</span>" "<span class="unit">{unit}</span>
            </dd>
        </div>
    }
}
