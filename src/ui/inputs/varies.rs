//! What a search may choose: GPUs and their number, budgets, engines, formats, degrees and settings.
//!
//! Dozens of boxes, rendered as one HTML text that reflects the search when created, with one listener for all.

use gloo::utils::document;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlInputElement};

use super::issues::{issue_list, list_id};
use super::options;
use crate::config::catalog::offered;
use crate::config::check::{KV_FORMATS, weight_formats};
use crate::config::link::SearchSpace;
use crate::config::{Dtype, Field, Gpu, Issue, Scenario};
use crate::find::all;
use crate::ui::parts::renewed;
use crate::ui::state::State;
use crate::units::{decimal, escaped};

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
    let disaggregated = tick(Field::PrefillWorkers, &find, "", "all", "Try disaggregated prefill and decode");
    let pools = row(Field::PrefillWorkers, &format!("<span class=segments>{disaggregated}</span>"));
    let most = tick(Field::Most, &find, "", "yes", "Find the largest load");
    let capacity =
        row(Field::Most, &format!("<span class=segments>{most}</span>")) + &wish(Field::Day, &find);
    let parts: [(String, &'static [Field]); 9] = [
        (capacity, &[Field::Most, Field::Day]),
        (fold("vary-gpus", "GPUs", gpus(&find)), &[Field::Gpu, Field::Owned, Field::Prices]),
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
            fold("vary-degrees", "Parallelism", degrees.map(of).collect())
                + &fold(
                    "vary-settings",
                    "Engine settings to try",
                    SETTINGS.map(|field| wish(field, &find)).concat(),
                ),
            &[Field::Tp, Field::Pp, Field::Dp, Field::Ep, Field::Vary],
        ),
    ];
    let part = |(html, fields): (String, &'static [Field])| {
        let found = move || {
            let all = fields.iter().flat_map(|field| state.issues_of(*field));
            // Those of one GPU are next to it.
            all.filter(|issue| issue.of.is_none()).collect()
        };
        let issues = issue_list(fields.first().map(|field| list_id(*field)).unwrap_or_default(), found);
        view! { <div inner_html=html></div>{issues} }.into_any()
    };
    let changed: Box<dyn Fn(Event)> = Box::new(move |event| changed(state, &event_target(&event)));
    let root = NodeRef::<Div>::new();
    Effect::new(move |_| {
        let issues = state.issues();
        root.get().iter().for_each(|root| mark(root, &issues));
    });
    // What is set, beside the names of the folds.
    Effect::new(move |_| {
        let find = state.form.with(|form| form.find().cloned().unwrap_or_default());
        let Some(root) = root.get() else { return };
        for (id, set) in [("vary-gpus", gpus_set(&find)), ("vary-degrees", degrees_set(&find))] {
            let place = root.query_selector(&format!("[data-testid={id}] .set")).ok().flatten();
            place.iter().for_each(|place| place.set_text_content(Some(&set)));
        }
    });
    view! { <div node_ref=root on:change=changed>{Vec::from(parts.map(part))}</div> }.into_any()
}

/// Marks the boxes that `issues` are about, and lists those of a GPU below its own.
fn mark(root: &Element, issues: &[Issue]) {
    let Ok(boxes) = root.query_selector_all("input[type=text][data-wish]") else { return };
    let boxes = (0..boxes.length()).filter_map(|index| boxes.item(index)?.dyn_into::<Element>().ok());
    for element in boxes {
        let data = |name: &str| element.get_attribute(name).filter(|text| !text.is_empty());
        let (field, gpu) = (data("data-wish").and_then(|id| Field::from_id(&id)), data("data-of"));
        let is_about = |issue: &Issue| Some(issue.field) == field && (gpu.is_none() || issue.of == gpu);
        let about = |issue: &&Issue| issue.is_error() && is_about(issue);
        let own: Vec<&Issue> = issues.iter().filter(about).collect();
        let was_invalid = element.get_attribute("aria-invalid").is_some_and(|invalid| invalid == "true");
        let _ = element.set_attribute("aria-invalid", if own.is_empty() { "false" } else { "true" });
        let list = gpu.as_ref().and_then(|_| document().get_element_by_id(&issues_id(&element.id())));
        let Some(list) = list.filter(|_| was_invalid || !own.is_empty()) else { continue };
        list.set_inner_html(&own.iter().map(|issue| listed(issue)).collect::<String>());
        if let (false, Ok(Some(fold))) = (was_invalid, element.closest("details")) {
            let _ = fold.set_attribute("open", "");
        }
    }
}

/// An issue as in the other lists of issues.
fn listed(issue: &Issue) -> String {
    let text = escaped(&issue.sentence().replace('`', ""));
    let field = issue.field.id();
    format!(
        r#"<li class="issue" data-testid="issue" data-field="{field}" data-severity="error"><span class="mark" aria-hidden="true">✕</span><span><span class="unseen">Error: </span>{text}</span></li>"#
    )
}

/// The list of the issues of one GPU's box.
fn issues_id(input: &str) -> String {
    format!("{input}-issues")
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

fn holds(find: &SearchSpace, field: Field, own: &str, value: &str) -> bool {
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
    format!(
        "<details class=own data-testid={id}><summary>{name}<span class=set></span></summary>{inside}</details>"
    )
}

/// `H100 SXM (8 owned), B200`: the GPUs to try.
fn gpus_set(find: &SearchSpace) -> String {
    let ticked = find.list(Field::Gpu);
    let one = |gpu: &Gpu| {
        let owned = find.number(Field::Owned, &gpu.id);
        match (ticked.contains(&&*gpu.id), owned.is_empty()) {
            (false, true) => None,
            (true, true) => Some(gpu.name.clone()),
            (_, false) => Some(format!("{} ({owned} owned)", gpu.name)),
        }
    };
    let all = if ticked.is_empty() { Some("all".to_owned()) } else { None };
    all.into_iter().chain(options::ordered_gpus().filter_map(one)).collect::<Vec<_>>().join(", ")
}

/// `TP 4, 8; PP 1`: the degrees to try.
fn degrees_set(find: &SearchSpace) -> String {
    let one = |field: &Field| {
        let degrees = find.list(*field);
        let name = field.input().key.to_ascii_uppercase();
        (!degrees.is_empty()).then(|| format!("{name} {}", degrees.join(", ")))
    };
    let set: Vec<String> = DEGREES.iter().filter_map(one).collect();
    if set.is_empty() { "any".into() } else { set.join("; ") }
}

fn row(field: Field, inside: &str) -> String {
    let label = field.input().label;
    format!(
        r#"<div class="choice allowed" role="group" aria-label="{label}"><span class="label">{label}</span>{inside}</div>"#
    )
}

/// The inputs of each GPU: whether to try it, how many there are, and its price.
fn gpus(find: &SearchSpace) -> String {
    let one = |gpu: &Gpu| {
        let tick = tick(Field::Gpu, find, "", &gpu.id, &gpu.name);
        let number = |field: Field, what: &str, empty: &str| {
            let (id, label) = (format!("{}-{}", field.id(), gpu.id), format!("{}, {what}", gpu.name));
            let issues = issues_id(&id);
            let list = format!(r#"<ul class="issues" id="{issues}" aria-live="polite"></ul>"#);
            (typed([&id, &issues], field, &gpu.id, &label, &find.number(field, &gpu.id), empty), list)
        };
        let price = gpu.dollars_per_hour.0.map_or("unknown".into(), decimal);
        let (owned, of_owned) = number(Field::Owned, "GPUs owned", "no limit");
        let (price, of_price) = number(Field::Prices, "$ per GPU-hour", &price);
        format!(
            "<div class=priced><span class=segments>{tick}</span>{owned}{price}</div>{of_owned}{of_price}"
        )
    };
    // Each box has them in its own label.
    let head = "<div class=\"priced head\" aria-hidden=true><span>GPU</span><span>GPUs owned</span><span>$ per hour</span></div>";
    head.to_owned() + &options::ordered_gpus().map(one).collect::<String>()
}

/// Checkboxes of the allowed values. If none is ticked, all are allowed.
fn allowed(field: Field, find: &SearchSpace, scenario: &Scenario) -> String {
    let own = own(field, scenario);
    let values = values(field, scenario);
    let ticks: String = values.iter().map(|(value, text)| tick(field, find, &own, value, text)).collect();
    row(field, &format!("<span class=segments>{ticks}</span>"))
}

fn tick(field: Field, find: &SearchSpace, own: &str, value: &str, text: &str) -> String {
    let (name, on) = (field.id(), if holds(find, field, own, value) { "checked" } else { "" });
    let id = format!("vary-{name}-{value}");
    format!(
        r#"<input type="checkbox" id="{id}" data-testid="{id}" data-wish="{name}" data-of="{value}" {on}><label for="{id}">{text}</label>"#
    )
}

/// A number, or several to try, separated by commas.
fn wish(field: Field, find: &SearchSpace) -> String {
    let text = find.get(field).unwrap_or_default();
    let empty = match field {
        Field::PrefillGpu => "same as decode GPU",
        Field::Day => "24 comma-separated rates",
        _ if SETTINGS.contains(&field) => "as configured",
        _ => "no limit",
    };
    let (id, issues) = (format!("vary-{}", field.id()), list_id(field));
    row(field, &typed([&id, &issues], field, "", field.input().label, text, empty))
}

/// A box with the ids of itself and of its issues.
fn typed([id, issues]: [&str; 2], field: Field, of: &str, label: &str, text: &str, empty: &str) -> String {
    let (name, text) = (field.id(), escaped(text));
    format!(
        r#"<span class="entry"><input type="text" autocomplete="off" spellcheck="false" id="{id}" data-testid="{id}" data-wish="{name}" data-of="{of}" aria-label="{label}" aria-describedby="{issues}" placeholder="{empty}" value="{text}"></span>"#
    )
}
