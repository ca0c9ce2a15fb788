//! How a row is written: its columns, and values that a field of the scenario holds.

use super::number::{OfCatalog, Range};
use super::place::{FormGroup, FormPlace};
use super::{Input, LinkText, Number, Stops};
use crate::config::{Field, Scenario};

/// An input that links hold: its key, its label and what it means.
pub const fn row(key: &'static str, label: &'static str, help: &'static str) -> Input {
    Input { key, help, ..named(label) }
}

/// What issues refer to, and no more.
pub const fn named(label: &'static str) -> Input {
    Input {
        field: Field::Link,
        key: "",
        label,
        help: "",
        place: None,
        applies: |_| true,
        number: None,
        text: None,
        later: false,
        aside: false,
    }
}

impl Input {
    pub const fn of(self, field: Field) -> Self {
        Self { field, ..self }
    }

    pub const fn at(self, group: FormGroup, order: u8) -> Self {
        Self { place: Some(FormPlace(group, order)), ..self }
    }

    pub const fn when(self, applies: fn(&Scenario) -> bool) -> Self {
        Self { applies, ..self }
    }

    pub const fn number(self, number: Number) -> Self {
        Self { number: Some(number), ..self }
    }

    pub const fn text(self, text: LinkText) -> Self {
        Self { text: Some(text), ..self }
    }

    pub const fn later(self) -> Self {
        Self { later: true, ..self }
    }

    pub const fn aside(self) -> Self {
        Self { aside: true, ..self }
    }
}

/// A number with these bounds, and these stops of its slider.
pub const fn real(min: f64, max: f64, stops: Stops) -> Number {
    Number {
        unit: "",
        range: Range::new(min, max),
        whole: false,
        power_of_two: false,
        config_key: "",
        stops,
        catalog: None,
        read: |_| None,
        write: |_, _| (),
    }
}

pub const fn whole(min: f64, max: f64, stops: Stops) -> Number {
    Number { whole: true, ..real(min, max, stops) }
}

impl Number {
    pub const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    pub const fn power_of_two(self) -> Self {
        Self { power_of_two: true, ..self }
    }

    /// The catalog's figure where the scenario sets none.
    pub const fn or(self, figure: OfCatalog) -> Self {
        Self { catalog: Some(figure), ..self }
    }

    /// The scenario need not set it, and the catalog has no figure.
    pub const fn optional(self) -> Self {
        self.or(|_, _, _| None)
    }
}

/// `Field = ROW`: a variant of [`Field`] and its row. The row after `also` is a second one of its field.
macro_rules! inputs {
    ($($(#[$attribute:meta])* $field:ident = $row:expr,)+ ; also $other:expr) => {
        /// An input of the page, a key of a link, a field of the JSON form: one name for all three.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, EnumString,
            IntoStaticStr, VariantArray,
        )]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        pub enum Field {
            $($(#[$attribute])* $field,)+
        }

        pub static INPUTS: &[Input] = &[$($row.of(Field::$field),)+ $other];
    };
}

/// The number in a field of the scenario.
macro_rules! held {
    ($at:ident$(.$of:ident)*, $number:expr) => {
        Number {
            read: |scenario| scenario.$at$(.$of)*.get(),
            write: |scenario, value| scenario.$at$(.$of)*.put(value),
            ..$number
        }
    };
}

/// The row of a kind of load: writing its size chooses it.
macro_rules! load {
    ($kind:ident, $order:literal, $number:expr, $row:expr) => {
        $row.at(Workload, $order).when(|scenario| matches!(scenario.workload.load, Load::$kind(_))).number(
            Number {
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
            },
        )
    };
}

/// The row of a way to begin: writing its seconds chooses it.
macro_rules! start {
    ($kind:ident, $order:literal, $high:literal, $row:expr) => {
        $row.at(Requests, $order)
            .later()
            .when(|scenario| matches!(scenario.workload.load, Load::Concurrency(_) | Load::Sessions(_)))
            .number(Number {
                read: |scenario| match scenario.workload.start {
                    Start::$kind(seconds) => Some(seconds),
                    _ => None,
                },
                write: |scenario, value| match (value, scenario.workload.start) {
                    (Some(seconds), _) => scenario.workload.start = Start::$kind(seconds),
                    (None, Start::$kind(_)) => scenario.workload.start = Start::AtOnce,
                    _ => {}
                },
                ..real(0.0, $high, Decades { low: -1, high: 2 }).unit("s").optional()
            })
    };
}

/// The row of a peak rate of the GPU.
macro_rules! peak {
    ($order:literal, $key:literal, $format:literal, $dtype:ident, $at:ident, $unit:literal) => {
        row(
            $key,
            concat!($format, " peak"),
            concat!(
                "Dense ",
                $format,
                " peak of the tensor cores, in ",
                $unit,
                "; follows SMs and clock if empty."
            ),
        )
        .at(Hardware, $order)
        .later()
        .when(|scenario| multiplies(scenario, Dtype::$dtype))
        .number(held!(spec.$at, PEAK.unit($unit).or(|_, gpu, _| tflops(gpu, Dtype::$dtype))))
    };
}

/// The row of a size of the model, which links hold with the model.
macro_rules! size {
    ($order:literal, $size:ident, $number:expr, $label:literal, $help:literal) => {
        Input { help: $help, ..named($label) }
            .at(Architecture, $order)
            .when(|scenario| scenario.size(Size::$size).is_some())
            .number(Number {
                read: |scenario| scenario.size(Size::$size),
                write: |scenario, value| {
                    if let Some(value) = value {
                        scenario.resize(Size::$size, value);
                    }
                },
                ..$number
            })
    };
}

/// The text in a field of a link: how it is read and written. `Some(field)` is optional; `field or none` is left out if
/// its text would be empty.
macro_rules! text {
    ($kind:ident, $read:expr, Some($at:ident$(.$of:ident)*), $write:expr) => {
        LinkText {
            kind: InputKind::$kind,
            get: |link| link.$at$(.$of)*.as_ref().map($write),
            set: |draft, text| $read(text).map(|value| draft.link.$at$(.$of)* = Some(value)),
        }
    };
    ($kind:ident, $read:expr, $at:ident$(.$of:ident)* or none, $write:expr) => {
        LinkText {
            get: |link| Some($write(&link.$at$(.$of)*)).filter(|text| !text.is_empty()),
            ..text!($kind, $read, $at$(.$of)*, $write)
        }
    };
    ($kind:ident, $read:expr, $at:ident$(.$of:ident)*, $write:expr) => {
        LinkText {
            kind: InputKind::$kind,
            get: |link| Some($write(&link.$at$(.$of)*)),
            set: |draft, text| $read(text).map(|value| draft.link.$at$(.$of)* = value),
        }
    };
}
