//! Values as charts print them.

use super::Unit;
use crate::units::{Seconds, count, decimal, percent, significant};

/// Of a count: as many as its axis may need to tell marks apart.
const DIGITS: i32 = 4;

/// A value beside an axis: no digits that say nothing.
pub fn mark(value: f64, unit: Unit) -> String {
    let plain = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    match unit {
        Unit::Count if value >= 1e6 => decimal(significant(value / 1e6, DIGITS)) + "M",
        Unit::Count if value >= 1000.0 => decimal(significant(value / 1000.0, DIGITS)) + "k",
        Unit::Count => decimal(significant(value, DIGITS)),
        Unit::Seconds if value == 0.0 => "0".into(),
        Unit::Seconds => {
            let printed = Seconds(value).print();
            format!("{} {}", plain(&printed.number), printed.unit)
        }
        Unit::Share => {
            let printed = percent(value);
            format!("{} {}", plain(&printed.number), printed.unit)
        }
    }
}

/// One that was worked out, beside a bar or read out: in as many digits as tables print.
pub fn value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Count => count(value),
        Unit::Seconds => Seconds(value).print().to_string(),
        Unit::Share => percent(value).to_string(),
    }
}
