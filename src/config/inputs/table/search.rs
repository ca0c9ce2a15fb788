//! Fields of a search for plans that are no part of the scenario; its issues refer to them.

use super::columns::BLANK;
use crate::config::Field;
use crate::config::inputs::{Input, Kind, Text};
use crate::config::link::Find;

pub const VARY: Input = Input {
    field: Field::Vary,
    key: "f",
    label: "Find",
    aside: true,
    help: "Opens the page with the plans that serve this load, and says what they may be: `all`, or names and values as in a \
           request for plans (plan.md). The page then chooses GPUs, engine, formats and layout.",
    text: text!(Wishes, |link| link.find.as_ref().map(Find::encode), |draft, text| Find::decode(text)
        .map(|find| draft.link.find = Some(find))),
    ..BLANK
};
pub const OWNED: Input = named(Field::Owned, "GPUs owned");
pub const BUDGET_GPUS: Input = named(Field::BudgetGpus, "Most GPUs");
pub const BUDGET_DOLLARS: Input = named(Field::BudgetDollars, "Most $ per hour");
pub const PRICES: Input = named(Field::Prices, "Prices");
pub const PLANS: Input = named(Field::Plans, "Plans");

const fn named(field: Field, label: &'static str) -> Input {
    Input { field, label, ..BLANK }
}
