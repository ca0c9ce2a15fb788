//! Fields of a search for plans that are no part of the scenario; its issues refer to them.

use super::columns::BLANK;
use crate::config::Field;
use crate::config::inputs::Input;

pub const VARY: Input = named(Field::Vary, "May vary");
pub const OWNED: Input = named(Field::Owned, "GPUs owned");
pub const BUDGET_GPUS: Input = named(Field::BudgetGpus, "Most GPUs");
pub const BUDGET_DOLLARS: Input = named(Field::BudgetDollars, "Most $ per hour");
pub const PRICES: Input = named(Field::Prices, "Prices");
pub const PLANS: Input = named(Field::Plans, "Plans");

const fn named(field: Field, label: &'static str) -> Input {
    Input { field, label, ..BLANK }
}
