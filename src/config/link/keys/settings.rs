//! Settings of the engine and the hardware.

use super::super::values;
use super::{Key, Kind, told};
use crate::config::Field;
use crate::units::decimal;

pub static KEYS: [Key; 5] = [
    Key {
        field: Field::TokenBudget,
        key: "tb",
        kind: Kind::Whole,
        meaning: told("Tokens one step of the engine may process."),
        read: |draft, text| {
            values::whole(text).map(|budget| draft.scenario().overrides.token_budget = Some(budget))
        },
        show: |link| link.scenario.overrides.token_budget.map(|budget| budget.to_string()),
    },
    Key {
        field: Field::MaxSeqs,
        key: "ms",
        kind: Kind::Whole,
        meaning: told("Sequences the engine runs at once."),
        read: |draft, text| values::whole(text).map(|most| draft.scenario().overrides.max_seqs = Some(most)),
        show: |link| link.scenario.overrides.max_seqs.map(|most| most.to_string()),
    },
    Key {
        field: Field::MemoryShare,
        key: "mem",
        kind: Kind::Real,
        meaning: told("Share of the GPU memory the engine takes."),
        read: |draft, text| {
            values::real(text).map(|share| draft.scenario().overrides.memory_share = Some(share))
        },
        show: |link| link.scenario.overrides.memory_share.map(decimal),
    },
    Key {
        field: Field::Sustained,
        key: "clk",
        kind: Kind::Real,
        meaning: told("Share of the boost clock held under load."),
        read: |draft, text| {
            values::real(text).map(|share| draft.scenario().overrides.sustained = Some(share))
        },
        show: |link| link.scenario.overrides.sustained.map(decimal),
    },
    Key {
        field: Field::Price,
        key: "usd",
        kind: Kind::Real,
        meaning: told("Dollars per GPU and hour."),
        read: |draft, text| values::real(text).map(|price| draft.scenario().overrides.price = Some(price)),
        show: |link| link.scenario.overrides.price.map(decimal),
    },
];
