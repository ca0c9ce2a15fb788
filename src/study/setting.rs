//! The value of an input, as a table of settings shows it.

use crate::config::inputs::{Input, InputKind, in_links};
use crate::config::link::Link;
use crate::config::names::named;
use crate::config::{Field, Lengths, ModelChoice};

/// `FP8`, `5 s`; `None` if nothing is set.
pub fn shown(input: &Input, link: &Link) -> Option<String> {
    let scenario = &link.scenario;
    match (&scenario.model, input.field) {
        (ModelChoice::Custom(model), Field::Model) => return Some(model.name.clone()),
        // A model without a chosen format has that of its checkpoint.
        (_, Field::Weights) => return Some(scenario.weights_format()?.name().into()),
        _ => {}
    }
    let is_list = input.field == Field::Isl && matches!(scenario.workload.isl, Lengths::Each(_));
    match input.number.filter(|_| !is_list) {
        Some(number) => (number.read)(scenario).map(|value| number.said(value)),
        None => input.get(link).map(|id| named(input.field, &id).into()),
    }
}

/// The configuration of a link, setting by setting: those that it uses, and of the newer ones those that are not at their default.
pub fn all(link: &Link) -> impl Iterator<Item = (&'static str, String)> {
    let usual = Link::new(crate::config::Scenario::default());
    let is_stated = |input: &&Input| {
        let about_run = matches!(input.field, Field::Version) || input.kind() == InputKind::Measured;
        input.in_json() && !about_run && (input.applies)(&link.scenario)
    };
    in_links().filter(is_stated).filter_map(move |input| {
        let value = shown(input, link)?;
        (!input.later || shown(input, &usual).as_ref() != Some(&value)).then_some((input.label, value))
    })
}
