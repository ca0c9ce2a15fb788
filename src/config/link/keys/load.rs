//! How requests come, and what they are to keep to.

use super::super::values;
use super::{Key, Kind, told, unless};
use crate::config::{Field, Load};
use crate::units::decimal;

pub static KEYS: [Key; 6] = [
    Key {
        field: Field::Concurrency,
        key: "c",
        kind: Kind::Whole,
        meaning: told("Clients, each sending its next request when the last one ends."),
        read: |draft, text| values::whole(text).map(|size| draft.workload().load = Load::Concurrency(size)),
        show: |link| match link.scenario.workload.load {
            Load::Concurrency(size) => Some(size.to_string()),
            Load::Rate(_) | Load::Batch(_) => None,
        },
    },
    Key {
        field: Field::Rate,
        key: "r",
        kind: Kind::Real,
        meaning: told("Requests per second, independent of each other (Poisson), instead of `c`."),
        read: |draft, text| values::real(text).map(|rate| draft.workload().load = Load::Rate(rate)),
        show: |link| match link.scenario.workload.load {
            Load::Rate(rate) => Some(decimal(rate)),
            Load::Concurrency(_) | Load::Batch(_) => None,
        },
    },
    Key {
        field: Field::Burstiness,
        key: "bu",
        kind: Kind::Real,
        meaning: told(
            "Shape of the gamma distributed gaps of `r`; 1 (Poisson) where it is left out, less comes in bursts.",
        ),
        read: |draft, text| values::real(text).map(|shape| draft.workload().burstiness = shape),
        show: |link| unless(link.scenario.workload.burstiness, 1.0),
    },
    Key {
        field: Field::Batch,
        key: "b",
        kind: Kind::Whole,
        meaning: told("Prompts of one offline batch, instead of `c`."),
        read: |draft, text| values::whole(text).map(|size| draft.workload().load = Load::Batch(size)),
        show: |link| match link.scenario.workload.load {
            Load::Batch(size) => Some(size.to_string()),
            Load::Concurrency(_) | Load::Rate(_) => None,
        },
    },
    Key {
        field: Field::SloTtft,
        key: "st",
        kind: Kind::Real,
        meaning: told("TTFT that requests are to keep to, in milliseconds."),
        read: |draft, text| values::real(text).map(|limit| draft.workload().slos.ttft_ms = Some(limit)),
        show: |link| link.scenario.workload.slos.ttft_ms.map(decimal),
    },
    Key {
        field: Field::SloTpot,
        key: "sp",
        kind: Kind::Real,
        meaning: told("TPOT that requests are to keep to, in milliseconds."),
        read: |draft, text| values::real(text).map(|limit| draft.workload().slos.tpot_ms = Some(limit)),
        show: |link| link.scenario.workload.slos.tpot_ms.map(decimal),
    },
];
