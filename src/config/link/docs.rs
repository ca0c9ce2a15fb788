//! What is generated from the table of inputs: rows of `docs/links.md`, and the keys that scripts on other pages use.

use super::{Link, split};
use crate::config::inputs::{self, Input, InputKind};
use crate::config::{Field, Load, Scenario};
use crate::units::decimal;

/// `static/boot/keys.js`.
pub fn keys_script() -> String {
    let is_key = |input: &&Input| {
        !matches!(input.kind(), InputKind::Packed | InputKind::Wishes) && input.field != Field::Version
    };
    let keys: String = inputs::in_links()
        .filter(is_key)
        .map(|input| format!("  {}: \"{}\",\n", input.field.id(), input.key))
        .collect();
    let sizes = Load::sizes().map(|field| format!("\"{}\"", field.id())).join(", ");
    format!(
        "// Written from src/config/inputs/table.rs: `ROOFLIGHT_WRITE=1 cargo test --test links` renews it.

/** The page's inputs by name, with their keys in a link (docs/links.md). */
export const KEYS = {{
{keys}}};

/** The key of a custom model, instead of KEYS.model. */
export const CUSTOM_MODEL = \"{}\";

/** The sizes of the kinds of load: a configuration has one of them. */
export const LOADS = [{sizes}];

/** Bytes of the longest link that is read. */
export const LONGEST_LINK = {};
",
        split::CUSTOM_MODEL,
        split::MAX_BYTES
    )
}

/// The rows of the table in `docs/links.md`.
pub fn fields() -> String {
    let default = Link::new(Scenario::default());
    let row = |input: &Input| {
        let default = input.get(&default).map(|value| format!("`{value}`")).unwrap_or_default();
        let (key, field, help) = (input.key, input.field.id(), input.help);
        let only =
            if matches!(input.kind(), InputKind::Links | InputKind::Wishes) { ", in links only" } else { "" };
        format!("| `{key}` | `{field}`{only} | {} | {default} | {help} |\n", value(input))
    };
    inputs::in_links().map(row).collect()
}

/// The grammar production of a value, and its bounds.
fn value(input: &Input) -> String {
    let production = match input.kind() {
        InputKind::Id => "id",
        InputKind::Whole => "whole",
        InputKind::Real => "real",
        InputKind::Format => "format",
        InputKind::Lengths => "lengths",
        InputKind::Histogram => "bins",
        InputKind::Measured => "measured",
        InputKind::Packed => "packed",
        InputKind::Links => "links",
        InputKind::Wishes => "wishes",
    };
    match &input.number {
        // Links hold all GPUs; the number is that of replicas.
        Some(number) if input.field != Field::Gpus => {
            let power = if number.power_of_two { ", a power of two" } else { "" };
            format!("{production}{power}, {} to {}", decimal(number.range.min), decimal(number.range.max))
        }
        _ => production.into(),
    }
}
