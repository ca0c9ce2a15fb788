//! The kinds of load, each with its size.

use super::columns::{BLANK, COUNT};
use crate::config::inputs::number::Slot;
use crate::config::inputs::place::Group::Workload;
use crate::config::inputs::{Input, Number, Place, Stops};
use crate::config::{Field, Load};

const PER_SECOND: Number = Number::real(0.001, 1_000_000.0, Stops::Decades { low: -2, high: 3 });

/// The kind of load.
pub const LOAD: Input = Input {
    field: Field::Load,
    label: "Load",
    place: Some(Place(Workload, 0)),
    help: "How requests arrive: from clients that wait for each answer, at a rate, all at once to a server, in a queue of \
           the engine's own, as one static batch, or in sessions of several turns.",
    ..BLANK
};

pub const CONCURRENCY: Input = Input {
    field: Field::Concurrency,
    key: "c",
    label: "Clients",
    place: Some(Place(Workload, 1)),
    applies: |scenario| matches!(scenario.workload.load, Load::Concurrency(_)),
    help: "Clients that each send their next request when the last one ends.",
    number: load!(Concurrency, COUNT, unit: "at once"),
    ..BLANK
};

pub const RATE: Input = Input {
    field: Field::Rate,
    key: "r",
    label: "Rate",
    place: Some(Place(Workload, 2)),
    applies: |scenario| matches!(scenario.workload.load, Load::Rate(_)),
    help: "Requests per second, arriving independently (Poisson) no matter how many wait.",
    number: load!(Rate, PER_SECOND, unit: "requests/s"),
    ..BLANK
};

pub const CONSTANT_RATE: Input = Input {
    field: Field::ConstantRate,
    key: "rc",
    label: "Constant rate",
    place: Some(Place(Workload, 3)),
    applies: |scenario| matches!(scenario.workload.load, Load::ConstantRate(_)),
    help: "Requests per second with equal gaps, no matter how many wait.",
    number: load!(ConstantRate, PER_SECOND, unit: "requests/s"),
    ..BLANK
};

pub const BURST: Input = Input {
    field: Field::Burst,
    key: "bn",
    label: "Burst",
    place: Some(Place(Workload, 4)),
    applies: |scenario| matches!(scenario.workload.load, Load::Burst(_)),
    help: "Prompts sent to a server at once, and no others (`vllm bench serve` without a rate).",
    number: load!(Burst, COUNT, unit: "prompts"),
    ..BLANK
};

pub const OFFLINE: Input = Input {
    field: Field::Offline,
    key: "on",
    label: "Offline queue",
    place: Some(Place(Workload, 5)),
    applies: |scenario| matches!(scenario.workload.load, Load::Offline(_)),
    help: "Prompts queued in the engine, without a server, for the most throughput (`vllm bench throughput`).",
    number: load!(Offline, COUNT, unit: "prompts"),
    ..BLANK
};

pub const BATCH: Input = Input {
    field: Field::Batch,
    key: "b",
    label: "Prompts",
    place: Some(Place(Workload, 6)),
    applies: |scenario| matches!(scenario.workload.load, Load::Batch(_)),
    help: "Prompts of one static batch: prefilled together, decoded together to the end.",
    number: load!(Batch, COUNT, unit: "at once"),
    ..BLANK
};

pub const SESSIONS: Input = Input {
    field: Field::Sessions,
    key: "sn",
    label: "Sessions",
    place: Some(Place(Workload, 7)),
    applies: |scenario| matches!(scenario.workload.load, Load::Sessions(_)),
    help: "Users at once, each of whom begins a new session when the last one ends.",
    number: load!(Sessions, COUNT, unit: "at once"),
    ..BLANK
};

pub const SESSION_RATE: Input = Input {
    field: Field::SessionRate,
    key: "sr",
    label: "Session rate",
    place: Some(Place(Workload, 8)),
    applies: |scenario| matches!(scenario.workload.load, Load::SessionRate(_)),
    help: "Sessions per second, beginning independently (Poisson) no matter how many are under way.",
    number: load!(SessionRate, PER_SECOND, unit: "sessions/s"),
    ..BLANK
};
