//! Values as charts print them.

use super::Unit;
use crate::units::{Seconds, decimal, percent};

/// A value beside an axis or a bar.
pub fn mark(value: f64, unit: Unit) -> String {
    let plain = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    match unit {
        Unit::Count if value >= 1e6 => decimal(value / 1e6) + "M",
        Unit::Count if value >= 1000.0 => decimal(value / 1000.0) + "k",
        Unit::Count => decimal((value * 1e6).round() / 1e6),
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
