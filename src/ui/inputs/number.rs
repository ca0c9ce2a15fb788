//! A number: a text box with a slider and issues.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::issues::{Issues, invalid, list_id};
use crate::config::LatencyMetric;
use crate::config::inputs::{Input, Number};
use crate::ui::state::State;

#[component]
pub fn NumberInput(input: &'static Input, number: &'static Number) -> impl IntoView {
    let state = State::get();
    let (field, id) = (input.field, input.field.id());
    let stops = StoredValue::new(number.stops.values());
    let default = move || state.form.with(|form| number.listed(form.scenario()));
    let value = move || state.form.with(|form| number.effective(form.scenario()));
    let position = move || value().map_or(0, |value| number.stops.nearest(value));
    let is_limit = LatencyMetric::of_limit(field).is_some();
    let none = if is_limit { "no limit" } else { "" };
    let print = move |value: Option<f64>| value.map_or(none.into(), |value| number.print(value));
    // No limit has no unit.
    let unit = move || match value() {
        None if is_limit => String::new(),
        value => of_one(number.unit, value),
    };
    let short_name = move || match value() {
        None if is_limit => none.into(),
        value => format!("{} {}", print(value), unit()),
    };
    let choose = move |index: usize| {
        if let Some(stop) = stops.with_value(|stops| stops.get(index).copied()) {
            state.choose(id, |form| form.set(field, stop));
        }
    };
    // The box handles arrow keys like a number field: one stop up or down.
    let step = move |event: KeyboardEvent| {
        let by = match event.key().as_str() {
            "ArrowUp" => 1,
            "ArrowDown" => -1,
            _ => return,
        };
        event.prevent_default();
        if let Some(value) = value() {
            choose(stops.with_value(|stops| stop_beside(stops, value, by)));
        }
    };
    let slide = move |event| {
        let value = event_target_value(&event);
        if let Ok(index) = value.parse() {
            choose(index);
        }
    };
    let last = stops.with_value(|stops| stops.len().saturating_sub(1));
    let range_id = format!("{id}-range");
    view! {
        <div class="quantity">
            <label for=id title=input.help>{input.label}</label>
            <input
                type="range" class="slider" id=range_id.clone() data-testid=range_id
                min="0" max=last step="1" aria-label=format!("{}, slider", input.label)
                aria-valuetext=short_name
                prop:value=move || position().to_string()
                on:input=slide
            />
            <span class="entry">
                <input
                    type="text" class="number" id=id data-testid=id autocomplete="off" spellcheck="false"
                    inputmode=if number.whole { "numeric" } else { "decimal" }
                    aria-describedby=list_id(field)
                    aria-invalid=move || invalid(state, field).to_string()
                    placeholder=move || print(default())
                    prop:value=move || state.form.with(|form| form.text(input))
                    on:input=move |event| state.type_text(input, event_target_value(&event))
                    on:change=move |_| state.form.update(|form| form.leave(input))
                    on:keydown=step
                />
                <label class="unit" for=id aria-hidden="true">{unit}</label>
            </span>
        </div>
        <Issues fields=std::slice::from_ref(&input.field) />
    }
}

/// `1 GPU`, `2 GPUs`; `1 ms` and `1 of prompts` stay as they are.
fn of_one(unit: &str, value: Option<f64>) -> String {
    if value != Some(1.0) || unit.chars().count() < 3 || unit.contains([' ', '/']) {
        return unit.into();
    }
    match unit.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => unit.strip_suffix('s').unwrap_or(unit).into(),
    }
}

/// The index of the first stop above (`by` 1) or below (`by` -1) `value`, or of the last stop in that direction.
fn stop_beside(stops: &[f64], value: f64, by: i32) -> usize {
    let last = stops.len().saturating_sub(1);
    if by > 0 {
        stops.iter().position(|stop| *stop > value).unwrap_or(last)
    } else {
        stops.iter().rposition(|stop| *stop < value).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{of_one, stop_beside};

    #[test]
    fn one_is_no_plural() {
        let units = ["copies", "GPUs", "ms", "requests/s", "of the GPUs"];
        assert_eq!(
            units.map(|unit| of_one(unit, Some(1.0))),
            ["copy", "GPU", "ms", "requests/s", "of the GPUs"]
        );
        assert_eq!(of_one("GPUs", Some(2.0)), "GPUs");
    }

    #[test]
    fn arrow_keys_go_to_the_next_stop() {
        let stops = [1.0, 2.0, 4.0];
        assert_eq!(stop_beside(&stops, 2.0, 1), 2);
        assert_eq!(stop_beside(&stops, 3.0, -1), 1);
        assert_eq!(stop_beside(&stops, 4.0, 1), 2);
        assert_eq!(stop_beside(&stops, 1.0, -1), 0);
    }
}
