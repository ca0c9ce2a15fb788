//! What rows share: columns that are left out, and numbers that a field of the scenario holds.

use crate::config::Field;
use crate::config::inputs::{Input, Number, Stops};

pub const BLANK: Input = Input {
    field: Field::Link,
    key: "",
    label: "",
    help: "",
    place: None,
    applies: |_| true,
    number: None,
    text: None,
    later: false,
    aside: false,
};

pub const DEGREES: Stops = Stops::Doubling { low: 1, high: 16 };
pub const SIZES: Stops = Stops::Quarters { low: 1, high: 4096 };
pub const SHARES: Stops = Stops::Even { low: 0.0, high: 1.0, step: 0.05 };
// Upper bounds of all rows lie beyond any deployment and keep every count of work exact in 64 bits.
pub const COUNT: Number = Number::whole(1.0, 100_000.0, SIZES);

/// The number in a field of the scenario.
macro_rules! number {
    ($at:ident$(.$of:ident)*, $number:expr $(, $column:ident: $value:expr)* $(,)?) => {
        Some(Number {
            $($column: $value,)*
            read: |scenario| scenario.$at$(.$of)*.get(),
            write: |scenario, value| scenario.$at$(.$of)*.put(value),
            ..$number
        })
    };
}

/// The size of a kind of load, which writing it chooses.
macro_rules! load {
    ($kind:ident, $number:expr, unit: $unit:literal) => {
        Some(Number {
            unit: $unit,
            read: |scenario| match scenario.workload.load {
                Load::$kind(size) => size.get(),
                _ => None,
            },
            write: |scenario, value| {
                let mut size = Default::default();
                Slot::put(&mut size, value);
                scenario.workload.load = Load::$kind(size);
            },
            ..$number
        })
    };
}

/// The seconds of a way to begin, which writing them chooses.
macro_rules! start {
    ($kind:ident, $high:literal, unit: $unit:literal) => {
        Some(Number {
            unit: $unit,
            catalog: Some(|_, _| None),
            read: |scenario| match scenario.workload.start {
                Start::$kind(seconds) => Some(seconds),
                _ => None,
            },
            write: |scenario, value| match (value, scenario.workload.start) {
                (Some(seconds), _) => scenario.workload.start = Start::$kind(seconds),
                (None, Start::$kind(_)) => scenario.workload.start = Start::AtOnce,
                _ => {}
            },
            ..Number::real(0.0, $high, Stops::Decades { low: -1, high: 2 })
        })
    };
}

/// An id or a format in a link.
macro_rules! text {
    ($kind:ident, $get:expr, $set:expr) => {
        Some(Text { kind: Kind::$kind, get: $get, set: $set })
    };
}
