//! What a search may choose: GPUs and their number, budgets, engines, formats, degrees and settings.
//!
//! Dozens of boxes, rendered as one HTML text that reflects the search when created, with one listener for all.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlInputElement};

use super::issues::{issue_list, list_id};
use super::options;
use crate::config::catalog::{catalog, offered};
use crate::config::check::{KV_FORMATS, weight_formats};
use crate::config::link::Find;
use crate::config::{Dtype, Field, Issue, Scenario};
use crate::find::all;
use crate::ui::parts::renewed;
use crate::ui::state::State;
use crate::units::decimal;

const DEGREES: [Field; 4] = [Field::Tp, Field::Pp, Field::Dp, Field::Ep];
const SETTINGS: [Field; 5] =
    [Field::TokenBudget, Field::MaxSeqs, Field::MemoryShare, Field::Drafted, Field::Accepted];

/// Replaces the system controls in Find mode. Re-rendered for another model, or when a link or undo changes the
/// search.
pub fn varies() -> AnyView {
    let state = State::get();
    renewed(move || {
        state.renew.track();
        match state.finding.get() {
            true => controls(state),
            false => ().into_any(),
        }
    })
}

fn controls(state: State) -> AnyView {
    let (find, scenario) =
        state.form.with_untracked(|form| (form.find().cloned().unwrap_or_default(), form.scenario().clone()));
    let experts = scenario.has_experts();
    let degrees = DEGREES.into_iter().filter(|field| experts || !matches!(field, Field::Dp | Field::Ep));
    let of = |field| allowed(field, &find, &scenario);
    let apart = tick(Field::PrefillWorkers, &find, "", "all", "Try prefill and decode apart");
    let pools = row(Field::PrefillWorkers, &format!("<span class=segments>{apart}</span>"));
    let most = tick(Field::Most, &find, "", "yes", "Find the largest load");
    let capacity =
        row(Field::Most, &format!("<span class=segments>{most}</span>")) + &wish(Field::Day, &find);
    let parts: [(String, &'static [Field]); 9] = [
        (capacity, &[Field::Most, Field::Day]),
        (
            fold("vary-gpus", "GPUs: all, or those ticked", gpus(&find)),
            &[Field::Gpu, Field::Owned, Field::Prices],
        ),
        (wish(Field::BudgetGpus, &find), &[Field::BudgetGpus]),
        (wish(Field::BudgetDollars, &find), &[Field::BudgetDollars]),
        (of(Field::Engine), &[Field::Engine]),
        (of(Field::Weights), &[Field::Weights]),
        (of(Field::Kv), &[Field::Kv]),
        (
            pools + &wish(Field::PrefillGpu, &find),
            &[Field::PrefillWorkers, Field::PrefillGpu, Field::PrefillTp],
        ),
        (
            fold("vary-degrees", "Parallelism: any, or as ticked", degrees.map(of).collect())
                + &fold(
                    "vary-settings",
                    "Engine settings to try",
                    SETTINGS.map(|field| wish(field, &find)).concat(),
                ),
            &[Field::Tp, Field::Pp, Field::Dp, Field::Ep, Field::Vary],
        ),
    ];
    let part = |(html, fields): (String, &'static [Field])| {
        let found = move || fields.iter().flat_map(|field| state.issues_of(*field)).collect();
        let issues = issue_list(fields.first().map(|field| list_id(*field)).unwrap_or_default(), found);
        view! { <div inner_html=html></div>{issues} }.into_any()
    };
    let changed: Box<dyn Fn(Event)> = Box::new(move |event| changed(state, &event_target(&event)));
    let root = NodeRef::<Div>::new();
    Effect::new(move |_| {
        let issues = state.issues();
        root.get().iter().for_each(|root| mark(root, &issues));
    });
    view! { <div node_ref=root on:change=changed>{Vec::from(parts.map(part))}</div> }.into_any()
}

/// Marks the boxes that `issues` are about: those by GPU if its name is given.
fn mark(root: &Element, issues: &[Issue]) {
    let Ok(boxes) = root.query_selector_all("input[type=text][data-wish]") else { return };
    let boxes = (0..boxes.length()).filter_map(|index| boxes.item(index)?.dyn_into::<Element>().ok());
    for element in boxes {
        let data = |name: &str| element.get_attribute(name).unwrap_or_default();
        let (field, gpu) = (Field::from_id(&data("data-wish")), data("data-of"));
        let named = catalog().gpu(&gpu).map(|gpu| format!(" of {} ", gpu.name));
        let about = |issue: &Issue| {
            issue.is_error()
                && Some(issue.field) == field
                && named.as_ref().is_none_or(|name| issue.text.contains(name))
        };
        let invalid = issues.iter().any(about);
        let _ = element.set_attribute("aria-invalid", if invalid { "true" } else { "false" });
    }
}

/// Applies a box's value when it is left, on Enter, or when ticked.
fn changed(state: State, element: &HtmlInputElement) {
    let data = |name: &str| element.get_attribute(name).unwrap_or_default();
    let Some(field) = Field::from_id(&data("data-wish")) else { return };
    let (of, text) = (data("data-of"), element.value());
    let own = state.form.with_untracked(|form| own(field, form.scenario()));
    state.wish(field.id(), |find| match (element.type_().as_str(), of.as_str()) {
        ("checkbox", value) => {
            if find.get(field).is_none() {
                find.set(field, &own);
            }
            find.toggle(field, value);
            if find.get(field) == Some(&own) {
                find.set(field, "");
            }
            // The form's value remains if no other is left.
            element.set_checked(holds(find, field, &own, value));
        }
        (_, "") => find.set(field, &text),
        (_, gpu) => find.set_number(field, gpu, &text),
    });
}

fn holds(find: &Find, field: Field, own: &str, value: &str) -> bool {
    find.get(field).unwrap_or(own).split(',').any(|known| known == value)
}

/// The value used if nothing is listed; empty if any may be.
fn own(field: Field, scenario: &Scenario) -> String {
    let format = match field {
        Field::Weights => scenario.weights.or_else(|| Some(scenario.model.record()?.weights)),
        Field::Kv => Some(scenario.kv),
        _ => None,
    };
    format.map_or_else(String::new, |format| format.id().into())
}

/// The selectable values, by id and name.
fn values(field: Field, scenario: &Scenario) -> Vec<(String, String)> {
    let formats = |formats: &[Dtype]| {
        formats.iter().map(|dtype| (dtype.id().to_owned(), dtype.name().to_owned())).collect()
    };
    match field {
        Field::Engine => {
            let engines = offered().iter();
            engines.map(|engine| (engine.id.clone(), engine.name.clone())).collect()
        }
        Field::Weights => formats(scenario.model.record().map_or(&[][..], weight_formats)),
        Field::Kv => formats(&KV_FORMATS),
        _ => all(field).unwrap_or_default().into_iter().map(|value| (value.clone(), value)).collect(),
    }
}

fn fold(id: &str, name: &str, inside: String) -> String {
    format!("<details class=own data-testid={id}><summary>{name}</summary>{inside}</details>")
}

fn row(field: Field, inside: &str) -> String {
    let label = field.input().label;
    format!(
        r#"<div class="choice allowed" role="group" aria-label="{label}"><span class="label">{label}</span>{inside}</div>"#
    )
}

/// For each GPU whether to try it, how many there are, and its price.
fn gpus(find: &Find) -> String {
    let one = |gpu: &crate::config::Gpu| {
        let tick = tick(Field::Gpu, find, "", &gpu.id, &gpu.name);
        let number = |field: Field, what: &str, empty: &str| {
            let label = format!("{}, {what}", gpu.name);
            typed(
                &format!("{}-{}", field.id(), gpu.id),
                field,
                &gpu.id,
                &label,
                &find.number(field, &gpu.id),
                empty,
            )
        };
        let price = gpu.dollars_per_hour.0.map_or("unknown".into(), decimal);
        let owned = number(Field::Owned, "GPUs available", "no limit");
        let price = number(Field::Prices, "$ per GPU-hour", &price);
        format!("<div class=priced><span class=segments>{tick}</span>{owned}{price}</div>")
    };
    // Each box has them in its own label.
    let head = "<div class=\"priced head\" aria-hidden=true><span>GPU</span><span>Number owned</span><span>$ per hour</span></div>";
    head.to_owned() + &options::ordered_gpus().map(one).collect::<String>()
}

/// Checkboxes of the allowed values. If none is ticked, all are allowed.
fn allowed(field: Field, find: &Find, scenario: &Scenario) -> String {
    let own = own(field, scenario);
    let values = values(field, scenario);
    let ticks: String = values.iter().map(|(value, text)| tick(field, find, &own, value, text)).collect();
    row(field, &format!("<span class=segments>{ticks}</span>"))
}

fn tick(field: Field, find: &Find, own: &str, value: &str, text: &str) -> String {
    let (name, on) = (field.id(), if holds(find, field, own, value) { "checked" } else { "" });
    let id = format!("vary-{name}-{value}");
    format!(
        r#"<input type="checkbox" id="{id}" data-testid="{id}" data-wish="{name}" data-of="{value}" {on}><label for="{id}">{text}</label>"#
    )
}

/// A number, or several to try, separated by commas.
fn wish(field: Field, find: &Find) -> String {
    let text = find.get(field).unwrap_or_default();
    let empty = match field {
        Field::PrefillGpu => "as those that decode",
        Field::Day => "24 rates, with commas",
        _ if SETTINGS.contains(&field) => "as below",
        _ => "no limit",
    };
    row(field, &typed(&format!("vary-{}", field.id()), field, "", field.input().label, text, empty))
}

fn typed(id: &str, field: Field, of: &str, label: &str, text: &str, empty: &str) -> String {
    // The only text that may come from someone else: a link holds it.
    let text = text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let (name, issues) = (field.id(), list_id(field));
    format!(
        r#"<span class="entry"><input type="text" autocomplete="off" spellcheck="false" id="{id}" data-testid="{id}" data-wish="{name}" data-of="{of}" aria-label="{label}" aria-describedby="{issues}" placeholder="{empty}" value="{text}"></span>"#
    )
}
